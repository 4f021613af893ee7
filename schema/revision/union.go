package revision

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
)

// Union is what any of several revisions has, to find out what one of them lacks. Every list is sorted.
type Union struct {
	Meta        []string // the keys of _meta
	ResultTypes []string // the members that name the kind of a result
	ToolResult  string   // the definition of a tool's result in the newest revision; "" if tools can be called in none

	// aspects returns what all revisions together list for a definition; nil if none that has the definition lacks any.
	aspects func(a aspect, definition string) []string
}

// NewUnion makes the union of revisions.
func NewUnion(all ...*Revision) *Union {
	u := &Union{aspects: func(a aspect, definition string) []string { return a.together(all, definition) }}
	for _, r := range all {
		for _, k := range r.Meta {
			u.Meta = append(u.Meta, k.Key)
		}
		if r.ResultType != nil {
			u.ResultTypes = append(u.ResultTypes, r.ResultType.Key)
		}
	}
	u.Meta, u.ResultTypes = sorted(u.Meta), sorted(u.ResultTypes)
	newest := ""
	for _, r := range all {
		if m := r.Op("callTool", FromClient); m != nil && r.Name > newest {
			newest, u.ToolResult = r.Name, m.Result
		}
	}
	return u
}

// LacksProperties are the properties of a definition that other revisions have and r does not; nil if r lacks the definition.
func (u *Union) LacksProperties(r *Revision, definition string) []string {
	return u.lacks(ofProperties, r, definition)
}

// LacksTypes are the constants of the property type in a definition that other revisions have and r does not; nil if r lacks the definition.
func (u *Union) LacksTypes(r *Revision, definition string) []string {
	return u.lacks(ofTypes, r, definition)
}

func (u *Union) lacks(a aspect, r *Revision, definition string) []string {
	all := u.aspects(a, definition)
	if all == nil {
		return nil
	}
	own := a.of(r, definition)
	if own == nil {
		return nil
	}
	return without(all, own)
}

func without(all, own []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(own, name) })
}

func sorted(all []string) []string {
	slices.Sort(all)
	return slices.Compact(all)
}

// aspect is a list of a definition by which revisions are compared: of a revision, and in the embedded union.
type aspect struct {
	of func(r *Revision, definition string) []string
	in func(*definitionLists) []string
}

var (
	ofProperties = aspect{(*Revision).Properties, func(l *definitionLists) []string { return l.Properties }}
	ofTypes      = aspect{(*Revision).Types, func(l *definitionLists) []string { return l.Types }}
)

// together is what all revisions together list for a definition; nil if all that have the definition list the same.
func (a aspect) together(all []*Revision, definition string) []string {
	var found []string
	for _, r := range all {
		found = append(found, a.of(r, definition)...)
	}
	found = sorted(found)
	if slices.ContainsFunc(all, func(r *Revision) bool {
		own := a.of(r, definition)
		return own != nil && len(without(found, own)) > 0
	}) {
		return found
	}
	return nil
}

// keysOf are the keys of an object that may be missing.
func keysOf(n *schema.Node) []string {
	if n == nil {
		return nil
	}
	all := make([]string, len(n.Members))
	for i := range n.Members {
		all[i] = n.Members[i].Key
	}
	return all
}

// Properties are the names of a definition's properties, in any of its alternatives, sorted.
func (r *Revision) Properties(definition string) []string {
	var all []string
	r.eachBranch(r.node(definition), 0, func(n *schema.Node) {
		all = append(all, keysOf(n.Get("properties"))...)
	})
	return sorted(all)
}

// Types are the constants that the property type has in the alternatives of a definition, in their order.
func (r *Revision) Types(definition string) []string {
	var all []string
	r.eachBranch(r.node(definition), 0, func(n *schema.Node) {
		if c := n.Get("properties").Get("type").Get("const"); c.Is(schema.String) {
			all = append(all, c.Text)
		}
	})
	return all
}

// node is a definition of the first document that has it, or nil.
func (r *Revision) node(definition string) *schema.Node {
	for i := range r.Documents {
		if n := r.Documents[i].Definition(definition); n != nil {
			return n
		}
	}
	return nil
}

// eachBranch visits a schema and its alternatives, through references.
func (r *Revision) eachBranch(n *schema.Node, depth int, visit func(*schema.Node)) {
	if n == nil || depth > 8 {
		return
	}
	visit(n)
	if ref := n.Get("$ref"); ref.Is(schema.String) {
		r.eachBranch(r.node(ref.Text[strings.LastIndexByte(ref.Text, '/')+1:]), depth+1, visit)
	}
	for _, branch := range slices.Concat(elements(n.Get("anyOf")), elements(n.Get("oneOf"))) {
		r.eachBranch(branch, depth+1, visit)
	}
}
