package typing

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// hide gives each type with an UnmarshalJSON the properties whose values the errors of that must not show. A handler may return such an error,
// so they are those of all roots that the type is a part of, as if a server read the root.
func (t *Types) hide() {
	steps := map[*model.Decl][]string{}
	seen := map[string]bool{"": true}
	for _, r := range t.roots {
		if seen[r.hidden] {
			continue
		}
		seen[r.hidden] = true
		for d := range t.reached(func(other root) bool { return other.hidden == r.hidden }) {
			steps[d] = append(steps[d], strings.Split(r.hidden[1:], "/")...)
		}
	}
	for d, all := range steps {
		if d.Unmarshal {
			slices.Sort(all)
			d.Hidden = "/" + strings.Join(slices.Compact(all), "/")
		}
	}
}
