package check

import "sync/atomic"

// sought is a member that is looked for in many objects.
type sought struct {
	text   string
	sign   uint64 // of text
	name   name
	before atomic.Pointer[name] // the name that the first object without the member in front began with; nil: not known yet
}

func (s *sought) set(text string) {
	s.text, s.sign = text, signature([]byte(text))
	s.name.set(text, 0)
}

// glanceFor is glanceAt for s. Most objects begin with the member, or with the same other one before it, whose value is a short text: for them that
// takes half the time.
func (d *Decoder) glanceFor(s *sought) (at int, ok bool) {
	data, n, before := d.data, &s.name, s.before.Load()
	for i := tokenAt(data, d.pos+1); n.expectable && i+int(n.reads) <= len(data); i = tokenAt(data, i) {
		if n.begins(data, i) {
			return tokenAt(data, i+int(n.length)+len(`"":`)), true
		}
		if before == nil || !before.expectable || i+int(before.reads) > len(data) || !before.begins(data, i) {
			break
		}
		if i = tokenAt(data, i+int(before.length)+len(`"":`)); i+11 > len(data) || data[i] != '"' {
			break
		}
		if i += 1 + nearEnd((*[8]byte)(data[i+1:i+9])); data[i] != '"' || data[i+1] != ',' {
			break
		}
		i, before = i+2, nil
	}
	if s.before.Load() == nil {
		s.learn(data, tokenAt(data, d.pos+1))
	}
	return d.glanceAt(s.text, s.sign)
}

// learn keeps the name of the key at i.
func (s *sought) learn(data []byte, i int) {
	if end, _, at := glanceKey(data, i); at > 0 {
		n := new(name)
		n.set(string(data[i+1:end]), 0)
		s.before.Store(n)
	}
}

// keyKindTable says by the kind of the member Union.KindKey which forms are left for an object.
type keyKindTable struct {
	member sought
	forms  kindTable
}

func (u *Union) byKeyKind() *keyKindTable {
	if t := u.keyKinds.Load(); t != nil {
		return t
	}
	return u.makeKeyKinds()
}

func (u *Union) makeKeyKinds() *keyKindTable {
	t := new(keyKindTable)
	t.member.set(u.KindKey)
	t.forms.set(u.Forms, func(f *Form) Kind { return f.KeyKinds })
	u.keyKinds.Store(t)
	return t
}

// byKindOfKey returns which of the first 64 forms the kind of the member Union.KindKey leaves for the object at pos: all if that is not found.
func (d *Decoder) byKindOfKey(u *Union) uint64 {
	t := u.byKeyKind()
	at, _ := d.glanceFor(&t.member)
	if uint(at) >= uint(len(d.data)) {
		return ^uint64(0)
	}
	return t.forms.of(kindOf(d.data[at]))
}
