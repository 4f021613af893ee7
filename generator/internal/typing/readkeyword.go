package typing

import (
	"strconv"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
	"github.com/mcpkiln/mcpkiln/runtime/check/pattern"
	"github.com/mcpkiln/mcpkiln/schema"
)

func (r *reader) readType(s *shape, owner, v *schema.Node) {
	names := v.Items
	if v.Kind == schema.String {
		names = []*schema.Node{v}
	}
	var kinds model.Kind
	integer := true
	for _, name := range names {
		kinds |= kindNamed[name.Text]
		integer = integer && name.Text != "number"
	}
	s.kindsAt = owner
	s.kinds &= kinds
	s.integer = s.integer || integer && kinds&model.KindNumber != 0
}

var kindNamed = map[string]model.Kind{
	"null": model.KindNull, "boolean": model.KindBool, "number": model.KindNumber, "integer": model.KindNumber,
	"string": model.KindString, "array": model.KindArray, "object": model.KindObject,
}

func (r *reader) readEnum(s *shape, owner, v *schema.Node) {
	r.reportHugeNumbers(v.Items...)
	s.allowOnly(&enumFacet{at: owner, values: v.Items})
}

func (r *reader) readConst(s *shape, owner, v *schema.Node) {
	r.reportHugeNumbers(v)
	s.allowOnly(&enumFacet{at: owner, values: []*schema.Node{v}, isConst: true})
}

func (r *reader) readProperties(s *shape, owner, v *schema.Node) {
	s.obj.at = owner
	for _, m := range sorted(v.Members) {
		c := allOf{m.Value}
		for i := range s.obj.patternSets {
			also, _ := s.obj.patternSets[i].matching(m.Key)
			c = append(c, also...)
		}
		s.obj.props = append(s.obj.props, property{m.Key, c})
	}
}

func (r *reader) readRequired(s *shape, owner, v *schema.Node) {
	s.obj.at = owner
	for _, name := range v.Items {
		s.obj.required = append(s.obj.required, name.Text)
	}
}

func (r *reader) readAdditionalProperties(s *shape, owner, v *schema.Node) {
	s.obj.at = owner
	if owner.Get("patternProperties") == nil {
		s.obj.additionalProperties = allOf{v}
	}
}

// matchesNoName replaces patterns that are no regular expressions.
var matchesNoName = lazyregexp.New(`[^\x{0}-\x{10ffff}]`)

// readPatterns runs before readProperties, which needs patternSets: readAll reads a schema's keywords in the order of their names.
func (r *reader) readPatterns(s *shape, owner, v *schema.Node) {
	s.obj.at = owner
	set := patternSet{at: owner}
	if additional := owner.Get("additionalProperties"); additional != nil {
		set.additionalProperties = allOf{additional}
	}
	for _, m := range sorted(v.Members) {
		re, err := pattern.Compile(m.Key)
		if err != nil {
			re = matchesNoName() // package schema has reported the pattern
		}
		set.patterns = append(set.patterns, property{m.Key, allOf{m.Value}})
		set.compiled = append(set.compiled, re)
	}
	s.obj.patternSets = append(s.obj.patternSets, set)
}

func (r *reader) readMinProperties(s *shape, owner, v *schema.Node) {
	s.obj.at, s.obj.min = owner, count(v)
}

func (r *reader) readMaxProperties(s *shape, owner, v *schema.Node) {
	s.obj.at, s.obj.max = owner, count(v)
}

// readItems reads items as one schema or, in draft-07, as a list of schemas. Package schema refuses the list in 2020-12.
func (r *reader) readItems(s *shape, owner, v *schema.Node) {
	s.arr.at = owner
	if v.Kind != schema.Array {
		s.arr.items = allOf{v}
		return
	}
	r.readPrefix(s, owner, v)
	if additional := owner.Get("additionalItems"); additional != nil {
		s.arr.items = allOf{additional}
	}
}

func (r *reader) readPrefix(s *shape, owner, v *schema.Node) {
	s.arr.at = owner
	for _, item := range v.Items {
		s.arr.prefix = append(s.arr.prefix, allOf{item})
	}
}

func (r *reader) readMinItems(s *shape, owner, v *schema.Node) { s.arr.at, s.arr.min = owner, count(v) }

func (r *reader) readMaxItems(s *shape, owner, v *schema.Node) { s.arr.at, s.arr.max = owner, count(v) }

func (r *reader) readUnique(s *shape, owner, v *schema.Node) {
	if v.Text == "true" {
		s.arr.at, s.arr.unique = owner, true
	}
}

func (r *reader) readMinLength(s *shape, owner, v *schema.Node) {
	s.str.at, s.str.min = owner, count(v)
}

func (r *reader) readMaxLength(s *shape, owner, v *schema.Node) {
	s.str.at, s.str.max = owner, count(v)
}

func (r *reader) readPattern(s *shape, owner, v *schema.Node) {
	s.str.at, s.str.patterns = owner, []textRule{{owner, v.Text}}
}

func (r *reader) readMinimum(s *shape, owner, v *schema.Node) { r.low(s, owner, v, false) }

func (r *reader) readMaximum(s *shape, owner, v *schema.Node) { r.high(s, owner, v, false) }

func (r *reader) readExclusiveMinimum(s *shape, owner, v *schema.Node) { r.low(s, owner, v, true) }

func (r *reader) readExclusiveMaximum(s *shape, owner, v *schema.Node) { r.high(s, owner, v, true) }

// low reads a lower bound.
func (r *reader) low(s *shape, owner, v *schema.Node, exclusive bool) {
	if x := r.rat(v); x != nil {
		s.num.at = owner
		s.num.min = higher(s.num.min, &bound{x, v.Text, exclusive})
	}
}

// high reads an upper bound.
func (r *reader) high(s *shape, owner, v *schema.Node, exclusive bool) {
	if x := r.rat(v); x != nil {
		s.num.at = owner
		s.num.max = lower(s.num.max, &bound{x, v.Text, exclusive})
	}
}

func (r *reader) readMultipleOf(s *shape, owner, v *schema.Node) {
	if x := r.rat(v); x != nil && x.Sign() > 0 {
		s.num.at, s.num.multiple = owner, x
	}
}

func (r *reader) readAnyOf(s *shape, owner, v *schema.Node) {
	s.groups = append(s.groups, group{owner, false, v.Items})
}

func (r *reader) readOneOf(s *shape, owner, v *schema.Node) {
	s.groups = append(s.groups, group{owner, true, v.Items})
}

func (r *reader) readAllOf(s *shape, _, v *schema.Node) { s.parts = append(s.parts, v.Items...) }

func (r *reader) readRef(s *shape, owner, v *schema.Node) {
	switch target := r.resolve(v); {
	case target == nil:
	case r.meta(target) && !r.meta(owner):
		r.readCondition(s, owner, v) // schemas are kept as JSON
	default:
		s.parts = append(s.parts, target)
	}
}

// resolve returns the target of a $ref or $dynamicRef. A reference without a target is reported.
func (r *reader) resolve(ref *schema.Node) *schema.Node {
	target, d := r.targetOf(ref)
	if d != nil {
		*r.report = append(*r.report, *d)
		return nil
	}
	return target
}

func (r *reader) readTitle(s *shape, _, v *schema.Node) { s.annotations.title = annotationText(v) }

func (r *reader) readDescription(s *shape, _, v *schema.Node) {
	s.annotations.description = annotationText(v)
}

func (r *reader) readDeprecated(s *shape, _, v *schema.Node) {
	s.annotations.deprecated = v.Is(schema.Bool) && v.Text == "true"
}

func (r *reader) readDefault(s *shape, _, v *schema.Node) { s.annotations.byDefault = v }

// annotationText returns the text of a title or description; empty if it is no string.
func annotationText(v *schema.Node) string {
	if v.Is(schema.String) {
		return v.Text
	}
	return ""
}

// count reads a length. Integers may be written as 2.0; lengths beyond any value in memory are cut to 1<<40.
func count(v *schema.Node) *int {
	f, err := strconv.ParseFloat(v.Text, 64)
	if err != nil && f == 0 || f < 0 {
		return nil
	}
	const most = 1 << 40
	n := int(min(f, most))
	return &n
}
