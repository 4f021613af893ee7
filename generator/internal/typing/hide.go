package typing

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// hide gives each type with an UnmarshalJSON the properties whose values its errors must not show. A handler may return such an error, so these
// are the hidden properties of all roots that the type is a part of.
func (t *Types) hide() {
	names := map[*model.Decl][]string{}
	seen := map[string]bool{"": true}
	for _, r := range t.roots {
		if seen[r.hidden] {
			continue
		}
		seen[r.hidden] = true
		for d := range t.reached(func(other root) bool { return other.hidden == r.hidden }) {
			names[d] = append(names[d], strings.Split(r.hidden[1:], "/")...)
		}
	}
	for d, all := range names {
		if d.Unmarshal {
			slices.Sort(all)
			d.Hidden = "/" + strings.Join(slices.Compact(all), "/")
		}
	}
}
