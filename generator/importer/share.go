package importer

import (
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
	"github.com/mcpkiln/mcpkiln/schema"
)

// sharing finds definitions that several schemas have, so that they become one type in Go.
type sharing struct {
	roots  []**schema.Node         // schemas of tools
	named  map[string]*schema.Node // the definitions to share, by name
	owners map[string]int          // how many schemas have a definition of that name
	order  []string                // the names of all definitions, in the source's order
}

// schemaName matches names of definitions that shared schemas can have.
var schemaName = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_]*$`)

const (
	definitions = "$defs"
	definition  = "#/$defs/"
	shared      = "#/schemas/"
)

// share moves definitions that several schemas have to the top of the manifest. tools/list shows them in each schema again.
func (d *draft) share() {
	s := &sharing{named: map[string]*schema.Node{}, owners: map[string]int{}}
	for i := range d.tools.Members {
		tool := d.tools.Members[i].Value
		for j := range tool.Members {
			if m := &tool.Members[j]; strings.HasSuffix(m.Key, "Schema") && !strings.Contains(textOf(m.Value.Get("$schema")), "draft-07") {
				s.roots = append(s.roots, &m.Value)
				s.collect(m.Value)
			}
		}
	}
	s.dropUnshareable()
	for _, name := range s.order {
		if def := s.named[name]; def != nil {
			put(d.schemas, name, s.pointed(def))
		}
	}
	for _, root := range s.roots {
		*root = s.pointed(s.without(*root))
	}
}

// collect counts the definitions of a schema. A name that stands for different definitions is not shared.
func (s *sharing) collect(root *schema.Node) {
	for _, m := range members(root.Get(definitions)) {
		if s.owners[m.Key]++; s.owners[m.Key] == 1 {
			s.order = append(s.order, m.Key)
			s.named[m.Key] = m.Value
		}
		if def := s.named[m.Key]; def != nil && (!schema.Equal(def, m.Value) || !schemaName().MatchString(m.Key)) {
			delete(s.named, m.Key)
		}
	}
}

// dropUnshareable drops definitions that only one schema has, those that refer to anything that is not shared, and those with an $id in them.
func (s *sharing) dropUnshareable() {
	for name, n := range s.owners {
		if n < 2 {
			delete(s.named, name)
		}
	}
	for before := -1; before != len(s.named); {
		before = len(s.named)
		for name, def := range s.named {
			schema.EachSchema(def, func(n *schema.Node) *schema.Node {
				if ref := n.Get("$ref"); ref != nil && !s.has(ref) || n.Get("$id") != nil {
					delete(s.named, name)
				}
				return n
			})
		}
	}
}

// has reports whether a reference is to a shared definition.
func (s *sharing) has(ref *schema.Node) bool {
	name, ok := strings.CutPrefix(textOf(ref), definition)
	return ok && s.named[name] != nil
}

// pointed returns a schema whose references are to the shared schemas.
func (s *sharing) pointed(root *schema.Node) *schema.Node {
	return schema.EachSchema(root, func(n *schema.Node) *schema.Node {
		if !s.has(n.Get("$ref")) {
			return n
		}
		out := object()
		for _, m := range n.Members {
			if m.Key == "$ref" {
				m.Value = text(shared + strings.TrimPrefix(m.Value.Text, definition))
			}
			out.Members = append(out.Members, m)
		}
		return out
	})
}

// without returns a schema without its definitions that are shared.
func (s *sharing) without(root *schema.Node) *schema.Node {
	out := object()
	for _, m := range root.Members {
		if m.Key == definitions {
			rest := object()
			for _, def := range m.Value.Members {
				if s.named[def.Key] == nil {
					put(rest, def.Key, def.Value)
				}
			}
			if m.Value = rest; len(rest.Members) == 0 {
				continue
			}
		}
		out.Members = append(out.Members, m)
	}
	return out
}
