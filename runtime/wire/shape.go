package wire

import "github.com/mcpkiln/mcpkiln/runtime/check"

// Shape validates a member by the revision's schema, where the runtime keeps the value raw or reads only some of it: a value that the member
// can not have is a violation (LET05). The zero Shape allows anything.
type Shape struct {
	Kind     check.Kind // of the value: KindObject, KindArray, KindString or KindBool; 0: any
	Null     bool       // null is allowed, too, which some clients write for a missing value
	Enum     check.Enum // of a string: the values that are allowed; without Values all are
	Names    []string   // of an object: the members that are known by name
	Required []string   // those of Names that are required
	Members  []Shape    // the shapes of Names, in the same order
	Others   *Shape     // of an object: the shape of other members; nil: anything
	Items    *Shape     // of an array: the shape of its items; nil: anything

	object object
}

// readObject takes an object and returns its text; nil for anything else. A nil shape allows any object.
func (s *Shape) readObject(d *check.Decoder) []byte {
	if s == nil {
		return readObject(d)
	}
	kind, start := d.Kind(nil), d.Position()
	s.take(d)
	if kind&s.Kind == 0 && s.Kind != 0 {
		return nil
	}
	return d.Since(start)
}

// readArguments is readObject for the arguments of a call, for which some clients write null if there are none. Which tool or prompt they are for, and
// so which of their values are sensitive, is not known yet (VAL02). Hiding the empty name makes violations show no string, array or object.
func (s *Shape) readArguments(d *check.Decoder) []byte {
	d.Hide("/")
	b := s.readArgumentsOpenly(d)
	d.Hide("")
	return b
}

// readArgumentsOpenly is readArguments without hiding anything.
func (s *Shape) readArgumentsOpenly(d *check.Decoder) []byte {
	if s != nil {
		return s.readObject(d)
	}
	switch d.Kind(&objectOrNull) {
	case 0:
		return nil
	case check.KindObject:
		return d.Alias(nil)
	}
	d.Skip()
	return nil
}

// readText takes a string. A nil shape allows any string.
func (s *Shape) readText(d *check.Decoder) string {
	if s != nil && len(s.Enum.Values) > 0 {
		return d.Enum(&s.Enum)
	}
	return d.String(nil)
}

// take takes the next value and validates it.
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
		for f := d.Object(s.object.of(s.Names, s.Required)); f >= 0; f = d.Next() {
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

// takeAny is take for a shape that may be nil, which allows anything.
func (s *Shape) takeAny(d *check.Decoder) {
	if s == nil {
		d.Skip()
	} else {
		s.take(d)
	}
}
