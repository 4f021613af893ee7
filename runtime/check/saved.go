package check

// tried has the fields that reading a form changes and a trial restores.
type tried struct {
	decoded    int  // bytes that values take beyond the text
	most       int  // how many violations may be listed, so far
	counted    int  // violations of the form that is being counted
	lookaheads int  // how many lookaheads are open
	nullable   int  // one more than the offset of the last value that could have been null and is not
	quiet      bool // a form is on trial: the first violation ends it, unrecorded
	counting   bool // violations of a form are counted, unrecorded
	listing    bool // the best form is decoded once more, to list its violations
	overflow   bool // the form on trial fits, but has a value that its Go type can not hold
	partial    bool // the form on trial fits, but was not read in full: parts of it are known to fit
}

// saved is the state of the Decoder before a form is read.
type saved struct {
	tried
	frames, keys, many, wide, items int // the lengths of the stacks
}

func (d *Decoder) save(s *saved) {
	s.tried = d.tried
	s.frames, s.keys, s.many, s.wide, s.items = len(d.frames), len(d.keys.list), len(d.keys.many), len(d.wide), len(d.items)
}

// restore goes back to s, and reports whether the form failed, that is, did not fit. After such a failure it also clears the error and closes the frames
// that the form left open.
func (d *Decoder) restore(s *saved) (failed bool) {
	d.tried = s.tried
	if !d.misfits() {
		return false
	}
	d.err = nil
	if n := s.frames; n < len(d.frames) {
		d.frames[n].start = -1 // the object did not end, so excludesOthers must not use what the frame has seen of it
	}
	d.data = d.data[:len(d.full)]
	d.frames, d.keys.list = d.frames[:s.frames], d.keys.list[:s.keys]
	d.keys.truncate(s.many)
	d.wide, d.items = d.wide[:s.wide], d.items[:s.items]
	return true
}
