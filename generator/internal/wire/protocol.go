package wire

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// Protocol is the definitions of several revisions merged into one document: a Go type of handlers is the union of its
// definitions in all of them. Members that the runtime writes are left out: a handler that could write a resultType would have to
// know for which revision.
type Protocol struct {
	revisions      []*revision.Revision // newest first: the descriptions of the newest become comments
	Doc            *schema.Document
	defs           *schema.Node
	messages       map[string]bool // definitions that are the params or the result of a method
	ownedByRuntime map[string]bool // members of messages that the runtime reads and writes itself
	filled         map[string]bool // members of messages that the runtime writes where a handler leaves them out
	// omittedIn has, by the schema of a property, the revisions that lack the property: it is not written in their messages.
	omittedIn map[*schema.Node][]string
}

// NewProtocol merges the definitions with these names, and those that they refer to.
func NewProtocol(revisions []*revision.Revision, names ...string) *Protocol {
	p := &Protocol{
		revisions:      NewestFirst(revisions),
		messages:       map[string]bool{},
		ownedByRuntime: map[string]bool{},
		filled:         map[string]bool{metaMember: true},
		omittedIn:      map[*schema.Node][]string{},
	}
	if len(names) > 0 {
		for _, r := range p.revisions {
			p.recordOwned(r)
		}
	}
	p.defs = &schema.Node{Kind: schema.Object, Pointer: "/$defs"}
	root := &schema.Node{Kind: schema.Object, Members: []schema.Member{{Key: "$defs", Value: p.defs}}}
	for _, name := range names {
		p.define(name)
	}
	p.Doc, _ = schema.NewDocument(root, nil)
	return p
}

// recordOwned records the members that the runtime reads and writes in r (tasks, the answers and the state of a retried call, the type of a result)
// or fills in, and the definitions that are messages.
func (p *Protocol) recordOwned(r *revision.Revision) {
	if call := r.Message("callTool"); call != nil {
		for _, name := range []string{"task", "inputResponses", "requestState"} {
			if slot := call.Slot(name); slot != nil && len(slot.Path) == 1 {
				p.ownedByRuntime[slot.Path[0]] = true
			}
		}
	}
	if r.ResultType != nil {
		p.ownedByRuntime[r.ResultType.Key] = true
	}
	if list := r.Message("toolList"); list != nil {
		for _, name := range []string{"cacheTTL", "cacheScope"} {
			if slot := list.Slot(name); slot != nil && len(slot.Path) == 1 {
				p.filled[slot.Path[0]] = true
			}
		}
	}
	for _, name := range r.MessageDefinitions {
		p.messages[name] = true
	}
}

// MembersOf returns the members of n; none if n is nil.
func MembersOf(n *schema.Node) []schema.Member {
	if n == nil {
		return nil
	}
	return n.Members
}

func itemsOf(n *schema.Node) []*schema.Node {
	if n == nil {
		return nil
	}
	return n.Items
}

// definition returns a definition from the first document of a revision that has it; nil for "", the name where there is no reference.
func definition(r *revision.Revision, name string) *schema.Node {
	if name == "" {
		return nil
	}
	for i := range r.Documents {
		if n := r.Documents[i].Definition(name); n != nil {
			return n
		}
	}
	return nil
}

// refName is the definition that n refers to, or empty.
func refName(n *schema.Node) string {
	ref := n.Get("$ref")
	if !ref.Is(schema.String) {
		return ""
	}
	return ref.Text[strings.LastIndexByte(ref.Text, '/')+1:]
}

// Node returns the merged definition, or nil if no revision has it.
func (p *Protocol) Node(name string) *schema.Node { return p.defs.Get(name) }

// define merges one definition and everything that it refers to.
func (p *Protocol) define(name string) {
	if p.defs.Get(name) != nil {
		return
	}
	var parts []revisionSchema
	for _, r := range p.revisions {
		if n := definition(r, name); n != nil {
			parts = append(parts, revisionSchema{r, n})
		}
	}
	if len(parts) == 0 {
		return
	}
	// The member is added before its value is known, so that a definition may refer to itself.
	at := len(p.defs.Members)
	p.defs.Members = append(p.defs.Members, schema.Member{Key: name, Value: &schema.Node{Kind: schema.Object}})
	p.defs.Members[at].Value = p.merge(parts, "/$defs/"+schema.EscapeToken(name), name)
}

// ResultOf is the definition of a tool's result, in the newest of revisions that has tools.
func ResultOf(revisions []*revision.Revision) string {
	for _, r := range NewestFirst(revisions) {
		if m := r.Op("callTool", revision.FromClient); m != nil {
			return m.Result
		}
	}
	return ""
}

func NewestFirst(revisions []*revision.Revision) []*revision.Revision {
	return slices.SortedFunc(slices.Values(revisions), func(a, b *revision.Revision) int { return strings.Compare(b.Name, a.Name) })
}

// Empty reports whether a message has nothing for handlers: no member but _meta.
func (p *Protocol) Empty(n *schema.Node) bool {
	if name := refName(n); name != "" {
		n = p.Node(name)
	}
	for _, m := range MembersOf(n.Get("properties")) {
		if m.Key != metaMember {
			return false
		}
	}
	return n.Get("anyOf") == nil
}
