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
	made     map[*model.Decl]*model.Decl // the type itself where nothing differs
	Out      []*model.Decl
}

// NewViewer needs finished types.
func NewViewer(types *typing.Types, p *Protocol, w *model.Wire) *viewer {
	v := &viewer{types: types, lacking: p.lacking, revision: w.Revision, suffix: w.Suffix,
		nodes: map[*model.Decl]*schema.Node{}, made: map[*model.Decl]*model.Decl{}}
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
	if s, ok := d.Body.(*model.Struct); ok {
		for _, p := range s.Props {
			if v.lacks(d, p) {
				return true
			}
		}
	}
	return slices.ContainsFunc(inner(d), func(i *model.Decl) bool { return v.differs(i, seen) })
}

// lacks reports whether the revision has no such property, and notes where the types below it come from.
func (v *viewer) lacks(d *model.Decl, p *model.Prop) bool {
	n := v.nodes[d].Get("properties").Get(p.Key)
	v.locate(&p.Value, n)
	return slices.Contains(v.lacking[n], v.revision)
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

// inner lists the declarations that an encoder of d calls.
func inner(d *model.Decl) []*model.Decl {
	switch b := d.Body.(type) {
	case *model.Struct:
		all := []*model.Decl{b.Func}
		for _, p := range b.Props {
			all = append(all, called(&p.Value)...)
		}
		return all
	case *model.Union:
		var all []*model.Decl
		for _, m := range b.Members {
			all = append(all, m.Decl)
		}
		return all
	case *model.Defined:
		return called(&b.Value)
	case *model.Element:
		return called(&b.Value)
	}
	return nil
}

func called(v *model.Value) []*model.Decl {
	switch t := v.Type.(type) {
	case model.Named:
		return []*model.Decl{t.Decl}
	case *model.Slice:
		return append(called(&t.Elem), t.Func)
	case *model.Map:
		return append(called(&t.Elem), t.Func)
	}
	return nil
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
