package typing

import (
	"math/big"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
)

// allOf is a conjunction of schemas: a value must satisfy each. One schema is the usual case; the keyword allOf, $ref with siblings
// and a property that two branches describe make more.
type allOf []*schema.Node

// shape is what an allOf says, keyword by keyword, merged as far as possible. A facet whose at is nil has no keywords.
type shape struct {
	kinds       model.Kind
	kindsAt     *schema.Node // the schema whose type, enum or const narrowed kinds
	never       *schema.Node // the schema that allows nothing, if there is one
	integer     bool         // numbers are integers
	str         stringFacet
	num         numberFacet
	arr         arrayFacet
	obj         objectFacet
	enum        *enumFacet
	groups      []group
	conditions  []condition
	annotations annotations
	goType      string // time.Time and the like: what goType asks for

	parts                 []*schema.Node // the schemas of $ref and allOf, until they are merged
	unevaluatedProperties *objectFacet   // that keyword, until it is merged, after parts
}

// annotations are those that have an effect on generated code. Those of the outermost schema take precedence.
type annotations struct {
	title, description string
	deprecated         bool
	byDefault          *schema.Node // default
}

type stringFacet struct {
	at       *schema.Node
	min, max *int
	patterns []textRule
	formats  []textRule
}

// textRule is a pattern or format and the schema that has it.
type textRule struct {
	at   *schema.Node
	text string
}

type numberFacet struct {
	at       *schema.Node
	min, max *bound
	multiple *big.Rat
}

// bound is one end of a range.
type bound struct {
	value     *big.Rat
	text      string
	exclusive bool
}

type arrayFacet struct {
	at       *schema.Node
	min, max *int
	unique   bool
	prefix   []allOf // of the items by position
	items    allOf   // of those after them; nil: no keyword
}

type objectFacet struct {
	at                   *schema.Node
	min, max             *int
	props                []property
	required             []string
	additionalProperties allOf // nil: no keyword
	patternSets          []patternSet

	unevaluated bool // additionalProperties comes from unevaluatedProperties
}

// patternSet is patternProperties of one schema with the additionalProperties beside it.
type patternSet struct {
	at                   *schema.Node
	patterns             []property // keyed by pattern
	compiled             []*regexp.Regexp
	additionalProperties allOf // for names that the schema does not mention; nil: no keyword
}

// property is one of objectFacet.props.
type property struct {
	key    string
	schema allOf
}

type enumFacet struct {
	at      *schema.Node
	values  []*schema.Node
	isConst bool                // its keyword is const
	docs    map[string][]string // of values from a oneOf of constants
}

// only returns the only value that s allows, by a const or an enum of one value, or nil. A required const has no field in Go; an enum of one value
// has one, so that code that uses the field still compiles when an enum becomes shorter.
func (s *shape) only() *schema.Node {
	if s.enum == nil || len(s.enum.values) != 1 || len(s.groups) > 0 || s.conditions != nil {
		return nil
	}
	return s.enum.values[0]
}

// group is an anyOf or oneOf.
type group struct {
	at       *schema.Node // the schema that has it
	oneOf    bool
	branches []*schema.Node
}

func (o *objectFacet) prop(key string) *property {
	for i := range o.props {
		if o.props[i].key == key {
			return &o.props[i]
		}
	}
	return nil
}

// propOrOther returns the schemas for a property, named or not.
func (o *objectFacet) propOrOther(key string) allOf {
	if p := o.prop(key); p != nil {
		return p.schema
	}
	return o.additionalFor(key)
}

// sort orders properties by key, so that moving a property in the schema moves nothing in generated code.
func (o *objectFacet) sort() {
	slices.SortStableFunc(o.props, func(a, b property) int { return strings.Compare(a.key, b.key) })
}

// hasNoFacets reports whether s has no keywords but type, enum, const, groups, conditions and annotations.
func (s *shape) hasNoFacets() bool {
	return s.str.at == nil && s.num.at == nil && s.arr.at == nil && s.obj.at == nil
}

// namesNoProperties reports whether s allows objects alone and names none of their properties: all that they have are additional properties, so a
// struct that is declared for them keeps these.
func (s *shape) namesNoProperties() bool {
	return s.kinds&^model.KindNull == model.KindObject && len(s.obj.props) == 0 && len(s.obj.required) == 0
}

// unconstrained reports whether s allows every JSON value.
func (s *shape) unconstrained() bool {
	return s.kinds == model.KindAny && !s.integer && s.hasNoFacets() && s.enum == nil && len(s.groups) == 0 && s.conditions == nil && s.never == nil
}
