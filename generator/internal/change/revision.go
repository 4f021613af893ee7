package change

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// move compares two revisions for one server.
type move struct {
	comparison
	side     Side
	from, to *revision.Revision
	was, is  *model.Wire
}

// Move says what changes for a server's clients and author when clients move from one revision to another. s.Package is generated for both.
// Everything follows from the rules of the two revisions; rules that are the same are not reported. described counts the definitions of which
// only the description differs.
func Move(s Side, from, to *revision.Revision) (changes []Change, described int) {
	wire := func(name string) *model.Wire {
		return s.Package.Wires[slices.IndexFunc(s.Package.Wires, func(w *model.Wire) bool { return w.Revision == name })]
	}
	m := move{comparison: comparison{new: s}, side: s, from: from, to: to, was: wire(from.Name), is: wire(to.Name)}
	m.session()
	m.methods()
	m.http()
	m.errors()
	for _, t := range s.tools() {
		m.tool(t)
	}
	for _, e := range s.Manifest.Listed() {
		if len(e.Elicitations) > 0 {
			m.foundParts("revision-questions", at(e.Kind+" "+e.Name, e.Pos, e.Node), m.asks())
		}
	}
	m.deprecated()
	return m.judged(), reworded(from, to)
}

// foundParts adds a change that is described in several parts; without parts there is no change.
func (m *move) foundParts(id string, p place, parts []string) {
	if len(parts) > 0 {
		m.found(id, p, "%s", strings.Join(parts, "; "))
	}
}

// session compares how a connection begins and what all messages carry.
func (m *move) session() {
	var parts []string
	if m.from.Era != m.to.Era {
		words := map[revision.Era]string{
			revision.Handshake: "a session is opened once, and holds version and capabilities",
			revision.Stateless: "there is no session, and each request says its version and capabilities in _meta",
		}
		parts = append(parts, words[m.to.Era])
	}
	for _, k := range m.to.Meta {
		if before := m.from.MetaKey(k.Name); k.Required && (before == nil || !before.Required) {
			parts = append(parts, "a request without _meta key "+k.Key+" is refused")
		}
	}
	if m.from.ResultType == nil && m.to.ResultType != nil {
		parts = append(parts, "every result says in "+m.to.ResultType.Key+" what it is")
	}
	if m.from.Batches != m.to.Batches {
		parts = append(parts, map[bool]string{true: "messages may come in one array", false: "messages do not come in arrays any more"}[m.to.Batches])
	}
	m.foundParts("revision-session", place{}, parts)
}

// methods compares the methods that this server serves.
func (m *move) methods() {
	name := func(x *model.Method) string { return x.Name }
	var added []string
	pairs(m.was.Methods, m.is.Methods, name, func(a, b *model.Method) {},
		func(x *model.Method) {
			text := x.Name + " is not taken from clients any more"
			if i := slices.IndexFunc(m.to.Removed, func(r revision.Removed) bool { return r.Name == x.Name }); i >= 0 {
				text = x.Name + " is gone: " + m.to.Removed[i].Instead
			}
			m.found("revision-methods", place{}, "%s", text)
		},
		func(x *model.Method) { added = append(added, x.Name) })
	if len(added) > 0 {
		m.found("revision-answers", place{}, "the server answers %s", strings.Join(added, ", "))
	}
}

// http compares the headers of Streamable HTTP, and the meaning of a closed response stream.
func (m *move) http() {
	var parts []string
	names := func(r *revision.Revision) (all []string) {
		for _, h := range r.HTTP.Headers {
			all = append(all, h.Value)
		}
		return all
	}
	only := func(a, b []string) []string {
		return slices.DeleteFunc(slices.Clone(a), func(x string) bool { return slices.Contains(b, x) })
	}
	if gone := only(names(m.from), names(m.to)); len(gone) > 0 {
		parts = append(parts, "no "+strings.Join(gone, ", ")+" any more")
	}
	if added := only(names(m.to), names(m.from)); len(added) > 0 {
		parts = append(parts, "requests have "+strings.Join(added, ", "))
	}
	if m.from.HTTP.Disconnect != m.to.HTTP.Disconnect {
		parts = append(parts, map[string]string{
			revision.DisconnectCancels: "who drops a response stream cancels its request", revision.DisconnectContinues: "a dropped response stream may be resumed, and cancels nothing",
		}[m.to.HTTP.Disconnect])
	}
	m.foundParts("revision-http", place{}, parts)
}

func (m *move) errors() {
	var parts []string
	needs := m.side.Package.Needs
	unused := map[string]bool{"resourceNotFound": !needs.Resources, "promptNotFound": !needs.Prompts}
	for _, e := range m.from.Errors {
		if code, ok := m.to.ErrorCode(e.Name); ok && code != e.Code && !unused[e.Name] {
			parts = append(parts, fmt.Sprintf("%s is %d, and was %d", e.Name, code, e.Code))
		}
	}
	m.foundParts("revision-errors", place{}, parts)
}

// tool compares how one tool is listed and called.
func (m *move) tool(t tool) {
	before := len(m.changes)
	m.listing(t)
	if t.made.Task.Support != model.TaskForbidden {
		m.foundParts("revision-tasks", t.place(), m.tasks(t.made.Task.Support == model.TaskRequired, len(t.made.Questions) > 0))
	}
	if len(t.made.Questions) > 0 {
		m.foundParts("revision-questions", t.place(), m.asks())
	}
	if len(m.changes) == before {
		m.found("revision-same", t.place(), "is listed and called as before")
	}
}

func (m *move) listing(t tool) {
	old, _ := schema.ParseJSON("", []byte(m.side.Listed(t.made, m.was)))
	new, _ := schema.ParseJSON("", []byte(m.side.Listed(t.made, m.is)))
	var parts []string
	pairs(old.Members, new.Members, func(m schema.Member) string { return m.Key }, func(a, b schema.Member) {},
		func(x schema.Member) { parts = append(parts, "is listed without "+x.Key) },
		func(x schema.Member) { parts = append(parts, "is listed with "+x.Key) })
	m.foundParts("revision-definition", t.place(), parts)
}

// taskWords says what the values of a revision's task rules mean for a client.
var taskWords = map[string]string{
	"create " + revision.CreateByRequestor:            "a client asks for a task in its call",
	"create " + revision.CreateByReceiver:             "the server decides whether a call becomes a task, for clients that declare that they know tasks",
	"result " + revision.ResultBlocks:                 "a request waits for the result",
	"result " + revision.ResultInline:                 "the result comes with the task's status",
	"cancel " + revision.CancelForces:                 "a task is cancelled when tasks/cancel is answered",
	"cancel " + revision.CancelAsks:                   "tasks/cancel asks, and the work may still complete",
	"cancelTerminal " + revision.TerminalRefused:      "to cancel a task that has ended is an error",
	"cancelTerminal " + revision.TerminalAcknowledged: "to cancel a task that has ended is acknowledged",
	"isError " + revision.IsErrorFails:                "a result with isError makes the task failed",
	"isError " + revision.IsErrorCompletes:            "a result with isError completes the task",
	"questions " + revision.QuestionsOnSession:        "its questions come as requests on the session",
	"questions " + revision.QuestionsInline:           "its questions stand in the task's status, and are answered by a request",
	"progress " + revision.ProgressLifetime:           "progress is told until the task ends",
	"progress " + revision.ProgressNone:               "tasks tell no progress",
}

// taskRules are the task rules of a revision, as keys of taskWords.
func taskRules(t *revision.Task, asks bool) []string {
	all := []string{"create " + t.Create, "result " + t.Result, "cancel " + t.Cancel, "cancelTerminal " + t.CancelTerminal, "isError " + t.IsError, "progress " + t.Progress}
	if asks {
		all = append(all, "questions "+t.Questions)
	}
	return all
}

// tasks compares how a tool runs as a task. alone says that it never runs inline.
func (m *move) tasks(alone, asks bool) (parts []string) {
	switch old, new := m.from.Task, m.to.Task; {
	case old == nil && new == nil:
	case new == nil:
		parts = append(parts, "runs inline: there are no tasks")
	case old == nil:
		parts = append(parts, map[bool]string{true: "runs as a task, and not inline any more", false: "runs inline or as a task"}[alone])
		fallthrough
	default:
		var before []string
		if old != nil {
			before = taskRules(old, asks)
		}
		for _, rule := range taskRules(new, asks) {
			if !slices.Contains(before, rule) {
				parts = append(parts, taskWords[rule])
			}
		}
		if old != nil {
			parts = append(parts, m.renamed("taskStatus", revision.FromServer)...)
		}
	}
	return parts
}

// renamed says that the method of an operation has another name; nil if the name is the same.
func (m *move) renamed(op string, side revision.Side) []string {
	old, new := m.from.Op(op, side), m.to.Op(op, side)
	if old == nil || new == nil || old.Name == new.Name {
		return nil
	}
	return []string{new.Name + " stands for " + old.Name}
}

// asks compares how an inline call asks the user.
func (m *move) asks() (parts []string) {
	old, new := m.from.Op("elicit", revision.FromServer), m.to.Op("elicit", revision.FromServer)
	switch {
	case old == nil && new == nil:
	case new == nil:
		parts = append(parts, "can not ask: the revision has no questions, so each goes on as its onUnsupported says")
	case old == nil:
		parts = append(parts, "may ask with "+new.Name)
	case old.Kind == new.Kind:
	case new.Kind == revision.Input:
		text := "asks inside of the call's result"
		if t := m.to.ResultType; t != nil {
			text += fmt.Sprintf(" (%s: %s)", t.Key, t.InputRequired)
		}
		parts = append(parts, text+" in place of the request "+old.Name, "the client calls again with the answers, and the handler runs again from its beginning")
	default:
		parts = append(parts, "asks with the request "+new.Name+" while the call waits, in place of inside of its result")
	}
	return parts
}

// deprecated reports the methods that the server uses and that m.to deprecates, but not m.from.
func (m *move) deprecated() {
	used := map[string]bool{}
	for _, x := range m.is.Methods {
		used[x.Name] = true
	}
	for _, x := range m.is.Outgoing {
		used[x.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		for _, method := range m.to.Methods {
			old := m.from.Method(name, method.From)
			if method.Name == name && method.Deprecated != "" && (old == nil || old.Deprecated == "") {
				m.found("revision-deprecated", place{}, "%s is deprecated: %s", name, method.Deprecated)
			}
		}
	}
}

// reworded counts the definitions that both revisions have and that differ only in titles, descriptions and comments.
func reworded(from, to *revision.Revision) (n int) {
	for _, doc := range from.Documents {
		for _, definition := range doc.Definitions() {
			for _, other := range to.Documents {
				now := other.Definition(definition.Key)
				if now != nil && differ(definition.Value, now) && !differ(bare(definition.Value), bare(now)) {
					n++
				}
			}
		}
	}
	return n
}

// bare is a schema without titles, descriptions and comments.
func bare(n *schema.Node) *schema.Node {
	c := *n
	c.Items = slices.Clone(n.Items)
	for i := range c.Items {
		c.Items[i] = bare(c.Items[i])
	}
	c.Members = slices.DeleteFunc(slices.Clone(n.Members), func(m schema.Member) bool {
		return m.Value.Kind == schema.String && (m.Key == "description" || m.Key == "title" || m.Key == "$comment")
	})
	for i := range c.Members {
		c.Members[i].Value = bare(c.Members[i].Value)
	}
	return &c
}
