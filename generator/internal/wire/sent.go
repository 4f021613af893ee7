package wire

import (
	"bytes"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/typing"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// Sent makes the validators of what handlers hand over: results of methods, params of questions, results of tools without an
// outputSchema (LET01). They are those of the revision in which it is written. The decoders of the types that handlers see would
// not do: a type is the union over all revisions, and what one of them requires is optional in it.
type Sent struct {
	types     *typing.Types
	protocols []*Protocol // one for each revision, newest first
}

// NewSent takes the definitions of each revision that names lists, and those that they refer to. Those that say the same in several
// have one validator.
func NewSent(types *typing.Types, revisions []*revision.Revision, names func(*revision.Revision) []string) *Sent {
	s := &Sent{types: types}
	for _, r := range NewestFirst(revisions) {
		p := NewProtocol([]*revision.Revision{r}, names(r)...)
		for i, m := range p.defs.Members {
			for _, newer := range s.protocols {
				if p.agrees(newer, m.Key, map[string]bool{}) {
					p.defs.Members[i].Value = newer.Node(m.Key)
					break
				}
			}
		}
		p.Doc, _ = schema.NewDocument(p.Doc.Root, nil)
		s.protocols = append(s.protocols, p)
	}
	return s
}

// agrees reports whether a definition, and all that it refers to, says the same in q.
func (p *Protocol) agrees(q *Protocol, name string, seen map[string]bool) bool {
	if seen[name] {
		return true
	}
	seen[name] = true
	a, b := p.Node(name), q.Node(name)
	if a == nil || b == nil {
		return a == b
	}
	same := bytes.Equal(said(a), said(b))
	a.Walk(func(n *schema.Node) bool {
		if ref := refName(n); ref != "" {
			same = same && p.agrees(q, ref, seen)
		}
		return same
	})
	return same
}

// Views are the validators of a definition, which name looks up, by revision. Revisions without the definition have none, and
// neither have those in which it has nothing that a handler writes.
func (s *Sent) Views(name func(*revision.Revision) string) []model.View {
	var all []model.View
	for i, p := range s.protocols {
		of := name(p.revisions[0])
		if of == "" {
			continue
		}
		v := model.View{Revision: p.revisions[0].Name}
		if n := p.Node(of); n != nil && !p.Empty(n) {
			r := typing.Root{Document: p.Doc, Node: n, Scope: "Sent", Keep: true}
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

// SentParams is the definition of the params of a question in r.
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
