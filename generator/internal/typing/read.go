package typing

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/runtime/check/pattern"
	"github.com/mcpkiln/mcpkiln/schema"
)

// reader turns schemas into shapes. Package schema has reported wrong value types and misspelt keywords, so they are
// ignored here.
type reader struct {
	doc      *schema.Document
	keywords map[string]keyword
	scopes   *scopes
	report   *schema.Diagnostics
	active   map[*schema.Node]bool // being merged: a schema that contains itself without a step into the value

	narrowing map[*schema.Node]bool // the same for branches of groups
	shapes    map[*schema.Node]*shape
	owns      map[*schema.Node]*shape
	nulls     map[*shape]bool // takesNull of shapes
	protocol  bool            // the document is one of the protocol
}

// shape reads and merges the schemas of c. What it returns is shared and must not be changed.
func (r *reader) shape(c conj) *shape {
	if len(c) != 1 {
		return r.merge(c)
	}
	s := r.shapes[c[0]]
	if s == nil {
		s = r.merge(c)
		r.shapes[c[0]] = s
	}
	return s
}

func (r *reader) merge(c conj) *shape {
	s := &shape{kinds: model.KindAny}
	for i, n := range c {
		if own := r.own(n); i == 0 {
			*s = *own
		} else {
			s.and(own)
		}
	}
	r.refuseObjects(s)
	narrowByGroups(r, s)
	s.narrowByEnum()
	s.obj.props = slices.Clone(s.obj.props)
	s.obj.sort()
	return s
}

// refuseObjects removes objects from s if a required property has a schema that no value satisfies.
func (r *reader) refuseObjects(s *shape) {
	for _, name := range s.obj.required {
		if slices.ContainsFunc(s.obj.propOrOther(name), r.void) {
			s.kinds &^= model.KindObject
			s.kindsAt = first(s.kindsAt, s.obj.at)
		}
	}
}

// void reports whether n plainly allows no value: false, or not with a schema that allows every value.
func (r *reader) void(n *schema.Node) bool {
	if n.Kind == schema.Bool {
		return n.Text == "false"
	}
	if r.dialect(n) == schema.Draft7 && n.Get("$ref") != nil {
		return false
	}
	not := n.Get("not")
	return not != nil && r.anyValue(not)
}

// anyValue reports whether n plainly allows every value.
func (r *reader) anyValue(n *schema.Node) bool {
	if n.Kind == schema.Bool {
		return n.Text == "true"
	}
	return n.Kind == schema.Object && !slices.ContainsFunc(n.Members, func(m schema.Member) bool {
		k, known := r.keywords[m.Key]
		return known && !k.annotation && !Annotations[m.Key]
	})
}

// own returns the shape of one schema with all that it refers to. It is shared and must not be changed.
func (r *reader) own(n *schema.Node) *shape {
	if own := r.owns[n]; own != nil {
		return own
	}
	own := &shape{kinds: model.KindAny}
	if n.Kind == schema.Bool {
		if n.Text == "false" {
			own.never = n
		}
		return own
	}
	if r.active[n] {
		r.report.Report(n, "endless-ref", "", "the schema contains itself without a step into the value")
		return own
	}
	r.active[n] = true
	defer delete(r.active, n)
	r.readAll(own, n)
	for _, part := range own.parts {
		own.and(r.own(part))
	}
	if own.closing != nil {
		own.obj.and(own.closing)
	}
	own.parts, own.closing = nil, nil
	r.owns[n] = own
	return own
}

func (r *reader) readAll(s *shape, n *schema.Node) {
	if ref := n.Member("$ref"); ref != nil && r.dialect(n) == schema.Draft7 {
		r.read(s, n, ref) // draft-07: keywords beside a $ref are ignored
		return
	}
	for _, m := range sorted(n.Members) {
		r.read(s, n, &m)
	}
}

// sorted returns members by key: their order in the schema must not change what is generated.
func sorted(all []schema.Member) []schema.Member {
	byKey := func(a, b schema.Member) int { return strings.Compare(a.Key, b.Key) }
	if slices.IsSortedFunc(all, byKey) {
		return all
	}
	all = slices.Clone(all)
	slices.SortFunc(all, byKey)
	return all
}

// dialect returns the draft of the document that n stands in.
func (r *reader) dialect(n *schema.Node) schema.Dialect { return r.home(n).Dialect }

func (r *reader) home(n *schema.Node) *schema.Document {
	if home := homeOf(r.doc, n); home != nil {
		return home
	}
	return r.doc
}

// draft7Words are what draft-07 writes for keywords of 2020-12.
var draft7Words = map[string]string{
	"prefixItems": "write items with the list, or ", "dependentRequired": "write dependencies, or ", "dependentSchemas": "write dependencies, or ",
}

// dialectHint returns the hint about a keyword of the other draft.
func (r *reader) dialectHint(n *schema.Node, key string) string {
	home := r.home(n)
	if home.Dialect == schema.Draft7 {
		return draft7Words[key] + "say $schema: " + schema.Draft2020.String()
	}
	return strings.TrimPrefix(home.DialectHint(), "; ")
}

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
	r.computable(v.Items...)
	s.allow(&enumFacet{at: owner, values: v.Items})
}

func (r *reader) readConst(s *shape, owner, v *schema.Node) {
	r.computable(v)
	s.allow(&enumFacet{at: owner, values: []*schema.Node{v}, single: true})
}

func (r *reader) readProperties(s *shape, owner, v *schema.Node) {
	s.obj.at = owner
	for _, m := range sorted(v.Members) {
		c := conj{m.Value}
		for i := range s.obj.sets {
			also, _ := s.obj.sets[i].matching(m.Key)
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
		s.obj.additionalProperties = conj{v}
	}
}

// nothing matches no name.
var nothing = regexp.MustCompile(`[^\x{0}-\x{10ffff}]`)

// readPatterns comes before properties, in the order of keywords.
func (r *reader) readPatterns(s *shape, owner, v *schema.Node) {
	s.obj.at = owner
	set := patternSet{at: owner}
	if rest := owner.Get("additionalProperties"); rest != nil {
		set.additionalProperties = conj{rest}
	}
	for _, m := range sorted(v.Members) {
		re, err := pattern.Compile(m.Key)
		if err != nil {
			re = nothing // which package schema has reported
		}
		set.patterns = append(set.patterns, property{m.Key, conj{m.Value}})
		set.compiled = append(set.compiled, re)
	}
	s.obj.sets = append(s.obj.sets, set)
}

func (r *reader) readMinProperties(s *shape, owner, v *schema.Node) {
	s.obj.at, s.obj.min = owner, count(v)
}

func (r *reader) readMaxProperties(s *shape, owner, v *schema.Node) {
	s.obj.at, s.obj.max = owner, count(v)
}

// readItems reads both forms. Package schema refuses the list in 2020-12.
func (r *reader) readItems(s *shape, owner, v *schema.Node) {
	s.arr.at = owner
	if v.Kind != schema.Array {
		s.arr.items = conj{v}
		return
	}
	r.readPrefix(s, owner, v)
	if rest := owner.Get("additionalItems"); rest != nil {
		s.arr.items = conj{rest}
	}
}

func (r *reader) readPrefix(s *shape, owner, v *schema.Node) {
	s.arr.at = owner
	for _, item := range v.Items {
		s.arr.first = append(s.arr.first, conj{item})
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
	s.str.at, s.str.patterns = owner, []word{{owner, v.Text}}
}

func (r *reader) readMinimum(s *shape, owner, v *schema.Node)          { r.low(s, owner, v, false) }
func (r *reader) readMaximum(s *shape, owner, v *schema.Node)          { r.high(s, owner, v, false) }
func (r *reader) readExclusiveMinimum(s *shape, owner, v *schema.Node) { r.low(s, owner, v, true) }
func (r *reader) readExclusiveMaximum(s *shape, owner, v *schema.Node) { r.high(s, owner, v, true) }

func (r *reader) low(s *shape, owner, v *schema.Node, exclusive bool) {
	if x := r.rat(v); x != nil {
		s.num.at = owner
		s.num.min = higher(s.num.min, &bound{x, v.Text, exclusive})
	}
}

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
	target, d := r.follows(ref)
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
