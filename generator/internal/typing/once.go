package typing

import "github.com/mcpkiln/mcpkiln/generator/internal/model"

// rememberShared has the verdicts remembered of validators that several places call and that call others: without that, what
// a text costs could be a power of its depth, since each place may look at the same value (VAL09). Every recursion has such a validator.
func (t *Types) rememberShared() {
	callers := map[*model.Decl]int{}
	calls := map[*model.Decl]bool{}
	for _, d := range t.decls {
		if d.Use&model.Decode != 0 {
			Needed(d, model.Decode, func(called *model.Decl, _ model.Use) {
				if called != nil {
					callers[called]++
					calls[d] = true
				}
			})
		}
	}
	for _, d := range t.decls {
		if callers[d] > 1 && calls[d] && looks(d) {
			d.Once = t.Names.Take(d.Stem + "Once")
		}
	}
}

// looks reports whether d keeps nothing of the value.
func looks(d *model.Decl) bool {
	switch d.Body.(type) {
	case *model.Check, model.Condition:
		return true
	}
	return false
}
