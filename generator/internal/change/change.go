package change

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
)

// Change is one thing that is different, with what it means.
type Change struct {
	manifest.ChangeRule
	Subject   string          // tool get_quote; empty for the server
	Message   string          // what is different, in one sentence without the subject
	Pos       schema.Position // of its cause in the manifest
	Pointer   string
	Gone      bool     // Pos is in the old manifest
	Revisions []string // those in which it is seen, if not in all
}

// Side is one of two states of a server.
type Side struct {
	Manifest *manifest.Manifest
	Package  *model.Package
	Source   map[string][]byte // Go files of the package, by name; those of its client with the prefix ClientFiles
	// Listed is what tools/list of a revision shows of a tool.
	Listed func(*model.Tool, *model.Wire) string
}

// comparison collects what is different between two sides.
type comparison struct {
	old, new Side
	changes  []Change
}

// Compare says what is different in new. The gravest changes come first; within a class they are in the order of the axes, then of the manifest.
func Compare(old, new Side) []Change {
	c := comparison{old: old, new: new}
	c.server()
	c.tools()
	c.entries()
	c.revisions()
	c.api()
	return c.judged()
}

// judged gives each change the class that the new manifest has for it, if any, and sorts the changes.
func (c *comparison) judged() []Change {
	for i := range c.changes {
		if class, ok := c.new.Manifest.Classes[c.changes[i].ID]; ok {
			c.changes[i].Class = class
		}
	}
	slices.SortStableFunc(c.changes, Order)
	return c.changes
}

// Order puts the gravest changes first, and of one class those of the first axis.
func Order(a, b Change) int {
	return cmp.Or(slices.Index(manifest.Classes, a.Class)-slices.Index(manifest.Classes, b.Class),
		slices.Index(manifest.Axes, a.Axis)-slices.Index(manifest.Axes, b.Axis))
}

// place is what a change is about: its name for people, and its position in the manifest.
type place struct {
	subject string
	pos     schema.Position
	pointer string
}

func at(subject string, pos schema.Position, n *schema.Node) place {
	p := place{subject, pos, ""}
	if n != nil {
		p.pointer = n.Pointer
	}
	return p
}

// found adds a change.
func (c *comparison) found(id string, p place, format string, args ...any) *Change {
	rule, ok := manifest.Change(id)
	if !ok {
		panic("change: there is no " + id)
	}
	c.changes = append(c.changes, Change{ChangeRule: rule, Subject: p.subject, Pos: p.pos, Pointer: p.pointer, Message: fmt.Sprintf(format, args...)})
	return &c.changes[len(c.changes)-1]
}

// pairs calls both for the elements of old and new with the same name, and gone or added for the others, in their order.
func pairs[T any](old, new []T, name func(T) string, both func(a, b T), gone, added func(T)) {
	find := func(all []T, x T) int { return slices.IndexFunc(all, func(y T) bool { return name(x) == name(y) }) }
	for _, x := range old {
		if i := find(new, x); i >= 0 {
			both(x, new[i])
		} else {
			gone(x)
		}
	}
	for _, x := range new {
		if find(old, x) < 0 {
			added(x)
		}
	}
}

// differ reports whether the JSON of two values differs; either may be nil.
func differ(a, b *schema.Node) bool {
	if a == nil || b == nil {
		return a != b
	}
	return string(a.JSON()) != string(b.JSON())
}
