package typing

import "github.com/mcpkiln/mcpkiln/generator/internal/model"

// breakCycles makes pointers of required struct properties through which a struct would contain itself. No JSON value
// satisfies such a schema, but Go has to compile it.
func breakCycles(decls []*model.Decl) {
	done := map[*model.Decl]bool{}
	for _, d := range decls {
		(&cycles{done: done, open: map[*model.Decl]bool{}}).visit(d)
	}
}

type cycles struct {
	done, open map[*model.Decl]bool
}

func (c *cycles) visit(d *model.Decl) {
	if c.done[d] {
		return
	}
	c.open[d] = true
	switch b := d.Body.(type) {
	case *model.Struct:
		for _, p := range b.Props {
			c.prop(p)
		}
	case *model.Defined:
		if named, ok := b.Value.Type.(model.Named); ok && b.Value.Hold == model.Bare {
			if c.open[named.Decl] {
				b.Value.Hold = model.Pointer
			} else {
				c.visit(named.Decl)
			}
		}
	}
	delete(c.open, d)
	c.done[d] = true
}

func (c *cycles) prop(p *model.Prop) {
	named, ok := p.Value.Type.(model.Named)
	if !ok || p.Name == "" || p.Hold != model.Bare || classOf(&p.Value) != record {
		return
	}
	if c.open[named.Decl] {
		p.Hold = model.Pointer
		return
	}
	c.visit(named.Decl)
}
