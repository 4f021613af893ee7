package typing

import "github.com/mcpkiln/mcpkiln/generator/internal/model"

// leaveDefaultsOut makes properties with a default optional in types that are sent, since a sender must be able to leave them out: there a default
// is documentation. If such a type is also received, decoding still sets the default.
func (t *Types) leaveDefaultsOut() {
	sent, received := t.reached(func(r root) bool { return r.sent }), t.reached(func(r root) bool { return !r.sent })
	for _, d := range t.decls {
		if s, ok := d.Body.(*model.Struct); ok && sent[d] {
			for _, p := range s.Props {
				t.leaveDefaultOut(p, received[d])
			}
		}
	}
}

func (t *Types) leaveDefaultOut(p *model.Prop, received bool) {
	if t.defaults[p] == nil {
		return
	}
	p.Presence = presence(false, p.Value.Null, false)
	if !received {
		delete(t.defaults, p)
		p.Doc = append(p.Doc[:len(p.Doc):len(p.Doc)], "Not set, it is left out, which means "+p.DefaultText+".")
		p.DefaultText = ""
	}
}

// reached returns the declarations that the roots for which some is true consist of.
func (t *Types) reached(some func(root) bool) map[*model.Decl]bool {
	all := map[*model.Decl]bool{}
	var reach func(*model.Decl, model.Use)
	reach = func(d *model.Decl, u model.Use) {
		if d == nil || all[d] {
			return
		}
		all[d] = true
		Needed(d, u, reach)
	}
	for _, r := range t.roots {
		if some(r) {
			reach(r.decl, model.Decode|model.Encode)
		}
	}
	return all
}
