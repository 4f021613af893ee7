package typing

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
)

// reader turns schemas into shapes. Package schema has reported wrong value types and misspelt keywords, so they are
// ignored here.
type reader struct {
	doc      *schema.Document
	keywords map[string]keyword // keywordTable
	scopes   *scopes
	report   *schema.Diagnostics
	active   map[*schema.Node]bool // schemas that are being merged: one that is met again contains itself without a step into the value

	narrowing map[*schema.Node]bool   // the same for schemas whose groups are being narrowed
	shapes    map[*schema.Node]*shape // results of shape for single schemas
	owns      map[*schema.Node]*shape // results of own
	nulls     map[*shape]bool         // results of surelyAllowsNull
	protocol  bool                    // the document is one of the protocol
}

// shape reads and merges the schemas of c. What it returns is shared and must not be changed.
func (r *reader) shape(c allOf) *shape {
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

// merge is shape without the cache.
func (r *reader) merge(c allOf) *shape {
	if len(c) == 1 {
		if own := r.own(c[0]); own.obj.at == nil && own.groups == nil && own.enum == nil {
			return own // what follows changes only shapes with one of these
		}
	}
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
		if slices.ContainsFunc(s.obj.propOrOther(name), r.allowsNothing) {
			s.kinds &^= model.KindObject
			s.kindsAt = first(s.kindsAt, s.obj.at)
		}
	}
}

// allowsNothing reports whether n is false, or has a not with a schema that allows every value. It does not look at other keywords.
func (r *reader) allowsNothing(n *schema.Node) bool {
	if n.Kind == schema.Bool {
		return n.Text == "false"
	}
	if r.dialect(n) == schema.Draft7 && n.Get("$ref") != nil {
		return false
	}
	not := n.Get("not")
	return not != nil && r.allowsEverything(not)
}

// allowsEverything reports whether n is true, or has no keyword that constrains values.
func (r *reader) allowsEverything(n *schema.Node) bool {
	if n.Kind == schema.Bool {
		return n.Text == "true"
	}
	return n.Kind == schema.Object && !slices.ContainsFunc(n.Members, func(m schema.Member) bool {
		k, known := r.keywords[m.Key]
		return known && !k.noRule && !Annotations[m.Key]
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
	if own.unevaluatedProperties != nil {
		own.obj.and(own.unevaluatedProperties)
	}
	own.parts, own.unevaluatedProperties = nil, nil
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

// dialect returns the draft of the document that n is in.
func (r *reader) dialect(n *schema.Node) schema.Dialect { return r.home(n).Dialect }

// home returns the document that n is in.
func (r *reader) home(n *schema.Node) *schema.Document {
	if home := homeOf(r.doc, n); home != nil {
		return home
	}
	return r.doc
}

// draft7Words say what to write in draft-07 instead of a keyword of 2020-12.
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
