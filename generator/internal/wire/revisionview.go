package wire

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/typing"
	"github.com/mcpkiln/mcpkiln/schema"
)

// viewer makes the encoders of one revision for types that are the union over several: they leave out what the revision
// lacks. A type that says the same in it keeps the encoder that it has.
type viewer struct {
	types    *typing.Types
	lacking  map[*schema.Node][]string
	revision string
	suffix   string
	nodes    map[*model.Decl]*schema.Node
	located  map[*model.Decl]bool
	made     map[*model.Decl]*model.Decl // the type itself where nothing differs
	Out      []*model.Decl
}

// NewViewer needs finished types.
func NewViewer(types *typing.Types, p *Protocol, w *model.Wire) *viewer {
	v := &viewer{types: types, lacking: p.lacking, revision: w.Revision, suffix: w.Suffix,
		nodes: map[*model.Decl]*schema.Node{}, located: map[*model.Decl]bool{}, made: map[*model.Decl]*model.Decl{}}
	for n, value := range types.Declared {
		if named, ok := value.Type.(model.Named); ok {
			v.nodes[named.Decl] = n
		}
	}
	return v
}

// Viewers are those of all revisions, by name.
type Viewers map[string]*viewer

// Settle gives each view its encoder. Those that are alike become one: the type's own encoder, as the newest revision that
// writes with it has it.
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

// view returns the declaration whose encoder writes d as the revision has it: a new one, or d.
func (v *viewer) view(d *model.Decl) *model.Decl {
	v.locateIn(d)
	if !v.differs(d, map[*model.Decl]bool{}) {
		return d
	}
	if made := v.made[d]; made != nil {
		return made
	}
	out := *d
	out.Append = v.types.Names.Take(d.Append + v.suffix)
	out.Use, out.Checks = model.Encode, nil
	out.Marshal, out.Unmarshal = false, false
	v.made[d] = &out
	v.Out = append(v.Out, &out)
	out.Body = v.body(d)
	return &out
}

// differs reports whether d or anything in it has a property that the revision lacks.
func (v *viewer) differs(d *model.Decl, seen map[*model.Decl]bool) bool {
	if d == nil || seen[d] {
		return false
	}
	seen[d] = true
	differs := false
	d.Children(func(_ *model.Value, p *model.Prop) { differs = differs || p != nil && v.lacks(d, p) })
	d.Encoders(func(i *model.Decl) { differs = differs || v.differs(i, seen) })
	return differs
}

// lacks reports whether the revision has no such property.
func (v *viewer) lacks(d *model.Decl, p *model.Prop) bool {
	return slices.Contains(v.lacking[v.schemaOf(d, p)], v.revision)
}

func (v *viewer) schemaOf(d *model.Decl, p *model.Prop) *schema.Node {
	return v.nodes[d].Get("properties").Get(p.Key)
}

// locateIn locates the types in d and in all that its encoder calls.
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

// locate notes the schema of types that have no definition of their own.
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
