package typing

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/naming"
	"github.com/mcpkiln/mcpkiln/schema"
)

// readUnevaluatedProperties reads unevaluatedProperties as additionalProperties where the properties that other keywords mention do not depend on
// the value, else as a condition.
func (r *reader) readUnevaluatedProperties(s *shape, owner, v *schema.Node) {
	w := &mentioned{r: r, except: v, seen: map[*schema.Node]bool{}}
	w.add(owner)
	switch {
	case w.depends:
		r.readCondition(s, owner, v)
	case w.all: // no property is left for v
	default:
		s.obj.at = owner
		s.unevaluatedProperties = &objectFacet{at: owner, props: w.names, additionalProperties: allOf{v}, unevaluated: true}
	}
}

// mentioned collects the properties that schemas mention unconditionally.
type mentioned struct {
	r       *reader
	except  *schema.Node // the schema of the unevaluatedProperties that asks, which does not count itself
	seen    map[*schema.Node]bool
	names   []property
	all     bool
	depends bool // what is mentioned depends on the value, or on patterns
}

func (w *mentioned) add(n *schema.Node) {
	if w.seen[n] {
		return
	}
	w.seen[n] = true
	for _, m := range sorted(n.Members) {
		switch m.Key {
		case "allOf":
			for _, part := range m.Value.Items {
				w.add(part)
			}
		case "$ref", "$dynamicRef":
			if target, _ := w.r.targetOf(m.Value); target != nil {
				w.add(target)
			}
		case "anyOf", "oneOf", "if", "dependentSchemas", "patternProperties":
			w.depends = true
		case "additionalProperties", "unevaluatedProperties":
			w.all = w.all || m.Value != w.except
		case "properties":
			for _, p := range m.Value.Members {
				w.names = append(w.names, property{key: p.Key})
			}
		}
	}
}

// unevaluated lowers unevaluatedProperties or unevaluatedItems: a schema for properties or items that no other keyword of the same schema, and
// no schema that applies to the same value, mentions.
func (l *lowering) unevaluated(c condition, v *schema.Node, hint string) model.Body {
	b := &model.Unevaluated{At: l.at(c.at), Items: c.keyword == "unevaluatedItems"}
	g := &evaluating{l: l, items: b.Items, except: v}
	b.Evaluated = g.decl(allOf{c.at}, hint)
	if l.shape(allOf{v}).never == nil {
		b.Schema = l.checkNode(v, hint+"Schema")
	}
	return b
}

// evaluating collects the properties or items that schemas mention, which count as evaluated. Schemas that always apply share one function, those
// under a condition have one each.
type evaluating struct {
	l      *lowering
	items  bool
	except *schema.Node // the schema of the keyword that asks, which does not count itself
}

// decl returns the function that records what the schemas of c mention; nil if they mention nothing.
func (g *evaluating) decl(c allOf, hint string) *model.Decl {
	key := g.key(c)
	if d, ok := g.l.evaluated[key]; ok {
		return d
	}
	d := g.l.newFunc("evaluate", hint)
	g.l.evaluated[key] = d // for schemas that contain themselves
	m := &model.Evaluated{}
	d.Body = m
	seen := map[*schema.Node]bool{}
	for _, n := range c {
		g.add(m, n, hint, seen)
	}
	slices.Sort(m.Names)
	slices.Sort(m.Patterns)
	m.Names, m.Patterns = slices.Compact(m.Names), slices.Compact(m.Patterns)
	if !m.All && m.First == 0 && m.Names == nil && m.Patterns == nil && m.Found == nil && m.Steps == nil {
		g.l.evaluated[key] = nil
		return nil
	}
	return d
}

func (g *evaluating) key(c allOf) string {
	kind := "properties"
	if g.items {
		kind = "items"
	}
	all := []string{kind, g.l.id(g.except)}
	for _, n := range c {
		all = append(all, g.l.id(n))
		if n.Get("unevaluatedItems") != g.except && n.Get("unevaluatedProperties") != g.except {
			all[1] = "" // except makes no difference here
		}
	}
	return strings.Join(all, "\x00")
}

// add adds what n mentions.
func (g *evaluating) add(m *model.Evaluated, n *schema.Node, hint string, seen map[*schema.Node]bool) {
	if seen[n] {
		return
	}
	seen[n] = true
	for _, member := range sorted(n.Members) {
		v := member.Value
		switch member.Key {
		case "allOf":
			for _, part := range v.Items {
				g.add(m, part, hint, seen)
			}
		case "$ref", "$dynamicRef":
			if target, _ := g.l.targetOf(v); target != nil {
				g.add(m, target, hint, seen)
			}
		case "anyOf", "oneOf":
			for i, b := range v.Items {
				g.step(m, b, model.Step{Then: g.decl(allOf{b}, hint+naming.GoName(member.Key)+ordinal(i))}, hint+naming.GoName(member.Key)+ordinal(i))
			}
		case "if":
			g.conditional(m, n, v, hint)
		case "dependentSchemas":
			for _, dependent := range sorted(v.Members) {
				g.step(m, nil, model.Step{Key: dependent.Key, Then: g.decl(allOf{dependent.Value}, hint+naming.GoName(dependent.Key))}, hint)
			}
		default:
			g.mention(m, member.Key, v, hint)
		}
	}
}

// step adds a step unless it mentions nothing.
func (g *evaluating) step(m *model.Evaluated, condition *schema.Node, s model.Step, hint string) {
	if s.Then == nil && s.Else == nil {
		return
	}
	if condition != nil {
		s.If = g.l.checkNode(condition, hint)
	}
	m.Steps = append(m.Steps, s)
}

// conditional adds the step of if, then and else.
func (g *evaluating) conditional(m *model.Evaluated, n, v *schema.Node, hint string) {
	holds := allOf{v}
	if then := n.Get("then"); then != nil {
		holds = append(holds, then)
	}
	s := model.Step{Then: g.decl(holds, hint+"Then")}
	if otherwise := n.Get("else"); otherwise != nil {
		s.Else = g.decl(allOf{otherwise}, hint+"Else")
	}
	g.step(m, v, s, hint+"If")
}

// mention adds a keyword that mentions properties or items.
func (g *evaluating) mention(m *model.Evaluated, keyword string, v *schema.Node, hint string) {
	if g.items {
		switch keyword {
		case "items":
			m.All = true
		case "unevaluatedItems":
			m.All = m.All || v != g.except
		case "prefixItems":
			m.First = max(m.First, len(v.Items))
		case "contains":
			m.Found = append(m.Found, g.l.checkNode(v, hint+"Contains"))
		}
		return
	}
	switch keyword {
	case "properties":
		for i := range v.Members {
			m.Names = append(m.Names, v.Members[i].Key)
		}
	case "patternProperties":
		for i := range v.Members {
			m.Patterns = append(m.Patterns, v.Members[i].Key)
		}
	case "additionalProperties":
		m.All = true
	case "unevaluatedProperties":
		m.All = m.All || v != g.except
	}
}
