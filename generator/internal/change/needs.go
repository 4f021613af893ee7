package change

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema/manifest"
)

// needs compares the client capabilities that a handler's requests need, as the manifest lists them. Without a list, the handler may need all that
// any request of the package needs; if neither side has a list, nothing is reported.
func (c *comparison) needs(p place, old, new []manifest.Text) {
	if old == nil && new == nil {
		return
	}
	before, after := c.old.taken(old), c.new.taken(new)
	if more := without(after, before); more != "" {
		c.found("client-needs-more", p, "may ask the client for %s, and refuse one that lacks it", more)
	}
	if less := without(before, after); less != "" {
		c.found("client-needs-less", p, "never asks the client for %s any more", less)
	}
}

// taken are the client capabilities that a handler with this list may need.
func (s Side) taken(listed []manifest.Text) (all []string) {
	if listed == nil {
		return s.Package.TakenBySends()
	}
	for _, t := range listed {
		all = append(all, t.Value)
	}
	return all
}

// without joins the names that are in all and not in others.
func without(all, others []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(others, name) }), ", ")
}
