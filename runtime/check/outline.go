package check

// outline is where the longest members of a text end that are objects or arrays, so that who has validated the text need not look for
// their ends again.
type outline struct {
	records bool // the text is being validated
	parts   [2]part
}

// part is a value of a member of the outermost object; without an end there is none.
type part struct{ start, end int }

// outlined is called when f ends at end.
func (d *Decoder) outlined(f *frame, end int) {
	o, p := &d.outline, part{int(f.start), end}
	if len(d.frames) != 2 || end-p.start < extentBytes || p.start == o.parts[0].start {
		return
	}
	for i := range o.parts {
		if kept := o.parts[i]; end-p.start > kept.end-kept.start {
			o.parts[i], p = p, kept
		}
	}
}

// endOf is the end of the part that begins at start, 0 if none does.
func (o *outline) endOf(start int) int {
	for i := range o.parts {
		if o.parts[i].start == start {
			return o.parts[i].end
		}
	}
	return 0
}

// DecodeValid is Decode of a text that definition finds valid. What decode skips of it, long members above all, is not looked at again.
func DecodeValid[T any](data []byte, lim Limits, definition func(*Decoder), decode func(*Decoder, *T), v *T) error {
	d := Get(data, lim)
	d.Discard()
	d.outline.records = true
	definition(d)
	err := d.Finish()
	d.outline.records = false
	if err == nil {
		d.pos, d.scanned = 0, true
		d.decoded, d.evaluated, d.reread = 0, 0, 0 // each reading is bounded by itself
		d.memo.reset()
		d.discard, d.unread = false, false
		decode(d, v)
		err = d.FinishAfter(func(d *Decoder) { decode(d, new(T)) })
	}
	d.outline = outline{}
	d.Put()
	return err
}
