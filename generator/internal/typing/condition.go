package typing

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/naming"
	"github.com/mcpkiln/mcpkiln/schema"
)

// condition is a keyword without influence on the Go type. A validator of its own reads the same bytes.
type condition struct {
	at      *schema.Node // the schema that has it
	keyword string
	lists   bool // of dependencies and dependentRequired: it is about their lists of names, not about schemas
}

// ofEveryKind are the conditions that look at values of every kind.
var ofEveryKind = map[string]bool{"not": true, "if": true, "$ref": true}

func (r *reader) readCondition(s *shape, owner, v *schema.Node) {
	s.conditions = append(s.conditions, condition{at: owner, keyword: keywordAt(owner, v)})
}

// readNot reads not: {} as the schema false, because some libraries write it that way.
func (r *reader) readNot(s *shape, owner, v *schema.Node) {
	switch {
	case r.allowsEverything(v):
		s.never = first(s.never, owner)
	case !r.allowsNothing(v):
		r.readCondition(s, owner, v)
	}
}

// readDependencies reads dependencies as two conditions, one for its schemas and one for its lists of names. dependentRequired, which has only lists, is
// read in the same way.
func (r *reader) readDependencies(s *shape, owner, v *schema.Node) {
	c := condition{at: owner, keyword: keywordAt(owner, v)}
	s.conditions = append(s.conditions, c, condition{c.at, c.keyword, true})
}

func keywordAt(owner, v *schema.Node) string { return v.Pointer[len(owner.Pointer)+1:] }

// nullMayViolate reports whether s allows null and has conditions that null may violate.
func (s *shape) nullMayViolate() bool {
	return s.kinds&model.KindNull != 0 && slices.ContainsFunc(s.conditions, func(c condition) bool { return ofEveryKind[c.keyword] })
}

// condition returns the validator of a condition, one for all places; nil if there is nothing to check.
func (l *lowering) condition(c condition, hint string) *model.Decl {
	if d := l.conditions[c]; d != nil {
		return d
	}
	if l.alwaysHolds(c) {
		return nil
	}
	if c.keyword == "$ref" {
		return l.checkNode(l.resolve(c.at.Get("$ref")), "MetaSchema")
	}
	hint += naming.GoName(c.keyword)
	d := l.newFunc("check", hint)
	l.conditions[c] = d
	d.Body = l.conditionBody(c, hint)
	return d
}

// alwaysHolds reports whether every value satisfies a condition.
func (l *lowering) alwaysHolds(c condition) bool {
	unconstrained := func(n *schema.Node) bool { return n == nil || l.shape(allOf{n}).unconstrained() }
	v := c.at.Get(c.keyword)
	switch c.keyword {
	case "if":
		return unconstrained(c.at.Get("then")) && unconstrained(c.at.Get("else"))
	case "propertyNames", "unevaluatedProperties", "unevaluatedItems":
		return unconstrained(v)
	case "contains":
		low, high := l.containsBounds(c.at)
		return low == 0 && high == nil
	case "dependentRequired", "dependentSchemas", "dependencies":
		return !slices.ContainsFunc(v.Members, func(m schema.Member) bool {
			return (m.Value.Kind == schema.Array) == c.lists && (c.lists && len(m.Value.Items) > 0 || !c.lists && !unconstrained(m.Value))
		})
	}
	return false
}

func (l *lowering) conditionBody(c condition, hint string) model.Body {
	v := c.at.Get(c.keyword)
	switch {
	case c.keyword == "not":
		s := l.forbidden(v, c.at)
		return &model.Not{At: l.at(c.at), Branch: l.checkNode(v, hint+"Schema"), Key: s.key, Lacks: s.lacks, Allowed: s.allowed}
	case c.keyword == "if":
		then, otherwise := l.because(v, c.at)
		return &model.If{
			Because: then, Unless: otherwise,
			If:   l.checkNode(v, hint+"Schema"),
			Then: l.checkIfAny(c.at.Get("then"), hint+"Then"),
			Else: l.checkIfAny(c.at.Get("else"), hint+"Else"),
		}
	case c.keyword == "propertyNames":
		return l.eachName(v, hint)
	case c.keyword == "contains":
		b := &model.Contains{At: l.at(c.at), Item: l.checkNode(v, hint+"Schema")}
		b.Min, b.Max = l.containsBounds(c.at)
		return b
	case c.keyword == "unevaluatedProperties" || c.keyword == "unevaluatedItems":
		return l.unevaluated(c, v, hint)
	case c.lists:
		return l.dependentNames(c, v)
	default:
		return l.dependentSchemas(v, hint)
	}
}

// checkIfAny is checkUnlessFree for a schema that may be missing.
func (l *lowering) checkIfAny(n *schema.Node, hint string) *model.Decl {
	if n == nil {
		return nil
	}
	return l.checkUnlessFree(allOf{n}, hint)
}

// containsBounds returns how many items must and may be found.
func (l *lowering) containsBounds(at *schema.Node) (low int, high *int) {
	low = 1
	if l.dialect(at) == schema.Draft7 {
		return low, nil
	}
	if v := at.Get("minContains"); v != nil && count(v) != nil {
		low = *count(v)
	}
	if v := at.Get("maxContains"); v != nil {
		high = count(v)
	}
	return low, high
}

func (l *lowering) dependentNames(c condition, v *schema.Node) model.Body {
	b := &model.Dependents{At: l.at(c.at), Keyword: c.keyword}
	for _, m := range sorted(v.Members) {
		var names []string
		for _, name := range m.Value.Items {
			names = append(names, name.Text)
		}
		if m.Value.Kind == schema.Array && names != nil {
			b.Keys, b.Names = append(b.Keys, m.Key), append(b.Names, names)
		}
	}
	return b
}

func (l *lowering) dependentSchemas(v *schema.Node, hint string) model.Body {
	b := &model.When{}
	for _, m := range sorted(v.Members) {
		if m.Value.Kind == schema.Array {
			continue
		}
		if d := l.checkUnlessFree(allOf{m.Value}, hint+naming.GoName(m.Key)); d != nil {
			b.Keys, b.Schemas = append(b.Keys, m.Key), append(b.Schemas, d)
		}
	}
	return b
}

// eachName is the body for propertyNames: it checks the name of each member of an object.
func (l *lowering) eachName(v *schema.Node, hint string) model.Body {
	name := l.newFunc("check", hint+"Member")
	name.Body = &model.NameOf{Schema: l.checkNode(v, hint+"Schema")}
	member := model.Value{Type: model.Raw{}, Checks: []model.Assertion{&model.Conjunct{Decl: name}}}
	object := model.KindCase{Kind: model.KindObject, Value: model.Value{Type: &model.Map{Elem: member}}}
	return &model.Check{Value: model.Value{Type: &model.ByKind{Allowed: model.KindAny, Cases: []model.KindCase{object}}}}
}
