package change

import (
	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
)

// questions compares the questions of a handler. What the runtime keeps of a call with questions (the journal of a task in the store, or an inline
// call's requestState) identifies a question by its name, and another question of the same name is refused.
func (c *comparison) questions(p place, old, new []manifest.Elicitation) {
	pairs(old, new, func(e manifest.Elicitation) string { return e.Name },
		func(a, b manifest.Elicitation) {
			if a.Message.Value != b.Message.Value || differ(a.Schema.Root, b.Schema.Root) {
				c.found("question-changed", questionPlace(p, b), "asks %s in other words or for other fields", b.Name)
			}
			c.limit(questionPlace(p, b), timeout("an answer to "+b.Name, a.Timeout.Value, b.Timeout.Value))
			if a.BeforeTask.Value != b.BeforeTask.Value {
				c.found("question-moved", questionPlace(p, b), "asks %s %s a task is made of the call", b.Name, map[bool]string{true: "before", false: "after"}[b.BeforeTask.Value])
			}
			if fails(a) != fails(b) {
				c.unasked(p, b)
			}
		},
		func(e manifest.Elicitation) {
			c.found("question-removed", questionPlace(p, e), "asks %s no more", e.Name).Gone = true
		},
		func(e manifest.Elicitation) { c.unasked(p, e) })
}

// unasked reports what happens to a question where the client can not ask its user. It is called for a question for which this is new or has changed.
func (c *comparison) unasked(p place, e manifest.Elicitation) {
	if fails(e) {
		c.found("question-needed", questionPlace(p, e), "asks %s, and fails where the client can not ask its user", e.Name)
	} else {
		c.found("question-added", questionPlace(p, e), "asks %s, and goes on where the client can not ask its user", e.Name)
	}
}

func fails(e manifest.Elicitation) bool {
	return e.OnUnsupported == manifest.Fail || e.OnUnsupported == ""
}

func questionPlace(p place, e manifest.Elicitation) place { return at(p.subject, e.Pos, e.Node) }

// revisions compares which revisions are served.
func (c *comparison) revisions() {
	p := at("", c.new.Manifest.Root.Pos, c.new.Manifest.Root)
	if n := c.new.Manifest.Root.Get("protocol"); n != nil {
		p = at("", n.Pos, n)
	}
	pairs(c.old.Package.Wires, c.new.Package.Wires, func(w *model.Wire) string { return w.Revision }, func(a, b *model.Wire) {},
		func(w *model.Wire) {
			c.found("revision-removed", p, "%s is not served any more", w.Revision).Revisions = []string{w.Revision}
		},
		func(w *model.Wire) {
			c.found("revision-added", p, "%s is served, too", w.Revision).Revisions = []string{w.Revision}
		})
}
