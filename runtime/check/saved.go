package check

// saved is what a form may change and a trial takes back.
type saved struct {
	frames, keys, many, wide, items, decoded    int
	most, counted, lookaheads, nullable         int
	broken, same, listed                        int
	quiet, counting, listing, overflow, partial bool
}

func (d *Decoder) save() saved {
	return saved{
		decoded: d.decoded, frames: len(d.frames), keys: len(d.keys.list), many: len(d.keys.many), wide: len(d.wide), items: len(d.items),
		most: d.most, counted: d.counted, lookaheads: d.lookaheads, nullable: d.nullable, broken: d.broken, same: d.same, listed: len(d.violations),
		quiet: d.quiet, counting: d.counting, listing: d.listing, overflow: d.overflow, partial: d.partial,
	}
}

// restore goes back to s, and reports whether the form did not fit; what it left open is closed then.
func (d *Decoder) restore(s saved) bool {
	d.quiet, d.counting, d.listing, d.overflow, d.partial = s.quiet, s.counting, s.listing, s.overflow, s.partial
	d.decoded = s.decoded
	d.most, d.counted, d.lookaheads, d.nullable = s.most, s.counted, s.lookaheads, s.nullable
	if d.err != errForm {
		return false
	}
	d.err = nil
	d.data = d.full
	d.frames, d.keys.list = d.frames[:s.frames], d.keys.list[:s.keys]
	d.keys.truncate(s.many)
	d.wide, d.items = d.wide[:s.wide], d.items[:s.items]
	return true
}
