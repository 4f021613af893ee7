package change

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/subsume"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
)

// tool is a tool of one side, in the manifest and in the model (made).
type tool struct {
	*manifest.Tool
	made *model.Tool
}

func (t tool) place() place { return at("tool "+t.Name, t.Pos, t.Node) }

func (s Side) tools() (all []tool) {
	for i := range s.Manifest.Tools {
		t := &s.Manifest.Tools[i]
		j := slices.IndexFunc(s.Package.Tools, func(m *model.Tool) bool { return m.Name == t.Name })
		all = append(all, tool{t, s.Package.Tools[j]})
	}
	return all
}

func (c *comparison) tools() {
	pairs(c.old.tools(), c.new.tools(), func(t tool) string { return t.Name }, c.tool,
		func(t tool) {
			c.found("tool-removed", t.place(), "is gone").Gone = true
			if t.Execution.Tasks() {
				c.found("running-tool-removed", t.place(), "ran as a task, and has no handler any more").Gone = true
			}
		},
		func(t tool) { c.found("tool-added", t.place(), "is new") })
}

// tool compares a tool that both sides have. A new input breaks callers if it refuses what the old one accepted, a new output if it
// allows what the old one did not.
func (c *comparison) tool(old, new tool) {
	p := new.place()
	refused := c.received(p, old.Input, new.Input)
	c.defaults(p, old.Input, new.Input)
	stored := c.output(p, old.Tool, new.Tool)
	c.definition(p, old, new)
	c.limits(p, old.made, new.made)
	c.taskSupport(p, old.made, new.made)
	c.questions(p, old.Elicitations, new.Elicitations)
	c.needs(p, old.ClientCapabilities, new.ClientCapabilities)
	if !old.Execution.Tasks() || !new.Execution.Tasks() {
		return
	}
	if refused {
		c.found("running-arguments", p, "has running tasks whose stored arguments the new inputSchema may refuse")
	}
	if stored != "" {
		c.found("running-results", p, "has results of tasks in store %s", stored)
	}
}

// received compares schemas of values that the server receives, and reports whether the new one refuses, or may refuse, values that the old one accepted,
// but for those of properties that only the new one names.
func (c *comparison) received(p place, old, new *schema.Document) bool {
	v := subsume.Compare(old, new)
	described := v.Refused
	if !v.Refused.None() {
		described = subsume.Compare(unclaimed(old, new), new).Refused
	}
	switch {
	case described.Value != nil:
		c.found("input-narrower", p, "refuses %s, which it accepted", described.Value.JSON())
	case !described.Decided:
		c.found("input-undecided", p, "may refuse what it accepted: %s", described.Why)
	case v.Refused.Value != nil:
		c.found("input-claimed", p, "refuses %s; before, properties that its schema did not name could hold anything", v.Refused.Value.JSON())
	case !v.Refused.Decided:
		c.found("input-claimed", p, "may refuse values of properties that its schema did not name before: %s", v.Refused.Why)
	case v.Accepted.Value != nil:
		c.found("input-wider", p, "accepts %s, which it refused", v.Accepted.Value.JSON())
	}
	return !described.None()
}

// sent compares schemas of values that the server sends, and reports whether the new one refuses, or may refuse, values that the old one allowed.
func (c *comparison) sent(p place, old, new *schema.Document) (refuses bool) {
	v := subsume.Compare(old, new)
	switch {
	case v.Accepted.Value != nil:
		c.found("output-wider", p, "may answer %s, which its outputSchema did not allow", v.Accepted.Value.JSON())
	case !v.Accepted.Decided:
		c.found("output-undecided", p, "may answer what its outputSchema did not allow: %s", v.Accepted.Why)
	case v.Refused.Value != nil:
		c.found("output-narrower", p, "never answers %s any more", v.Refused.Value.JSON())
	case v.Refused.Decided && differ(old.Root, new.Root):
		c.found("output-described", p, "has another outputSchema, which allows the same")
	}
	return !v.Refused.None()
}

// output compares outputSchemas, and says why clients of the new one may refuse stored results of the old one; "" if they do not.
func (c *comparison) output(p place, old, new *manifest.Tool) (stored string) {
	switch {
	case old.Output == nil && new.Output == nil:
	case old.Output == nil:
		c.found("output-added", p, "has an outputSchema now")
		return "that have no structuredContent, which the new outputSchema asks for"
	case new.Output == nil:
		c.found("output-removed", p, "has no outputSchema any more")
	case c.sent(p, old.Output, new.Output):
		return "that the new outputSchema may refuse"
	}
	return ""
}

// definition compares what tools/list shows of a tool.
func (c *comparison) definition(p place, old, new tool) {
	before, _ := old.Advertised()
	after, _ := new.Advertised()
	var pinned []string
	for _, key := range []string{"description", "inputSchema"} {
		if differ(before.Get(key), after.Get(key)) {
			pinned = append(pinned, key)
		}
	}
	if len(pinned) > 0 {
		c.found("definition-changed", p, "has another %s: clients that pin it ask again", strings.Join(pinned, " and "))
	}
	if differ(before.Get("annotations"), after.Get("annotations")) {
		c.found("annotations-changed", p, "has the annotations %s, and had %s", value(after.Get("annotations")), value(before.Get("annotations")))
	}
	for _, shown := range [][2]string{{"title", "title-changed"}, {"icons", "icons-changed"}, {"_meta", "meta-changed"}} {
		if key, id := shown[0], shown[1]; differ(before.Get(key), after.Get(key)) {
			c.found(id, p, "has another %s", key)
		}
	}
}

// taskSupport compares how a tool runs, in the revisions that have tasks.
func (c *comparison) taskSupport(p place, old, new *model.Tool) {
	if old.Task.Support == new.Task.Support {
		return
	}
	id := map[model.TaskSupport]string{model.TaskForbidden: "task-forbidden", model.TaskOptional: "task-optional", model.TaskRequired: "task-required"}[new.Task.Support]
	words := map[model.TaskSupport]string{model.TaskForbidden: "inline alone", model.TaskOptional: "inline or as a task", model.TaskRequired: "as a task alone"}
	found := c.found(id, p, "runs %s, and ran %s", words[new.Task.Support], words[old.Task.Support])
	for _, w := range slices.Concat(c.old.Package.Wires, c.new.Package.Wires) {
		if w.Task != nil && !slices.Contains(found.Revisions, w.Revision) {
			found.Revisions = append(found.Revisions, w.Revision)
		}
	}
}
