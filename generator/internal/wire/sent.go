package wire

import (
	"strconv"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/typing"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// Sent makes validators for what handlers return and send: results of methods, params of requests to the client, results of tools without an
// outputSchema (LET01). Each is for the revision in which the message is written. The decoders of the handlers' types are
// not enough: a type is the union over all revisions, and members that one revision requires are optional in it.
type Sent struct {
	types     *typing.Types
	protocols []*Protocol // one for each revision, newest first
}

// NewSent takes the definitions of each revision that names lists, and those that they refer to. Equal definitions of several
// revisions share one validator.
func NewSent(types *typing.Types, revisions []*revision.Revision, names func(*revision.Revision) []string) *Sent {
	s := &Sent{types: types}
	for _, r := range NewestFirst(revisions) {
		p := NewProtocol([]*revision.Revision{r}, names(r)...)
		p.restrictMeta()
		for i, m := range p.defs.Members {
			for _, newer := range s.protocols {
				if p.agrees(newer, m.Key, map[string]bool{}) {
					p.defs.Members[i].Value = newer.Node(m.Key)
					break
				}
			}
		}
		p.Doc, _ = schema.NewDocument(p.Doc.Root, nil) // again, since definitions were replaced; it can not fail, as in NewProtocol
		s.protocols = append(s.protocols, p)
	}
	return s
}

// metaObject is the definition of _meta as handlers may write it: it restricts the names of members (LET04).
const metaObject = "MetaObject"

// restrictMeta makes each _meta of the definitions a metaObject.
func (p *Protocol) restrictMeta() {
	ref := &schema.Node{Kind: schema.String, Text: "#/$defs/" + metaObject}
	for i, m := range p.defs.Members {
		p.defs.Members[i].Value = withMeta(m.Value, schema.Member{Key: "$ref", Value: ref})
	}
	rule := placed(schema.MetaObject(), p.defs.Pointer+"/"+metaObject)
	if m := p.defs.Member(metaObject); m != nil {
		m.Value = rule
	} else {
		p.defs.Members = append(p.defs.Members, schema.Member{Key: metaObject, Value: rule})
	}
}

// withMeta is a copy of n in which each _meta has ref, a $ref. Properties of _meta stay.
func withMeta(n *schema.Node, ref schema.Member) *schema.Node {
	out := *n
	out.Items = make([]*schema.Node, len(n.Items))
	for i, item := range n.Items {
		out.Items[i] = withMeta(item, ref)
	}
	out.Members = make([]schema.Member, len(n.Members))
	for i, m := range n.Members {
		m.Value = withMeta(m.Value, ref)
		out.Members[i] = m
	}
	switch meta := out.Get("properties").Get(metaMember); {
	case meta == nil || meta.Get("$ref") != nil:
	case meta.Get("properties") != nil:
		meta.Members = append(meta.Members, ref)
	default:
		meta.Members = []schema.Member{ref}
	}
	return &out
}

// placed is a copy of n whose JSON Pointer is pointer.
func placed(n *schema.Node, pointer string) *schema.Node {
	out := *n
	out.Pointer = pointer
	out.Items, out.Members = nil, nil
	for i, item := range n.Items {
		out.Items = append(out.Items, placed(item, pointer+"/"+strconv.Itoa(i)))
	}
	for _, m := range n.Members {
		m.Value = placed(m.Value, pointer+"/"+m.Key)
		out.Members = append(out.Members, m)
	}
	return &out
}

// agrees reports whether a definition, and all that it refers to, is the same in p and q.
func (p *Protocol) agrees(q *Protocol, name string, seen map[string]bool) bool {
	if seen[name] {
		return true
	}
	seen[name] = true
	a, b := p.Node(name), q.Node(name)
	if a == nil || b == nil {
		return a == b
	}
	same := assertSame(a, b)
	a.Walk(func(n *schema.Node) bool {
		if ref := refName(n); ref != "" {
			same = same && p.agrees(q, ref, seen)
		}
		return same
	})
	return same
}

// Views are the validators of a definition, one view for each revision that has it; name returns the definition's name in a revision. Where a
// handler writes nothing of it, the view has no validator.
func (s *Sent) Views(name func(*revision.Revision) string) []model.View {
	var all []model.View
	for i, p := range s.protocols {
		of := name(p.revisions[0])
		if of == "" {
			continue
		}
		v := model.View{Revision: p.revisions[0].Name}
		if n := p.Node(of); n != nil && !p.Empty(n) {
			// Keep, as for all definitions of the protocol. The prefix keeps the names apart from those of the handlers' types.
			r := typing.Root{Document: p.Doc, Node: n, DefsPrefix: "Sent", Keep: true}
			if i > 0 {
				r.Suffix = revisionSuffix(v.Revision)
			}
			v.Check = s.types.Check(r)
		}
		all = append(all, v)
	}
	return all
}

// SentResult is the definition of a method's result in r.
func SentResult(method string) func(r *revision.Revision) string {
	return func(r *revision.Revision) string {
		if m := r.Method(method, revision.FromClient); m != nil {
			return m.Result
		}
		return ""
	}
}

// SentParams is the definition of the params of a request to the client in r.
func SentParams(method string) func(r *revision.Revision) string {
	return func(r *revision.Revision) string {
		if m := r.Method(method, revision.FromServer); m != nil {
			return m.Params
		}
		return ""
	}
}

// SentCall is the definition of a tool's result in r.
func SentCall(r *revision.Revision) string { return ResultOf([]*revision.Revision{r}) }
