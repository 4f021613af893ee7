package wire

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/typing"
	"github.com/mcpkiln/mcpkiln/schema"
)

// viewer makes encoders for one revision of types that are the union over several: they leave out the properties that the revision
// lacks. A type of which the revision lacks nothing keeps its encoder.
type viewer struct {
	types     *typing.Types
	omittedIn map[*schema.Node][]string
	revision  string
	suffix    string
	nodes     map[*model.Decl]*schema.Node
	located   map[*model.Decl]bool
	made      map[string]*model.Decl // by type and properties that are left out; shared by all revisions
	Out       []*model.Decl
}

// Viewers are the viewers of all revisions, by name.
type Viewers map[string]*viewer

// NewViewers makes the viewers of wires. The types must be finished.
func NewViewers(types *typing.Types, p *Protocol, wires []*model.Wire) Viewers {
	all, made := Viewers{}, map[string]*model.Decl{}
	for _, w := range wires {
		v := &viewer{types: types, omittedIn: p.omittedIn, revision: w.Revision, suffix: w.Suffix,
			nodes: map[*model.Decl]*schema.Node{}, located: map[*model.Decl]bool{}, made: made}
		for n, value := range types.Declared {
			if named, ok := value.Type.(model.Named); ok {
				v.nodes[named.Decl] = n
			}
		}
		all[w.Revision] = v
	}
	return all
}

// Append is the name of the encoder of a type for a revision.
func (viewers Viewers) Append(revision string, of *model.Decl) string {
	return viewers[revision].view(of).Append
}

// Settle gives each view its encoder. The views with the type's own encoder and the same validator become one, the first; its validator is that of
// the newest revision with this encoder.
func (viewers Viewers) Settle(all []model.View, of model.TypeRef) []model.View {
	usual := model.View{Append: of.Append}
	for i := len(all) - 1; i >= 0; i-- {
		all[i].Append = of.Append
		if of.Decl != nil {
			all[i].Append = viewers[all[i].Revision].view(of.Decl).Append
		}
		if all[i].Append == of.Append {
			usual.Check = all[i].Check
		}
	}
	settled := []model.View{usual}
	for _, v := range all {
		if v.Append != usual.Append || v.Check != usual.Check {
			settled = append(settled, v)
		}
	}
	return settled
}

// view returns the declaration whose encoder writes d for the revision: a new one, or d.
func (v *viewer) view(d *model.Decl) *model.Decl {
	v.locateIn(d)
	left := v.leftOut(d, map[*model.Decl]bool{})
	if left == "" {
		return d
	}
	key := d.Append + ":" + left
	if made := v.made[key]; made != nil {
		return made
	}
	out := *d
	out.Append = v.types.Names.Take(d.Append + v.suffix)
	out.Use, out.Checks = model.Encode, nil
	out.Marshal, out.Unmarshal = false, false
	v.made[key] = &out
	v.Out = append(v.Out, &out)
	out.Body = v.body(d)
	return &out
}

// leftOut lists the properties of d, and of everything in it, that the revision lacks; empty for none.
func (v *viewer) leftOut(d *model.Decl, seen map[*model.Decl]bool) (names string) {
	if d == nil || seen[d] {
		return ""
	}
	seen[d] = true
	d.Children(func(_ *model.Value, p *model.Prop) {
		if p != nil && v.lacks(d, p) {
			names += " " + d.Append + "." + p.Key
		}
	})
	d.Encoders(func(i *model.Decl) { names += v.leftOut(i, seen) })
	return names
}

// lacks reports whether the revision has no such property.
func (v *viewer) lacks(d *model.Decl, p *model.Prop) bool {
	return slices.Contains(v.omittedIn[v.schemaOf(d, p)], v.revision)
}

func (v *viewer) schemaOf(d *model.Decl, p *model.Prop) *schema.Node {
	return v.nodes[d].Get("properties").Get(p.Key)
}

// locateIn locates the types in d and in all declarations whose encoders it calls.
func (v *viewer) locateIn(d *model.Decl) {
	if d == nil || v.located[d] {
		return
	}
	v.located[d] = true
	d.Children(func(value *model.Value, p *model.Prop) {
		if p != nil {
			v.locate(value, v.schemaOf(d, p))
		}
	})
	d.Encoders(v.locateIn)
}

// locate records the schema of types that have no definition of their own in the protocol.
func (v *viewer) locate(value *model.Value, n *schema.Node) {
	switch t := value.Type.(type) {
	case model.Named:
		if v.nodes[t.Decl] != nil {
			return
		}
		v.nodes[t.Decl] = n
		if u, ok := t.Decl.Body.(*model.Union); ok {
			for i, branch := range itemsOf(n.Get("anyOf")) {
				if i < len(u.Members) {
					v.locate(&model.Value{Type: model.Named{Decl: u.Members[i].Decl}}, branch)
				}
			}
		}
	case *model.Slice:
		v.locate(&t.Elem, n.Get("items"))
	case *model.Map:
		v.locate(&t.Elem, n.Get("additionalProperties"))
	}
}

// body is d's body with the revision's view of everything in it.
func (v *viewer) body(d *model.Decl) model.Body {
	switch b := d.Body.(type) {
	case *model.Struct:
		out := *b
		out.Props = nil
		for _, p := range b.Props {
			if !v.lacks(d, p) {
				seen := *p
				seen.Value = v.value(p.Value)
				out.Props = append(out.Props, &seen)
			}
		}
		if b.Func != nil {
			out.Func = v.view(b.Func)
		}
		return &out
	case *model.Union:
		out := *b
		out.Members = nil
		for _, m := range b.Members {
			seen := *m
			seen.Decl = v.view(m.Decl)
			out.Members = append(out.Members, &seen)
		}
		return &out
	case *model.Defined:
		return &model.Defined{Value: v.value(b.Value)}
	case *model.Element:
		return &model.Element{Value: v.value(b.Value)}
	}
	return d.Body
}

func (v *viewer) value(of model.Value) model.Value {
	switch t := of.Type.(type) {
	case model.Named:
		of.Type = model.Named{Decl: v.view(t.Decl)}
	case *model.Slice:
		out := *t
		out.Elem = v.value(t.Elem)
		if t.Func != nil {
			out.Func = v.view(t.Func)
		}
		of.Type = &out
	case *model.Map:
		out := *t
		out.Elem = v.value(t.Elem)
		if t.Func != nil {
			out.Func = v.view(t.Func)
		}
		of.Type = &out
	}
	return of
}
