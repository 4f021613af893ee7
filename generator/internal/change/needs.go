package change

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema/manifest"
)

// needs compares what a handler's own requests take of the client. Without a list, that may be all that requests of the package take; two that
// list nothing are the same.
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

// taken are the capabilities that a handler with this list may take.
func (s Side) taken(listed []manifest.Text) (all []string) {
	if listed == nil {
		return s.Package.TakenBySends()
	}
	for _, t := range listed {
		all = append(all, t.Value)
	}
	return all
}

// without names what is in all and not in others.
func without(all, others []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(others, name) }), ", ")
}
