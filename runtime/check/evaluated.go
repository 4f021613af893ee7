package check

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/check/format"
)

// Unevaluated is the rule of unevaluatedProperties and unevaluatedItems.
type Unevaluated struct {
	At      string
	Keyword string
	Items   bool // of an array; else of an object
	Refuse  bool // the keyword is false: none may be unevaluated
}

// Evaluates says which properties a schema evaluates.
type Evaluates struct {
	Names    []string
	Patterns []*format.Pattern
}

// Evaluated is the set of those members or items of the next value that some schema evaluates. Generated code
// fills it, then goes over the others:
//
//	e := d.Evaluate(&rule)
//	markX(d, &e)
//	for e.Next() {
//		checkY(d)
//	}
type Evaluated struct {
	d     *Decoder
	rule  *Unevaluated
	start int
	bits  []uint64 // a bit for each member or item, by the order in the text
	first int      // how many items at the beginning of the array are evaluated, too
	added []*Once  // schemas whose evaluated members or items are in the set
	all   bool     // everything is evaluated
	begun bool     // Next was called
}

// Evaluate returns the empty set for the next value, which is not taken.
func (d *Decoder) Evaluate(r *Unevaluated) Evaluated {
	return Evaluated{d: d, rule: r, start: d.here()}
}

// Again notes that the caller adds now what a schema evaluates, and reports whether that was added before, so that nothing is to be done. It is for
// schemas that several others refer to.
func (e *Evaluated) Again(schema *Once) bool {
	if slices.Contains(e.added, schema) {
		return true
	}
	e.added = append(e.added, schema)
	return false
}

// All adds all members or items of the value.
func (e *Evaluated) All() { e.all = true }

// First adds the first n items.
func (e *Evaluated) First(n int) { e.first = max(e.first, n) }

// Properties adds the members that r names.
func (e *Evaluated) Properties(r *Evaluates) {
	d := e.d
	if e.all || d.peek() != '{' {
		return
	}
	start := d.pos
	for f := d.Object(nil); f >= 0; f = d.Next() {
		if r.has(d.value(d.frames[len(d.frames)-1].key)) {
			e.add(d.Index())
		}
		d.skipRemembering() // the members are read again
	}
	d.rewind(start)
}

func (r *Evaluates) has(name []byte) bool {
	for i := range r.Names {
		if r.Names[i] == string(name) {
			return true
		}
	}
	for _, p := range r.Patterns {
		if p.Match(string(name)) {
			return true
		}
	}
	return false
}

// Found adds the items that satisfy the schema of contains.
func (e *Evaluated) Found(check func(*Decoder)) {
	d := e.d
	if e.all || d.peek() != '[' {
		return
	}
	start := d.pos
	for ok := d.Array(nil); ok; ok = d.Item() {
		if d.Fits(check) {
			e.add(d.Index())
		}
		d.skipRemembering()
	}
	d.rewind(start)
}

func (e *Evaluated) add(i int) {
	for len(e.bits) <= i/64 {
		e.bits = append(e.bits, 0)
	}
	e.bits[i/64] |= 1 << (i & 63)
}

func (e *Evaluated) has(i int) bool {
	return i < e.first || i/64 < len(e.bits) && e.bits[i/64]>>(i&63)&1 != 0
}

// Next moves to the next member or item that was not evaluated and has to be validated, and reports whether there is one. At the end
// the decoder is back before the value.
func (e *Evaluated) Next() bool {
	d := e.d
	if e.all || d.err != nil {
		return false
	}
	for e.more() {
		switch i := d.Index(); {
		case e.has(i):
		case e.rule.Refuse:
			d.unevaluated(e.rule)
		default:
			return true
		}
		d.skipRemembering()
	}
	return false
}

// more goes to the next member or item.
func (e *Evaluated) more() (ok bool) {
	d := e.d
	switch first := !e.begun; {
	case first && kindOf(d.peek()) != e.kind():
		return false
	case first && e.rule.Items:
		ok = d.Array(nil)
	case first:
		ok = d.Object(nil) >= 0
	case e.rule.Items:
		ok = d.Item()
	default:
		ok = d.Next() >= 0
	}
	e.begun = true
	if !ok {
		d.rewind(e.start)
	}
	return ok && d.err == nil
}

func (e *Evaluated) kind() Kind {
	if e.rule.Items {
		return KindArray
	}
	return KindObject
}
