package check

// Position is where a part of the text begins, for Since.
type Position struct{ pos int }

// Position returns where the next value begins. It is small enough to be inlined.
func (d *Decoder) Position() Position {
	if d.pos >= len(d.data) || d.data[d.pos] <= ' ' {
		d.peekSpaced()
	}
	return Position{d.pos}
}

// here is Position as an offset.
func (d *Decoder) here() int { return d.Position().pos }

// Since returns the text that has been taken since p, as a part of the data given to Get or Reset; nil after a failure.
func (d *Decoder) Since(p Position) []byte {
	if d.err != nil {
		return nil
	}
	return d.full[p.pos:d.pos:d.pos]
}
