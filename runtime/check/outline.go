package check

// outline has the ends of the two longest objects and arrays among the members of a text, so that decoding the text after it was validated
// need not look for them again.
type outline struct {
	records bool // the text is being validated
	parts   [2]part
}

// part is where an object or array begins and ends; the zero part is none.
type part struct{ start, end int }

// recordPart records the object or array of f, which ends at end, if it is one of the longest members.
func (d *Decoder) recordPart(f *frame, end int) {
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

// endOf returns the end of the part that begins at start, 0 if none does.
func (o *outline) endOf(start int) int {
	for i := range o.parts {
		if o.parts[i].start == start {
			return o.parts[i].end
		}
	}
	return 0
}

// DecodeValid is Decode of a text that definition validates first. What decode skips of it, long members above all, is not validated again.
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
