package lower

import (
	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
)

// defaultAnswer makes the answer for clients that can not ask their user: every property has its default. Package manifest has
// checked that required properties have one.
func (l *packageLowering) defaultAnswer(e *manifest.Elicitation, q *model.Question) {
	s, ok := q.Answer.Decl.Body.(*model.Struct)
	if !ok {
		return
	}
	answer := &model.Composite{Of: model.Value{Type: model.Named{Decl: q.Answer.Decl}}}
	for _, p := range s.Props {
		byDefault := e.Schema.Root.Get("properties").Get(p.Key).Get("default")
		if p.Name == "" || byDefault == nil {
			continue
		}
		if value, ok := l.types.StoredLiteral(&p.Value, p.Storage, byDefault); ok {
			answer.Entries = append(answer.Entries, model.Entry{Field: p.Name, Value: value})
		}
	}
	q.Default = answer
}
