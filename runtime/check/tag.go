package check

import "slices"

// This file reads the tag of an object: the member that tells the forms of a union apart.

// onlyTagged returns the only form that takes the object at pos by its tag; -1 if there are several, or none, or if the tag is not plain.
func (d *Decoder) onlyTagged(u *Union) int {
	t, data := u.byTag(), d.data
	i, _ := d.glanceFor(&t.key)
	if uint(i) >= uint(len(data)) || data[i] != '"' {
		return t.findJSON(data, i)
	}
	if i++; t.few != nil && i+8 < len(data) {
		w := (*[8]byte)(data[i : i+8 : i+8])
		if n := nearEnd(w); n < 8 && data[i+n] == '"' {
			return t.find(shortSignature(w, n), nil)
		}
	}
	end := plainEnd(data, i)
	if end >= len(data) || data[end] != '"' {
		return -1
	}
	tag := data[i:end]
	switch {
	case t.any:
		return u.only(KindObject, tag)
	case t.many == nil:
		return t.find(signature(tag), tag)
	}
	if form, ok := t.many[string(tag)]; ok {
		return form
	}
	return -1
}

// tagTable maps a tag to the only form that takes an object with it, -1 if several do.
type tagTable struct {
	key  sought // Union.Key
	few  []taggedForm
	many map[string]int // instead of few
	json map[string]int // by tags that are no strings; nil if there are none
	any  bool           // some form takes objects whatever their tag, so few and many are empty, and json is not used
}

type taggedForm struct {
	sign uint64 // of the tag
	tag  string
	form int
}

// find returns the form of a tag with that signature, -1 if there is none among few. Only tags with long signatures need to be compared.
func (t *tagTable) find(sign uint64, tag []byte) int {
	for i := range t.few {
		if f := &t.few[i]; f.sign == sign && (sign&long == 0 || f.tag == string(tag)) {
			return f.form
		}
	}
	return -1
}

// findJSON is find for a tag at i that is no string. It only finds tags in canonical form: readTag reads the other spellings.
func (t *tagTable) findJSON(data []byte, i int) int {
	if t.any || t.json == nil || uint(i) >= uint(len(data)) || kindOf(data[i])&(KindNumber|KindBool|KindNull) == 0 {
		return -1
	}
	if form, ok := t.json[string(data[i:valueEnd(data, i)])]; ok {
		return form
	}
	return -1
}

func (u *Union) byTag() *tagTable {
	if t := u.tags.Load(); t != nil {
		return t
	}
	return u.makeTags()
}

func (u *Union) makeTags() *tagTable {
	t := &tagTable{many: make(map[string]int, len(u.Forms))}
	t.key.set(u.Key)
	for i := range u.Forms {
		f := &u.Forms[i]
		if !f.takesObjects() {
			continue
		}
		t.any = t.any || !f.tagged()
		addTags(t.many, f.Tags, i)
		if f.JSON != nil && t.json == nil {
			t.json = map[string]int{}
		}
		addTags(t.json, f.JSON, i)
	}
	switch {
	case t.any:
		t.many = nil
	case len(t.many) <= fewValues:
		for i := range u.Forms {
			for _, tag := range u.Forms[i].Tags {
				if form, ok := t.many[tag]; ok {
					t.few = append(t.few, taggedForm{signature([]byte(tag)), tag, form})
				}
			}
		}
		t.many = nil
	}
	u.tags.Store(t)
	return t
}

// addTags adds the tags of a form to a table: tag → form, -1 for a tag that several forms have.
func addTags(table map[string]int, tags []string, form int) {
	for _, tag := range tags {
		if other, taken := table[tag]; taken && other != form {
			table[tag] = -1
		} else {
			table[tag] = form
		}
	}
}

// tagged reports whether the tag matters to f.
func (f *Form) tagged() bool { return f.Tags != nil || f.JSON != nil }

func (f *Form) has(tag []byte) bool {
	for i := range f.Tags {
		if f.Tags[i] == string(tag) {
			return true
		}
	}
	return false
}

// readTag finds the tag of the object and reads it into t.
func (t *trial) readTag() {
	d := t.d
	t.tagRead, t.tagAt = true, -1
	if at, ok := d.glanceFor(&t.union.byTag().key); ok && at < 0 {
		return
	}
	if d.find(t.union.Key) {
		kind := kindOf(d.peek())
		t.tagAt = d.pos
		switch {
		case kind == KindString:
			var s span
			if s, t.tagIsText = d.scanString(); t.tagIsText {
				t.tag = d.value(s)
			}
		case kind&(KindNumber|KindBool|KindNull) != 0 && t.union.byTag().json != nil:
			if d.skipRemembering(); d.err == nil { // a number too large to compare excludes no form: the forms' own rules refuse it
				t.tag, _, t.tagIsJSON = appendCanonical(nil, d.data[t.tagAt:d.pos], 0)
				t.tagRead = t.tagIsJSON
			}
		}
	}
	d.leave(t.start)
}

// tagFits reports whether the tag that was read is one of f's.
func (t *trial) tagFits(f *Form) bool {
	return t.tagIsText && f.has(t.tag) || t.tagIsJSON && slices.Contains(f.JSON, string(t.tag))
}
