package wire

import "github.com/mcpkiln/mcpkiln/runtime/check"

// Shape is what a revision's definition of a member says about its value, where the runtime keeps that as text or reads only some of it:
// what the value can not be is a violation (LET05). The zero Shape takes anything.
type Shape struct {
	Kind    check.Kind   // of the value: KindObject, KindArray, KindString or KindBool; 0: any
	Null    bool         // null is taken, too, which some clients write for none
	Enum    check.Enum   // of a string: what it may be; without values: anything
	Object  check.Object // of an object: the members that have names,
	Members []Shape      // and what they are, in the same order
	Others  *Shape       // of an object: what its other members are; nil: anything
	Items   *Shape       // of an array; nil: anything
}

// Read takes a value and returns its text; nil for null, and for what is of another kind.
func (s *Shape) Read(d *check.Decoder) []byte {
	kind, start := d.Kind(nil), d.Position()
	s.take(d)
	if kind&s.Kind == 0 && s.Kind != 0 {
		return nil
	}
	return d.Since(start)
}

// ReadText is Read for a string.
func (s *Shape) ReadText(d *check.Decoder) string {
	if len(s.Enum.Values) > 0 {
		return d.Enum(&s.Enum)
	}
	return d.String(nil)
}

func (s *Shape) take(d *check.Decoder) {
	switch {
	case s.Null && d.Null():
	case s.Kind == check.KindString && len(s.Enum.Values) > 0:
		d.Enum(&s.Enum)
	case s.Kind == check.KindString:
		d.Text(nil)
	case s.Kind == check.KindBool:
		d.Bool(nil)
	case s.Kind == check.KindArray:
		for more := d.Array(nil); more; more = d.Item() {
			s.Items.takeAny(d)
		}
	case s.Kind == check.KindObject:
		for f := d.Object(&s.Object); f >= 0; f = d.Next() {
			if f < len(s.Members) {
				s.Members[f].take(d)
			} else {
				s.Others.takeAny(d)
			}
		}
	default:
		d.Skip()
	}
}

// takeAny is take for a shape that may not be there.
func (s *Shape) takeAny(d *check.Decoder) {
	if s == nil {
		d.Skip()
	} else {
		s.take(d)
	}
}
