package wire

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// Layout says where the values of one message are, for reading and for writing it. It is a table and no function, because a client
// supports all revisions, and code for each message of each revision would be most of a program that only calls a tool.
type Layout struct {
	Object  check.Object
	Members []Member // by index in Object.Names
}

// Member is one member of an object: a value, an object with values in it, or a constant that is always written.
type Member struct {
	Slot     Slot    // of the value
	Inside   *Layout // of the object that has values in it
	Constant string  // the JSON of the constant
}

// Values are the values of a message by slot, each raw; nil: absent. Those that were read alias the message.
type Values [SlotCount][]byte

// Read fills v with the values of one message, which was parsed before. A message that does not have this layout is an error.
func (l *Layout) Read(message []byte, v *Values) error {
	return l.Each(message, func(s Slot, value []byte) { v[s] = value })
}

// Each is Read for a message with few values: it calls value with each of them, so that no Values are needed.
func (l *Layout) Each(message []byte, value func(Slot, []byte)) error {
	if l == nil {
		return nil
	}
	d := check.GetScanned(message, check.Limits{})
	defer d.Put()
	l.each(d, value)
	return d.Finish()
}

func (l *Layout) each(d *check.Decoder, value func(Slot, []byte)) {
	for i := d.Object(&l.Object); i >= 0; i = d.Next() {
		switch m := &l.Members[i]; {
		case m.Inside == nil:
			value(m.Slot, d.Alias(nil))
		case !d.Null(): // null is what many libraries write for an object that is not there
			m.Inside.each(d, value)
		}
	}
}

// Has reports whether the message itself, not an object in it, has a member for the slot.
func (l *Layout) Has(s Slot) bool {
	return l.NameOf(s) != ""
}

// NameOf returns the name of the message's own member for the slot, "" if it has none.
func (l *Layout) NameOf(s Slot) string {
	if i := slices.IndexFunc(l.Members, func(m Member) bool { return m.Slot == s && m.Inside == nil }); i >= 0 {
		return l.Object.Names[i]
	}
	return ""
}

// Append writes a message: those values of v for which l has a place, and the members of extra, a raw object or nil. Where both have a member, that of v
// is written. A nil layout has no places.
func (l *Layout) Append(b []byte, v *Values, extra []byte) ([]byte, error) {
	b = append(b, '{')
	inside := make([][]byte, 8)[:0]
	if len(extra) > 0 {
		var err error
		if b, inside, err = l.appendExtra(b, v, extra, inside); err != nil {
			return b, err
		}
	}
	if l == nil {
		return append(b, '}'), nil
	}
	for i := range l.Members {
		var more []byte
		if len(inside) > 0 {
			more = inside[i]
		}
		var err error
		if b, err = l.appendMember(b, i, v, more); err != nil {
			return b, err
		}
	}
	return append(b, '}'), nil
}

// appendMember writes the member with index i, if there is a value for it. more is a raw object with further members for one that is an object, or nil.
func (l *Layout) appendMember(b []byte, i int, v *Values, more []byte) ([]byte, error) {
	m, name := &l.Members[i], l.Object.Names[i]
	switch {
	case m.Inside != nil && (more != nil || m.Inside.holds(v)):
		return m.Inside.Append(appendKey(b, name), v, more)
	case m.Constant != "":
		b = append(appendKey(b, name), m.Constant...)
	case m.Inside == nil && v[m.Slot] != nil:
		b = append(appendKey(b, name), v[m.Slot]...)
	}
	return b, nil
}

// holds reports whether l has a place for any value of v, or a constant, so that its object is written.
func (l *Layout) holds(v *Values) bool {
	for i := range l.Members {
		m := &l.Members[i]
		if m.Constant != "" || m.Inside != nil && m.Inside.holds(v) || m.Inside == nil && v[m.Slot] != nil {
			return true
		}
	}
	return false
}

// appendExtra writes the members of extra, except those that are written from v. Members of extra that l has as objects are not written, but returned by
// index in l.Members, so that their own members are written into those objects.
func (l *Layout) appendExtra(b []byte, v *Values, extra []byte, inside [][]byte) ([]byte, [][]byte, error) {
	if l != nil {
		inside = make([][]byte, len(l.Members))
	}
	d := check.Get(extra, check.Limits{})
	defer d.Put()
	for i := d.Object(nil); i != -1; i = d.Next() {
		name := d.Key()
		value := d.Alias(nil)
		at := l.index(name)
		switch {
		case at >= 0 && l.Members[at].Inside != nil:
			inside[at] = value
		case at >= 0 && v[l.Members[at].Slot] != nil:
		default:
			b = append(appendKey(b, name), value...)
		}
	}
	return b, inside, d.Finish()
}

func (l *Layout) index(name string) int {
	if l != nil {
		for i, n := range l.Object.Names {
			if n == name {
				return i
			}
		}
	}
	return -1
}

func appendKey(b []byte, name string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return append(check.AppendString(b, name), ':')
}

// Has reports whether there is a value, and it is not null.
func (v *Values) Has(s Slot) bool { return v[s] != nil && string(v[s]) != "null" }

// Text returns the value of a string, "" for anything else.
func (v *Values) Text(s Slot) (text string) {
	if len(v[s]) > 1 && v[s][0] == '"' {
		_ = json.Unmarshal(v[s], &text)
	}
	return text
}

// Texts returns the items of an array of strings, nil for anything else.
func (v *Values) Texts(s Slot) (all []string) {
	if v[s] != nil {
		_ = json.Unmarshal(v[s], &all)
	}
	return all
}

// ID returns the value of an id or progress token, zero for anything else.
func (v *Values) ID(s Slot) rpc.ID {
	id, _ := rpc.ParseID(v[s])
	return id
}

// True reports whether a value is true.
func (v *Values) True(s Slot) bool { return string(v[s]) == "true" }

// Float returns the value of a number, 0 for anything else.
func (v *Values) Float(s Slot) (n float64) {
	if v[s] != nil && json.Unmarshal(v[s], &n) != nil {
		return 0
	}
	return n
}

// Millis returns a number of milliseconds as a Duration; ok is false for anything else. A number that a Duration can not hold becomes the longest one, or
// for a negative number the shortest.
func (v *Values) Millis(s Slot) (d time.Duration, ok bool) {
	if !v.Has(s) || json.Unmarshal(v[s], new(float64)) != nil {
		return 0, false
	}
	const most = float64(1<<63-1) / float64(time.Millisecond)
	switch n := v.Float(s); {
	case n >= most:
		return 1<<63 - 1, true
	case n <= -most:
		return -1 << 63, true
	default:
		return time.Duration(n * float64(time.Millisecond)), true
	}
}

// SetText sets a string.
func (v *Values) SetText(s Slot, text string) { v[s] = check.AppendString(nil, text) }

// SetID sets an id or progress token.
func (v *Values) SetID(s Slot, id rpc.ID) { v[s] = id.AppendJSON(nil) }
