package change

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/subsume"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
)

// tool is a tool of one side, as it was written and as it was lowered.
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

// tool compares a tool that both sides have. What callers send is judged by what the new schema refuses of the old one, what they get
// by what it adds.
func (c *comparison) tool(old, new tool) {
	p := new.place()
	refused := c.received(p, old.Input, new.Input)
	c.defaults(p, old.Input.Root, new.Input.Root)
	c.output(p, old.Tool, new.Tool)
	c.definition(p, old, new)
	c.timeouts(p, old.made, new.made)
	c.taskSupport(p, old.made, new.made)
	c.questions(p, old, new)
	if refused && old.Execution.Tasks() && new.Execution.Tasks() {
		c.found("running-arguments", p, "has running tasks whose stored arguments the new inputSchema may refuse")
	}
}

// received judges a schema of what others send, and reports whether the new one refuses what the old one described, or may.
func (c *comparison) received(p place, old, new *schema.Document) bool {
	v := subsume.Compare(old, new)
	described := v.Refused
	if !v.Refused.None() {
		described = subsume.Compare(closed(old), new).Refused
	}
	switch {
	case described.Value != nil:
		c.found("input-narrower", p, "refuses %s, which it accepted", described.Value.JSON())
	case !described.Decided:
		c.found("input-undecided", p, "may refuse what it accepted: %s", described.Why)
	case v.Refused.Value != nil:
		c.found("input-claimed", p, "refuses %s, which it accepted and did not describe", v.Refused.Value.JSON())
	case !v.Refused.Decided:
		c.found("input-claimed", p, "may refuse properties that it did not describe: %s", v.Refused.Why)
	case v.Accepted.Value != nil:
		c.found("input-wider", p, "accepts %s, which it refused", v.Accepted.Value.JSON())
	}
	return !described.None()
}

// closed is the schema of what d describes: objects without properties that it does not name. It stays as it is where schemas are combined.
func closed(d *schema.Document) *schema.Document {
	d, _ = schema.NewDocument(closedNode(d.Root), d.Shared)
	return d
}

func closedNode(n *schema.Node) *schema.Node {
	if !n.Is(schema.Object) {
		return n
	}
	c := *n
	c.Members = slices.Clone(n.Members)
	open := n.Get("properties") != nil
	for i, m := range c.Members {
		switch m.Key {
		case "properties":
			all := *m.Value
			all.Members = slices.Clone(all.Members)
			for k := range all.Members {
				all.Members[k].Value = closedNode(all.Members[k].Value)
			}
			c.Members[i].Value = &all
		case "items":
			c.Members[i].Value = closedNode(m.Value)
		case "additionalProperties", "patternProperties", "unevaluatedProperties", "allOf", "anyOf", "oneOf", "if", "$ref", "$dynamicRef", "dependentSchemas", "dependencies":
			open = false
		}
	}
	if open {
		no := &schema.Node{Kind: schema.Bool, Text: "false", Pos: n.Pos, Pointer: n.Pointer + "/additionalProperties"}
		c.Members = append(c.Members, schema.Member{Key: "additionalProperties", KeyPos: n.Pos, Value: no})
	}
	return &c
}

// sent judges a schema of what others get.
func (c *comparison) sent(p place, old, new *schema.Document) {
	v := subsume.Compare(old, new)
	switch {
	case v.Accepted.Value != nil:
		c.found("output-wider", p, "may answer %s, which its outputSchema did not allow", v.Accepted.Value.JSON())
	case !v.Accepted.Decided:
		c.found("output-undecided", p, "may answer what its outputSchema did not allow: %s", v.Accepted.Why)
	case v.Refused.Value != nil:
		c.found("output-narrower", p, "never answers %s any more", v.Refused.Value.JSON())
	}
}

func (c *comparison) output(p place, old, new *manifest.Tool) {
	switch {
	case old.Output == nil && new.Output == nil:
	case old.Output == nil:
		c.found("output-added", p, "has an outputSchema now")
	case new.Output == nil:
		c.found("output-removed", p, "has no outputSchema any more")
	default:
		c.sent(p, old.Output, new.Output)
	}
}

// defaults compares the defaults of properties. A property that only one side has is judged by the schemas.
func (c *comparison) defaults(p place, old, new *schema.Node) {
	properties := new.Get("properties")
	if properties == nil {
		return
	}
	for _, m := range properties.Members {
		before := old.Get("properties").Get(m.Key)
		if before == nil {
			continue
		}
		if was, is := before.Get("default"), m.Value.Get("default"); differ(was, is) {
			p.pointer = m.Value.Pointer
			p.pos = m.KeyPos
			c.found("default-changed", p, "takes %s for %s if that is left out, and took %s", value(is), m.Key, value(was))
		}
		c.defaults(p, before, m.Value)
	}
}

func value(n *schema.Node) string {
	if n == nil {
		return "nothing"
	}
	return string(n.JSON())
}

// definition compares what tools/list shows of a tool.
func (c *comparison) definition(p place, old, new tool) {
	before, _ := old.Advertised()
	after, _ := new.Advertised()
	var pinned, shown []string
	for _, key := range []string{"description", "inputSchema"} {
		if differ(before.Get(key), after.Get(key)) {
			pinned = append(pinned, key)
		}
	}
	for _, key := range []string{"title", "icons", "_meta", "outputSchema"} {
		if differ(before.Get(key), after.Get(key)) {
			shown = append(shown, key)
		}
	}
	if len(pinned) > 0 {
		c.found("definition-changed", p, "has another %s: clients that pin it ask again", strings.Join(pinned, " and "))
	}
	if differ(before.Get("annotations"), after.Get("annotations")) {
		c.found("annotations-changed", p, "has the annotations %s, and had %s", value(after.Get("annotations")), value(before.Get("annotations")))
	}
	if len(shown) > 0 {
		c.found("title-changed", p, "has another %s", strings.Join(shown, ", "))
	}
}

// timeouts compares how long calls and tasks may take; zero is for ever.
func (c *comparison) timeouts(p place, old, new *model.Tool) {
	for _, t := range []struct {
		what    string
		was, is int64
		text    [2]string
	}{
		{"a call", int64(old.Cancel.Timeout), int64(new.Cancel.Timeout), [2]string{old.Cancel.Timeout.String(), new.Cancel.Timeout.String()}},
		{"a task", int64(old.Task.Timeout), int64(new.Task.Timeout), [2]string{old.Task.Timeout.String(), new.Task.Timeout.String()}},
	} {
		was, is := endless(t.was, t.text[0]), endless(t.is, t.text[1])
		switch {
		case t.was == t.is || t.what == "a task" && (old.Task.Support == model.TaskForbidden || new.Task.Support == model.TaskForbidden):
		case t.was == 0 || t.is != 0 && t.is < t.was:
			c.found("timeout-shorter", p, "lets %s take %s; before it was %s", t.what, is, was)
		default:
			c.found("timeout-longer", p, "lets %s take %s; before it was %s", t.what, is, was)
		}
	}
	if old.Cancel.Uncancellable != new.Cancel.Uncancellable {
		c.found("cancellation-changed", p, "%s", map[bool]string{true: "can not be cancelled any more", false: "can be cancelled"}[new.Cancel.Uncancellable])
	}
}

func endless(d int64, text string) string {
	if d == 0 {
		return "any time"
	}
	return text
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
