// Package defined holds JSON against the definitions of a protocol revision, which the revision's wire has as text. What generated
// code or the runtime itself makes needs none of it; it is for results that middleware puts in their place (LET01). It is for those who
// read another keyword: the generator says which ones the text has (generator/internal/wire).
package defined

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Set is the definitions of one revision. They are read when the first result is held against them. It is safe for concurrent use.
type Set struct {
	texts []wire.Definition
	meta  string
	key   func(string) error

	once    sync.Once
	schemas map[string]*schema
	err     error
}

// New takes definitions, the member of messages that has metadata, and the rule that each key of these keeps.
func New(all []wire.Definition, meta string, key func(string) error) *Set {
	return &Set{texts: all, meta: meta, key: key}
}

// Check tells how a JSON text breaks the definition with the name, nil for not at all. The size of the text is not limited. hidden is for
// check.Decoder.Hide.
func (s *Set) Check(name string, text []byte, limits check.Limits, hidden string) error {
	s.once.Do(s.read)
	of := s.schemas[name]
	switch {
	case s.err != nil:
		return s.err
	case of == nil:
		return fmt.Errorf("there is no definition %s", name)
	}
	limits.Bytes = max(limits.Bytes, len(text))
	d := check.Get(text, limits)
	defer d.Put()
	d.Hide(hidden)
	r := reading{set: s}
	r.value(d, of)
	if err := d.Finish(); err != nil {
		return err
	}
	return r.err
}

func (s *Set) read() {
	s.schemas = make(map[string]*schema, len(s.texts))
	for _, d := range s.texts {
		of := new(schema)
		if err := json.Unmarshal([]byte(d.Schema), of); err != nil {
			s.err = fmt.Errorf("the definition %s: %w", d.Name, err)
			return
		}
		s.schemas[d.Name] = of
	}
	for _, d := range s.texts {
		if err := s.prepare(s.schemas[d.Name]); err != nil {
			s.err = fmt.Errorf("the definition %s: %w", d.Name, err)
			return
		}
	}
}

// reading is one reading of a value.
type reading struct {
	set *Set
	err error // of the first key of metadata that breaks its rule
}

func (r *reading) value(d *check.Decoder, s *schema) {
	if s == nil {
		d.Skip()
		return
	}
	if s.of != nil {
		r.value(d, s.of)
		return
	}
	for _, other := range s.AllOf {
		d.Also(func(d *check.Decoder) { r.value(d, other) })
	}
	if s.AnyOf != nil {
		check.Pick(d, &s.union, func(d *check.Decoder, form int) (none struct{}) {
			r.value(d, s.AnyOf[form])
			return none
		})
		return
	}
	switch kind := d.Kind(&s.kinds); {
	case kind == 0: // it says so
	case kind == check.KindObject:
		r.object(d, s)
	case kind == check.KindArray:
		for more := d.Array(&s.array); more; more = d.Item() {
			r.value(d, s.Items)
		}
	case kind == check.KindString && s.enum.Values != nil:
		d.Enum(&s.enum)
	case kind == check.KindString:
		d.Text(&s.text)
	case kind == check.KindNumber:
		d.Float(&s.number)
	default:
		d.Skip()
	}
}

func (r *reading) object(d *check.Decoder, s *schema) {
	for f := d.Object(&s.object); f >= 0; f = d.Next() {
		switch {
		case f >= len(s.members):
			r.value(d, s.Others)
		case s.object.Names[f] == r.set.meta:
			d.Also(r.keys)
			r.value(d, s.members[f])
		default:
			r.value(d, s.members[f])
		}
	}
}

// keys holds those of metadata against their rule.
func (r *reading) keys(d *check.Decoder) {
	if d.Kind(nil) != check.KindObject {
		d.Skip()
		return
	}
	for f := d.Object(nil); f >= 0; f = d.Next() {
		if err := r.set.key(d.Key()); err != nil && r.err == nil {
			r.err = err
		}
		d.Skip()
	}
}
