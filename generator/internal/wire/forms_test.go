package wire

import (
	"slices"
	"testing"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// TestLET05ReadersKnowWhatDefinitionsRequire: what the definition of any request requires of an object that the runtime reads member by
// member is required by the reader, and what tells the objects of a union apart is read.
func TestLET05ReadersKnowWhatDefinitionsRequire(t *testing.T) {
	for _, name := range revision.Names() {
		rev, ds := revision.Load(name)
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		l := &wireLowering{rev: rev, needs: ^need(0), wire: &model.Wire{}, shared: &Shared{Union: revision.Embedded()}}
		for _, m := range rev.Methods {
			op := clientOps()[m.Op]
			rule, ok := l.rule(op.reads)
			if !m.From.Includes(revision.FromClient) || !ok {
				continue
			}
			at, ok := rev.Definition(rule.Definition)
			if !ok {
				t.Fatalf("%s: %s has no definition", name, rule.Name)
			}
			h := held{t, name + " " + m.Name}
			h.against(l.reader(rule.Name).Root, at, "", "")
		}
	}
}

// held holds a reader against its definition.
type held struct {
	t       *testing.T
	message string
}

// requires are the members that every object at a place has.
func requires(at revision.Place) (names []string) {
	all := at.Schemas
	for i := 0; i < len(all); i++ {
		s := all[i]
		if ref := s.Get("$ref"); ref != nil {
			if to, d := s.Document.Resolve(ref.Text, ref); d == nil {
				all = append(slices.Clip(all), revision.Schema{Node: to, Document: s.Document})
			}
		}
		if of := s.Get("allOf"); of != nil {
			for _, n := range of.Items {
				all = append(slices.Clip(all), revision.Schema{Node: n, Document: s.Document})
			}
		}
		if list := s.Get("required"); list != nil {
			for _, n := range list.Items {
				names = append(names, n.Text)
			}
		}
	}
	return names
}

func (h held) against(o *model.WireObject, at revision.Place, path, tag string) {
	key, forms := at.Forms()
	if key != o.Key || len(forms) != len(o.Forms) {
		h.t.Errorf("%s%s is one of %d forms, by %q; %d are read, by %q", h.message, path, len(forms), key, len(o.Forms), o.Key)
		return
	}
	for i, f := range o.Forms {
		h.against(f.Object, forms[i].Place, path+"("+f.Tag+")", key)
	}
	for _, name := range requires(at) {
		i := slices.IndexFunc(o.Members, func(m *model.WireMember) bool { return m.Name == name && m.Required })
		if i < 0 && name != o.Key && name != tag {
			h.t.Errorf("%s needs %s/%s, which nobody reads", h.message, path, name)
		}
	}
	for _, m := range o.Members {
		if inner, ok := at.At(m.Name); ok && m.Object != nil {
			h.against(m.Object, inner, path+"/"+m.Name, "")
		}
	}
}
