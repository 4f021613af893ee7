package subsume

import (
	"github.com/mcpkiln/mcpkiln/schema"
)

// Relation says what the new schema accepts, compared with the old one.
type Relation uint8

// The relations.
const (
	Undecided    Relation = iota
	Equal                 // the same values
	Narrower              // fewer: some that the old one accepted are refused
	Wider                 // more: none that the old one accepted is refused
	Incomparable          // some are refused that were accepted, others accepted that were refused
)

var relationNames = [...]string{"undecided", "equal", "narrower", "wider", "incomparable"}

func (r Relation) String() string { return relationNames[r] }

// Comparison is the result of Compare. The directions are independent: one may be decided while the other is not.
type Comparison struct {
	Refused  Difference // values that the old schema accepts and the new one refuses
	Accepted Difference // values that the new schema accepts and the old one refuses
}

// Difference says whether values exist that one schema accepts and the other refuses.
type Difference struct {
	Decided bool
	Value   *schema.Node // such a value; nil if there is none, or none was found
	Why     string       // the reason if it is not decided
}

// None reports whether there certainly is no such value.
func (d Difference) None() bool { return d.Decided && d.Value == nil }

// Relation combines both directions.
func (c Comparison) Relation() Relation {
	switch {
	case !c.Refused.Decided || !c.Accepted.Decided:
		return Undecided
	case c.Refused.Value == nil && c.Accepted.Value == nil:
		return Equal
	case c.Refused.Value == nil:
		return Wider
	case c.Accepted.Value == nil:
		return Narrower
	}
	return Incomparable
}

// Compare compares what two schemas accept. Neither may have errors (Document.Lint).
func Compare(old, new *schema.Document) Comparison {
	a, b := bundled(old, "old"), bundled(new, "new")
	if a.dialect() == b.dialect() && same(a, b) {
		return Comparison{Difference{Decided: true}, Difference{Decided: true}}
	}
	return Comparison{Refused: beyond(a, b), Accepted: beyond(b, a)}
}

// depths are the levels of nested values that are searched, one try after the other.
var depths = []int{2, 4, 8, unbounded}

// Satisfy looks for a value that a schema accepts. If none is found and the result is decided, there is none.
func Satisfy(d *schema.Document) Difference { return search(goal{{bundled(d, "schema"), true}}) }

// beyond looks for a value that a accepts and b does not.
func beyond(a, b site) Difference {
	if included(a, b) {
		return Difference{Decided: true}
	}
	return search(goal{{a, true}, {b, false}})
}

// search looks for a value that meets g, first for one that is not nested deeply, which is easier to read.
func search(g goal) (d Difference) {
	for i, depth := range depths {
		if i == 1 {
			if v := tried(g); v != nil {
				return Difference{Decided: true, Value: v}
			}
		}
		s := newSolver(depth)
		o := s.value(g)
		if d = (Difference{o.answer != unsure, o.value, s.why}); d.Decided {
			return Difference{Decided: true, Value: o.value}
		}
	}
	return d
}

// bundled returns the root of the schema after Document.Bundle, which refers to nothing outside of the schema.
func bundled(d *schema.Document, file string) site {
	if d.Shared != nil {
		root, _ := schema.ParseJSON(file, d.Bundle().JSON())
		d, _ = schema.NewDocument(root, nil)
	}
	return site{d, d.Root}
}
