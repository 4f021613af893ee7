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

// Where the library judges otherwise than generated tools do, a compiled schema is changed, so that a tool may be generated or added without
// a difference in what it takes: what is equal, formats and patterns, and how often a part of a value is looked at (VAL05, VAL09).

// schema is a compiled schema for any number of goroutines. What the library compiles has a place for extensions, and none for what they know
// of one validation, so there are as many compiled schemas as validations at once.
type schema struct {
	text []byte
	mu   sync.Mutex
	free []*judge
}

// judge is one compiled schema, for one validation at a time.
type judge struct {
	root *jsonschema.Schema
	memo map[verdictKey]error // what referenced schemas say of parts of the value; nil: that may depend on what refers to them
	left int                  // how many references may still be followed
}

// newSchema compiles the text.
func newSchema(text []byte) (*schema, error) {
	s := &schema{text: text}
	j, err := s.compile()
	s.free = []*judge{j}
	return s, err
}

func (s *schema) compile() (*judge, error) {
	root, err := compile(s.text)
	if err != nil {
		return nil, err
	}
	j := &judge{root: root}
	j.change()
	return j, nil
}

// evaluations is how many references are followed in a value, and perByte how many more for each byte of its text. A referenced schema looks
// at a part of the value once, unless what it says may depend on who refers to it ($dynamicRef, $recursiveRef, unevaluated members): only those
// schemas come near.
const (
	evaluations = 100_000
	perByte     = 8
)

// errCostly ends a validation that follows too many references.
var errCostly = errors.New("jsonschema: too many references")

// validate holds the value against the schema. size is that of its text, in bytes.
func (s *schema) validate(value any, size int) (err error) {
	s.mu.Lock()
	var j *judge
	if n := len(s.free); n > 0 {
		j, s.free = s.free[n-1], s.free[:n-1]
	}
	s.mu.Unlock()
	if j == nil {
		if j, err = s.compile(); err != nil {
			return err
		}
	}
	j.left = evaluations + perByte*size
	defer func() {
		if v := recover(); v == errCostly {
			err = errCostly
		} else if v != nil {
			panic(v)
		}
		if len(j.memo) > keptVerdicts {
			j.memo = map[verdictKey]error{}
		}
		clear(j.memo)
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.free) < maxFree {
			s.free = append(s.free, j)
		}
	}()
	return j.root.Validate(value)
}

// maxFree is how many compiled schemas are kept for later, and keptVerdicts how large a memo may have been to be used again.
const (
	maxFree      = 16
	keptVerdicts = 1 << 10
)

// change goes over all that the library has compiled.
func (j *judge) change() {
	all := reachable(j.root)
	if !slices.ContainsFunc(all, dependsOnReferrer) {
		j.memo = map[verdictKey]error{}
	}
	remembered := map[*jsonschema.Schema]*jsonschema.Schema{}
	for _, s := range all {
		if e := newEquality(s); e != nil {
			s.Extensions = append(s.Extensions, e)
		}
		if s.Format != nil {
			if f := format.Named(s.Format.Name); f != format.None {
				s.Format = asFormat(s.Format.Name, f)
			}
		}
		switch to := s.Ref; {
		case j.memo == nil:
			if s.Ref != nil || s.DynamicRef != nil || s.RecursiveRef != nil {
				s.Extensions = append(s.Extensions, (*budget)(j))
			}
		case to != nil:
			if remembered[to] == nil {
				remembered[to] = &jsonschema.Schema{DraftVersion: to.DraftVersion, Location: to.Location, Extensions: []jsonschema.SchemaExt{&memory{j, to}}}
			}
			s.Ref = remembered[to]
		}
	}
}

// reachable are all schemas that are applied to a value or a part of it.
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
type budget judge

// Validate implements jsonschema.SchemaExt.
func (b *budget) Validate(*jsonschema.ValidatorContext, any) { (*judge)(b).spend() }

func (j *judge) spend() {
	if j.left--; j.left < 0 {
		panic(errCostly)
	}
}

// memory stands for a referenced schema, which looks at each part of a value once: a recursive union would look at the innermost part once for
// each way that leads there.
type memory struct {
	judge *judge
	of    *jsonschema.Schema
}

// verdictKey is a schema and a part of the value: an object or an array by its memory, a scalar by its place, too.
type verdictKey struct {
	schema *jsonschema.Schema
	memory uintptr
	place  string
	scalar any
}

func (m *memory) key(ctx *jsonschema.ValidatorContext, v any) verdictKey {
	switch v := v.(type) {
	case map[string]any:
		return verdictKey{schema: m.of, memory: reflect.ValueOf(v).Pointer()}
	case []any:
		if len(v) > 0 {
			return verdictKey{schema: m.of, memory: reflect.ValueOf(v).Pointer()}
		}
		return verdictKey{schema: m.of, place: pointer(ctx.ValueLocation())}
	}
	return verdictKey{schema: m.of, place: pointer(ctx.ValueLocation()), scalar: v}
}

// Validate implements jsonschema.SchemaExt.
func (m *memory) Validate(ctx *jsonschema.ValidatorContext, v any) {
	key := m.key(ctx, v)
	err, known := m.judge.memo[key]
	if !known || err != nil && wordless(err) && !wordless(refusal(ctx)) {
		m.judge.spend()
		err = ctx.Validate(m.of, v, nil)
		m.judge.memo[key] = err
	}
	if err != nil {
		ctx.AddErr(err)
	}
}

// wordless reports whether an error says that a value is wrong, and not why: nobody asks for more below not and if.
func wordless(err error) bool { return err.(*jsonschema.ValidationError).ErrorKind == nil }

// refusal is an error as the library makes them where ctx is.
func refusal(ctx *jsonschema.ValidatorContext) error {
	_, err := ctx.Equals(struct{}{}, nil) // which is no JSON value
	return err
}

// equality is const, enum and uniqueItems. To the library, texts that look like numbers equal them.
type equality struct {
	constant   *any
	enum       *jsonschema.Enum
	allowed    map[string]bool // both of them, by canonical; nil: neither
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

// canonical is the same text for equal values, and for no others.
func canonical(v any) string {
	text, _ := json.Marshal(v) // it was read from JSON
	text, _ = check.AppendCanonical(nil, text)
	return string(text)
}

// asFormat is a format as generated tools have it.
func asFormat(name string, f format.Format) *jsonschema.Format {
	return &jsonschema.Format{Name: name, Validate: func(v any) error {
		if text, ok := v.(string); ok && !f.Match(text) {
			return errors.New("it has to be " + f.Describe())
		}
		return nil
	}}
}

// expression is a pattern of ECMA-262, in what Go has of it.
type expression struct {
	*regexp.Regexp
	source string
}

// String implements jsonschema.Regexp.
func (e *expression) String() string { return e.source }

// newExpression is a jsonschema.RegexpEngine. Patterns that are not those of ECMA-262, or can not be matched in linear time, are refused, as in manifests.
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
