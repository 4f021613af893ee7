package lower

import (
	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
)

// defaultAnswer makes the answer that counts when nobody can be asked: every property at its default. The loader has
// checked that required ones have one.
func (l *packageLowering) defaultAnswer(e *manifest.Elicitation, q *model.Question) {
	s, ok := q.Answer.Decl.Body.(*model.Struct)
	if !ok {
		return
	}
	answer := &model.Composite{Of: model.Value{Type: model.Named{Decl: q.Answer.Decl}}}
	for _, p := range s.Props {
		fallback := e.Schema.Root.Get("properties").Get(p.Key).Get("default")
		if p.Name == "" || fallback == nil {
			continue
		}
		if value := l.literal(p, fallback); value != nil {
			answer.Entries = append(answer.Entries, model.Entry{Field: p.Name, Value: value})
		}
	}
	q.Default = answer
}

// literal is the default at n as p holds it. A copy takes it: a required property has no default of its own.
func (l *packageLowering) literal(p *model.Prop, n *schema.Node) model.Literal {
	holder := *p
	l.types.fallback(&holder, n)
	return holder.Default
}
