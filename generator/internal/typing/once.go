package typing

import "github.com/mcpkiln/mcpkiln/generator/internal/model"

// cacheOutcomes makes a validator cache its outcomes if several functions call it and it calls others. Otherwise the time for
// a JSON text could be exponential in its depth, since each caller may validate the same value (VAL09). Every recursion goes through such a
// validator.
func (t *Types) cacheOutcomes() {
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
		if callers[d] > 1 && calls[d] && onlyValidates(d) {
			d.Once = t.Names.Take(d.Stem + "Once")
		}
	}
}

// onlyValidates reports whether d only validates.
func onlyValidates(d *model.Decl) bool {
	switch d.Body.(type) {
	case *model.Check, model.Condition:
		return true
	}
	return false
}
