package wire

import "github.com/mcpkiln/mcpkiln/runtime/check"

// Shape is what a revision's definition of a member says about its value, where the runtime keeps that as text or reads only some of it:
// what the value can not be is a violation (LET05). The zero Shape takes anything.
type Shape struct {
	Kind     check.Kind // of the value: KindObject, KindArray, KindString or KindBool; 0: any
	Null     bool       // null is taken, too, which some clients write for none
	Enum     check.Enum // of a string: what it may be; without values: anything
	Names    []string   // of an object: the members that have names,
	Required []string   // those of them that it needs,
	Members  []Shape    // and what they are, in the order of Names
	Others   *Shape     // of an object: what its other members are; nil: anything
	Items    *Shape     // of an array; nil: anything

	object object
}

// readObject takes an object and returns its text; nil for anything else. Without a shape any object will do.
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

// readArguments is readObject for arguments. Some clients write null for none. Which tool or prompt they are for, and so which of their values
// must not be shown, is not known yet (VAL02): there is no such name, but any text, list or object that is wrong may hold one.
func (s *Shape) readArguments(d *check.Decoder) []byte {
	d.Hide("/")
	b := s.readArgumentsOpenly(d)
	d.Hide("")
	return b
}

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

// readText takes a string. Without a shape any string will do.
func (s *Shape) readText(d *check.Decoder) string {
	if s != nil && len(s.Enum.Values) > 0 {
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

// takeAny is take for a shape that may not be there.
func (s *Shape) takeAny(d *check.Decoder) {
	if s == nil {
		d.Skip()
	} else {
		s.take(d)
	}
}
