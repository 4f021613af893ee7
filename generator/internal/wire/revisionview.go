package wire

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/typing"
	"github.com/mcpkiln/mcpkiln/schema"
)

// viewer makes encoders for one revision, of types that are the union over several: the encoders leave out the properties that the revision
// lacks. A type of which the revision lacks nothing keeps its encoder.
type viewer struct {
	types     *typing.Types
	omittedIn map[*schema.Node][]string
	revision  string
	suffix    string
	made      map[string]*model.Decl // by type and properties that are left out; shared by all revisions
	Out       []*model.Decl          // those of made that this viewer was the first to need
}

// Viewers are the viewers of all revisions, by name.
type Viewers map[string]*viewer

// NewViewers makes the viewers of wires. The types must be finished.
func NewViewers(types *typing.Types, p *Protocol, wires []*model.Wire) Viewers {
	all, made := Viewers{}, map[string]*model.Decl{}
	for _, w := range wires {
		all[w.Revision] = &viewer{types: types, omittedIn: p.omittedIn, revision: w.Revision, suffix: w.Suffix, made: made}
	}
	return all
}

// Append is the name of the encoder of a type for a revision.
func (viewers Viewers) Append(revision string, of *model.Decl) string {
	return viewers[revision].view(of).Append
}

// Settle sets the encoder of each view of a message, the newest revision's first, and returns those that differ. The first view returned stands for
// all revisions with the type's own encoder and the validator of the newest of them; the others follow.
func (viewers Viewers) Settle(all []model.View, of model.TypeRef) []model.View {
	shared := model.View{Append: of.Append}
	for i := len(all) - 1; i >= 0; i-- {
		all[i].Append = of.Append
		if of.Decl != nil {
			all[i].Append = viewers[all[i].Revision].view(of.Decl).Append
		}
		if all[i].Append == of.Append {
			shared.Check = all[i].Check
		}
	}
	settled := []model.View{shared}
	for _, v := range all {
		if v.Append != shared.Append || v.Check != shared.Check {
			settled = append(settled, v)
		}
	}
	return settled
}

// view returns the declaration whose encoder writes d for the revision: a new one, or d.
func (v *viewer) view(d *model.Decl) *model.Decl {
	omitted := v.omitted(d, map[*model.Decl]bool{})
	if omitted == "" {
		return d
	}
	key := d.Append + ":" + omitted
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

// omitted lists the properties of d, and of everything in it, that the revision lacks; empty for none.
func (v *viewer) omitted(d *model.Decl, seen map[*model.Decl]bool) (names string) {
	if d == nil || seen[d] {
		return ""
	}
	seen[d] = true
	d.Children(func(_ *model.Value, p *model.Prop) {
		if p != nil && v.lacks(p) {
			names += " " + d.Append + "." + p.Key
		}
	})
	d.Encoders(func(i *model.Decl) { names += v.omitted(i, seen) })
	return names
}

// lacks reports whether the revision has no such property: each schema that describes it comes from other revisions alone.
func (v *viewer) lacks(p *model.Prop) bool {
	schemas := v.types.SchemasOf(p)
	return len(schemas) > 0 && !slices.ContainsFunc(schemas, func(n *schema.Node) bool { return !slices.Contains(v.omittedIn[n], v.revision) })
}

// body is d's body with the revision's view of everything in it.
func (v *viewer) body(d *model.Decl) model.Body {
	switch b := d.Body.(type) {
	case *model.Struct:
		out := *b
		out.Props = nil
		for _, p := range b.Props {
			if !v.lacks(p) {
				copied := *p
				copied.Value = v.value(p.Value)
				out.Props = append(out.Props, &copied)
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
			copied := *m
			copied.Decl = v.view(m.Decl)
			out.Members = append(out.Members, &copied)
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
