package check

// Tag looks at the discriminating property and returns the index of the branch, whose decoder then takes the whole
// value; -1 after a violation, the value skipped.
func (d *Decoder) Tag(u *Union) int {
	if d.peek() != '{' {
		d.wrong("type", "an object", u.At)
		return -1
	}
	start := d.pos
	found := d.find(u.Key)
	if !found || d.peek() != '"' {
		d.badTag(u, start, found)
		return -1
	}
	tagStart := d.pos
	t, ok := d.scanString()
	if !ok {
		return -1
	}
	tag := d.value(t)
	for i := range u.Tags {
		if u.Tags[i] == string(tag) {
			d.leave(start)
			return i
		}
	}
	d.pos = tagStart
	d.badTag(u, start, true)
	return -1
}

// badTag reports the property at pos, or that it is missing, and skips the object.
func (d *Decoder) badTag(u *Union, start int, found bool) {
	p := problem{at: u.At, keyword: u.Keyword, last: u.Key, found: "nothing", allowed: "one of " + list(u.Tags, ", "), offset: start}
	if found {
		p.offset = d.pos
		d.Skip()
		if d.err != nil {
			return
		}
		p.found = show(d.data[p.offset:d.pos])
	}
	if d.err != nil {
		return
	}
	d.leave(start)
	p.level = len(d.frames)
	d.Skip()
	d.report(p)
}

// find enters the object at pos and stops before the value of a property. leave goes back.
func (d *Decoder) find(name string) bool {
	f := d.open(anyObject.names(), nil)
	if f == nil {
		return false
	}
	f.field = Other
	for d.peek(); d.pos < len(d.data) && d.data[d.pos] != '}'; d.peek() {
		if f.count > 0 {
			if d.data[d.pos] != ',' {
				d.unexpected("',' or '}'")
				return false
			}
			d.pos++
		}
		if _, ok := d.key(f); !ok {
			return false
		}
		if string(d.value(f.key)) == name {
			return true
		}
		d.Skip()
		f = &d.frames[len(d.frames)-1] // Skip may have moved the stack
	}
	return false
}

func (d *Decoder) leave(start int) {
	if d.err == nil {
		d.shut()
		d.again(d.pos - start)
	}
	if d.err == nil {
		d.pos = start
	}
}

// Has returns the index of the first of u.Keys that the object has; -1 after a violation, the value skipped.
func (d *Decoder) Has(u *Union) int {
	if d.peek() != '{' {
		d.wrong("type", "an object", u.At)
		return -1
	}
	start := d.pos
	for i, k := range u.Keys {
		found := d.find(k)
		if d.err != nil {
			return -1
		}
		d.leave(start)
		if found {
			return i
		}
	}
	d.wrong(u.Keyword, "an object with one of "+list(u.Keys, ", "), u.At)
	return -1
}

// Kind looks at what comes. With a rule, a kind that the rule does not take is a violation, the value is skipped and
// the result is 0.
func (d *Decoder) Kind(u *Union) Kind {
	k := kindOf(d.peek())
	if u != nil && k != 0 && k&u.Kinds == 0 {
		d.wrong(u.Keyword, u.Kinds.words(), u.At)
		return 0
	}
	if k == 0 {
		d.unexpected("a value")
	}
	return k
}

func kindOf(c byte) Kind {
	switch c {
	case '"':
		return KindString
	case '{':
		return KindObject
	case '[':
		return KindArray
	case 't', 'f':
		return KindBool
	case 'n':
		return KindNull
	}
	if c == '-' || c-'0' <= 9 {
		return KindNumber
	}
	return 0
}

var kindWords = [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}

func (k Kind) words() string {
	if k == 0 {
		return "no value"
	}
	s := ""
	for i, w := range kindWords {
		if k>>i&1 != 0 {
			if s != "" {
				s += " or "
			}
			s += w
		}
	}
	return s
}
