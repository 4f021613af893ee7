package typing

import "github.com/mcpkiln/mcpkiln/generator/internal/model"

// breakCycles turns required struct properties into pointers where a struct would contain itself. No finite JSON value
// satisfies such a schema, but the Go type has to compile.
func breakCycles(decls []*model.Decl) {
	done := map[*model.Decl]bool{}
	for _, d := range decls {
		(&cycles{done: done, open: map[*model.Decl]bool{}}).visit(d)
	}
}

// cycles is the state of breakCycles.
type cycles struct {
	done, open map[*model.Decl]bool // open: the declarations that contain the one that is visited, and itself
}

func (c *cycles) visit(d *model.Decl) {
	if c.done[d] {
		return
	}
	c.open[d] = true
	d.Children(func(v *model.Value, of *model.Prop) {
		if named, storage := inside(d, v, of); storage == nil {
			return
		} else if c.open[named] {
			*storage = model.StorePointer
		} else {
			c.visit(named)
		}
	})
	delete(c.open, d)
	c.done[d] = true
}

// inside returns the declared type of v and its storage, if the Go type of d contains that of v directly.
func inside(d *model.Decl, v *model.Value, of *model.Prop) (*model.Decl, *model.Storage) {
	named, ok := v.Type.(model.Named)
	_, defined := d.Body.(*model.Defined)
	switch {
	case !ok:
	case defined && v.Storage == model.StoreBare:
		return named.Decl, &v.Storage
	case of != nil && of.Name != "" && of.Storage == model.StoreBare && classOf(v) == record:
		return named.Decl, &of.Storage
	}
	return nil, nil
}
