package jsonschema

import (
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"slices"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/check/format"
	"github.com/mcpkiln/mcpkiln/runtime/check/pattern"
)

// Where the library validates otherwise than generated tools do, a compiled schema is changed, so that a tool accepts the same whether it was
// generated or added: equality, formats and patterns, and how often a part of a value is validated (VAL05, VAL09).

// schema is a schema for any number of goroutines. The library's compiled schemas have a place for extensions, but none for the state of
// one validation, so there are as many compiled schemas as validations at once.
type schema struct {
	text []byte
	mu   sync.Mutex
	free []*evaluator
}

// evaluator is one compiled schema, for one validation at a time.
type evaluator struct {
	root *jsonschema.Schema
	memo map[outcomeKey]error // outcomes of referenced schemas for parts of the value; nil: they may depend on the schema that refers
	left int                  // how many references may still be followed
}

// newSchema compiles the text.
func newSchema(text []byte) (*schema, error) {
	s := &schema{text: text}
	e, err := s.compile()
	s.free = []*evaluator{e}
	return s, err
}

func (s *schema) compile() (*evaluator, error) {
	root, err := compile(s.text)
	if err != nil {
		return nil, err
	}
	e := &evaluator{root: root}
	e.change()
	return e, nil
}

// evaluations is how many references are followed in a value, and perByte how many more for each byte of its text. A referenced schema validates
// a part of the value once, unless its outcome may depend on the schema that refers to it ($dynamicRef, $recursiveRef, unevaluated members): only
// such schemas come near these bounds.
const (
	evaluations = 100_000
	perByte     = 8
)

// errCostly ends a validation that follows too many references.
var errCostly = errors.New("jsonschema: too many references")

// validate validates a value. size is that of its text, in bytes.
func (s *schema) validate(value any, size int) (err error) {
	s.mu.Lock()
	var e *evaluator
	if n := len(s.free); n > 0 {
		e, s.free = s.free[n-1], s.free[:n-1]
	}
	s.mu.Unlock()
	if e == nil {
		if e, err = s.compile(); err != nil {
			return err
		}
	}
	e.left = evaluations + perByte*size
	defer func() {
		if v := recover(); v == errCostly {
			err = errCostly
		} else if v != nil {
			panic(v)
		}
		if len(e.memo) > keptOutcomes {
			e.memo = map[outcomeKey]error{}
		}
		clear(e.memo)
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.free) < maxFree {
			s.free = append(s.free, e)
		}
	}()
	return e.root.Validate(value)
}

// maxFree is how many compiled schemas are kept for later, and keptOutcomes how large a memo may be to be used again.
const (
	maxFree      = 16
	keptOutcomes = 1 << 10
)

// change changes all schemas that the library has compiled.
func (e *evaluator) change() {
	all := reachable(e.root)
	if !slices.ContainsFunc(all, dependsOnReferrer) {
		e.memo = map[outcomeKey]error{}
	}
	remembered := map[*jsonschema.Schema]*jsonschema.Schema{}
	for _, s := range all {
		if eq := newEquality(s); eq != nil {
			s.Extensions = append(s.Extensions, eq)
		}
		if s.Format != nil {
			if f := format.Named(s.Format.Name); f != format.None {
				s.Format = asFormat(s.Format.Name, f)
			}
		}
		switch to := s.Ref; {
		case e.memo == nil:
			if s.Ref != nil || s.DynamicRef != nil || s.RecursiveRef != nil {
				s.Extensions = append(s.Extensions, (*budget)(e))
			}
		case to != nil:
			if remembered[to] == nil {
				remembered[to] = &jsonschema.Schema{DraftVersion: to.DraftVersion, Location: to.Location, Extensions: []jsonschema.SchemaExt{&memoized{e, to}}}
			}
			s.Ref = remembered[to]
		}
	}
}

// reachable returns all schemas that are applied to a value or a part of it.
func reachable(root *jsonschema.Schema) []*jsonschema.Schema {
	seen := map[*jsonschema.Schema]bool{nil: true}
	var all []*jsonschema.Schema
	add := func(some []*jsonschema.Schema) {
		for _, s := range some {
			if !seen[s] {
				seen[s], all = true, append(all, s)
			}
		}
	}
	add([]*jsonschema.Schema{root})
	for i := 0; i < len(all); i++ { // it grows
		add(inPlace(all[i]))
		add(within(all[i]))
	}
	return all
}

func dependsOnReferrer(s *jsonschema.Schema) bool {
	return s.DynamicRef != nil || s.RecursiveRef != nil || s.UnevaluatedProperties != nil || s.UnevaluatedItems != nil
}

// budget counts the references of a schema.
type budget evaluator

// Validate implements jsonschema.SchemaExt.
func (b *budget) Validate(*jsonschema.ValidatorContext, any) { (*evaluator)(b).spend() }

func (e *evaluator) spend() {
	if e.left--; e.left < 0 {
		panic(errCostly)
	}
}

// memoized is a referenced schema that validates each part of a value once: a recursive union would validate the innermost part once for
// each path of references that leads there.
type memoized struct {
	evaluator *evaluator
	of        *jsonschema.Schema
}

// outcomeKey is a schema and a part of the value: an object or array by its address, a scalar or an empty array by its place.
type outcomeKey struct {
	schema  *jsonschema.Schema
	address uintptr
	place   string
	scalar  any
}

func (m *memoized) key(ctx *jsonschema.ValidatorContext, v any) outcomeKey {
	switch v := v.(type) {
	case map[string]any:
		return outcomeKey{schema: m.of, address: reflect.ValueOf(v).Pointer()}
	case []any:
		if len(v) > 0 {
			return outcomeKey{schema: m.of, address: reflect.ValueOf(v).Pointer()}
		}
		return outcomeKey{schema: m.of, place: pointer(ctx.ValueLocation())}
	}
	return outcomeKey{schema: m.of, place: pointer(ctx.ValueLocation()), scalar: v}
}

// Validate implements jsonschema.SchemaExt.
func (m *memoized) Validate(ctx *jsonschema.ValidatorContext, v any) {
	key := m.key(ctx, v)
	err, known := m.evaluator.memo[key]
	if !known || err != nil && wordless(err) && !wordless(refusal(ctx)) {
		m.evaluator.spend()
		err = ctx.Validate(m.of, v, nil)
		m.evaluator.memo[key] = err
	}
	if err != nil {
		ctx.AddErr(err)
	}
}

// wordless reports whether an error says that a value is wrong, but not why: under not and if the library does not describe errors.
func wordless(err error) bool { return err.(*jsonschema.ValidationError).ErrorKind == nil }

// refusal returns an error as the library makes them in ctx.
func refusal(ctx *jsonschema.ValidatorContext) error {
	_, err := ctx.Equals(struct{}{}, nil) // which is no JSON value
	return err
}

// equality is const, enum and uniqueItems. To the library, strings that look like numbers equal them.
type equality struct {
	constant   *any
	enum       *jsonschema.Enum
	allowed    map[string]bool // the values of enum in canonical form
	uniqueness bool
}

// newEquality takes the keywords from a schema, nil if it has none of them.
func newEquality(s *jsonschema.Schema) *equality {
	if s.Const == nil && s.Enum == nil && !s.UniqueItems {
		return nil
	}
	e := &equality{constant: s.Const, enum: s.Enum, uniqueness: s.UniqueItems}
	if s.Enum != nil {
		e.allowed = map[string]bool{}
		for _, v := range s.Enum.Values {
			e.allowed[canonical(v)] = true
		}
	}
	s.Const, s.Enum, s.UniqueItems = nil, nil, false
	return e
}

// Validate implements jsonschema.SchemaExt.
func (e *equality) Validate(ctx *jsonschema.ValidatorContext, v any) {
	if e.constant != nil && canonical(v) != canonical(*e.constant) {
		ctx.AddError(&kind.Const{Got: v, Want: *e.constant})
	}
	if e.enum != nil && !e.allowed[canonical(v)] {
		ctx.AddError(&kind.Enum{Got: v, Want: e.enum.Values})
	}
	if items, ok := v.([]any); ok && e.uniqueness {
		first := map[string]int{}
		for i, item := range items {
			text := canonical(item)
			if j, twice := first[text]; twice {
				ctx.AddError(&kind.UniqueItems{Duplicates: [2]int{j, i}})
				return
			}
			first[text] = i
		}
	}
}

// canonical returns the canonical form of a value: the same text for equal values, and for no others.
func canonical(v any) string {
	text, _ := json.Marshal(v) // it was read from JSON
	text, _ = check.AppendCanonical(nil, text)
	return string(text)
}

// asFormat returns a format that is validated as in generated tools.
func asFormat(name string, f format.Format) *jsonschema.Format {
	return &jsonschema.Format{Name: name, Validate: func(v any) error {
		if text, ok := v.(string); ok && !f.Match(text) {
			return errors.New("it has to be " + f.Describe())
		}
		return nil
	}}
}

// expression is a pattern of ECMA-262, as far as RE2 has it.
type expression struct {
	*regexp.Regexp
	source string
}

// String implements jsonschema.Regexp.
func (e *expression) String() string { return e.source }

// newExpression is a jsonschema.RegexpEngine. Patterns that ECMA-262 does not have, or that can not be matched in linear time, are refused, as in manifests.
func newExpression(source string) (jsonschema.Regexp, error) {
	if part, instead := pattern.Foreign(source); part != "" {
		return nil, errors.New(part + " is not of ECMA-262: write " + instead)
	}
	compiled, err := pattern.Compile(source)
	if err != nil {
		return nil, err
	}
	return &expression{compiled, source}, nil
}
