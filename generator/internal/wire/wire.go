package wire

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// Lower lowers what one revision says into the functions and tables that the runtime takes (REV04). What nothing in pkg uses
// is left out, and what a wire that was lowered with the same shared has is not made again.
func Lower(rev *revision.Revision, pkg *model.Package, shared *Shared) (*model.Wire, schema.Diagnostics) {
	l := &wireLowering{rev: rev, pkg: pkg, needs: needsOf(pkg), shared: shared}
	l.wire = &model.Wire{
		Revision:  rev.Name,
		Suffix:    revisionSuffix(rev.Name),
		File:      "wire_" + strings.ReplaceAll(rev.Name, "-", "_") + ".gen.go",
		Handshake: rev.Era == revision.Handshake,
	}
	if rev.Op("listen", revision.FromClient) != nil {
		l.needs |= forCancelled // ending a subscription
	}
	if !l.wire.Handshake {
		l.reader("request") // first, so that others share its parts
	}
	l.methods()
	l.outgoing()
	l.capabilities()
	l.words()
	if pkg.Needs.Tasks {
		l.task()
	}
	for _, m := range wireMessages() {
		if l.wants(m.need) && !(m.field == "ReadRequest" && l.wire.Handshake) {
			l.wireField(m)
		}
	}
	return l.wire, l.diags
}

// revisionSuffix is what identifiers of one revision end in.
func revisionSuffix(name string) string { return strings.ReplaceAll(name, "-", "") }

type wireLowering struct {
	rev    *revision.Revision
	pkg    *model.Package
	needs  need
	wire   *model.Wire
	shared *Shared
	diags  schema.Diagnostics
}

func (l *wireLowering) wants(n need) bool { return n == 0 || l.needs&n != 0 }

// needsOf says which rows of the tables a package uses.
func needsOf(pkg *model.Package) need {
	var n need
	add := func(on bool, bits need) {
		if on {
			n |= bits
		}
	}
	add(pkg.Needs.Tools, forTools)
	add(pkg.Needs.Tasks, forTasks)
	add(pkg.Needs.Results, forResults)
	add(pkg.Needs.Logging, forLogging)
	add(pkg.Needs.Questions, forElicits|forCancelled)
	add(pkg.Needs.PromptsChanged, forPrompts)
	add(pkg.Needs.ResourcesChanged, forResources)
	add(pkg.Needs.ResourceUpdated, forUpdates)
	for _, s := range pkg.Sends {
		add(true, forCancelled)
		add(s.Op == "Elicit", forElicits|forPages)
		add(s.Op == "CreateMessage", forSampling)
		add(s.Op == "ListRoots", forRoots)
	}
	return n
}

// methods lists what the client may send and the runtime has an operation for, or the package a handler.
func (l *wireLowering) methods() {
	for _, m := range byName(l.rev.Methods) {
		if !m.From.Includes(revision.FromClient) {
			continue
		}
		op, ok := clientOps()[m.Op]
		if m.Op == "" || Handled()[m.Op] {
			ok = slices.ContainsFunc(l.pkg.Methods, func(h *model.MethodHandler) bool { return h.Name == m.Name })
		}
		if ok && m.Op == "" {
			op = clientOp{name: "OpMethod", reads: l.reads(m)}
		}
		if ok && l.wants(op.need) {
			l.wire.Methods = append(l.wire.Methods, l.method(m, op))
		}
	}
}

func byName(methods []revision.Method) []*revision.Method {
	all := make([]*revision.Method, len(methods))
	for i := range methods {
		all[i] = &methods[i]
	}
	slices.SortFunc(all, func(a, b *revision.Method) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func (l *wireLowering) method(m *revision.Method, op clientOp) *model.Method {
	method := &model.Method{
		Name:          m.Name,
		Op:            op.name,
		Notification:  m.Kind == revision.Notification,
		Uncancellable: m.Kind == revision.Request && !m.Cancellable,
		Task:          m.Task != "" && l.pkg.Needs.Tasks,
		Cacheable:     l.cacheable(m),
		NoInput:       op.name == "OpMethod" && !l.asks(op.reads),
		Header:        l.header(m.Name),
	}
	if slot := l.rev.Server.Slot(m.Capability); slot != nil && (m.Op == "" || Handled()[m.Op]) {
		method.Declares = pathText(slot.Path)
	}
	if op.reads != "" {
		method.Read = l.reader(op.reads)
	}
	return method
}

// asks tells whether a request with these params may be answered by a result that asks for input: then it has a place for the state
// of its retry. Revisions in which questions are requests can ask from anywhere.
func (l *wireLowering) asks(reads string) bool {
	if _, ok := l.rule("inputRequired"); !ok {
		return true
	}
	rule, ok := l.rule(reads)
	return ok && slices.ContainsFunc(rule.Slots, func(s revision.Slot) bool { return s.Name == "requestState" })
}

// reads is the message whose slots the params of a method with a handler have: the one of the same definition, or what
// every request carries.
func (l *wireLowering) reads(m *revision.Method) string {
	for _, rule := range l.rev.Messages {
		if rule.Definition == m.Params && rule.Name != "listTasks" {
			return rule.Name
		}
	}
	if _, ok := l.rule("request"); ok {
		return "request"
	}
	return ""
}

// outgoing lists what the server sends by itself, in the order of the table.
func (l *wireLowering) outgoing() {
	for _, op := range serverOps() {
		if !l.wants(op.need) {
			continue
		}
		if m := l.rev.Op(op.rule, revision.FromServer); m != nil {
			l.wire.Outgoing = append(l.wire.Outgoing, l.sent(m, op.name))
		}
	}
}

// sent is a message that the server sends, with what a question takes of the client.
func (l *wireLowering) sent(m *revision.Method, op string) model.Outgoing {
	out := model.Outgoing{Op: op, Name: m.Name}
	if m.Kind == revision.Notification {
		return out
	}
	if slot := l.rev.Client.Slot(m.Capability); slot != nil {
		out.Capability = pathText(slot.Path)
	}
	for _, n := range m.Needs {
		out.Needs = append(out.Needs, model.Need{
			Capability: pathText(l.rev.Client.Slot(n.Capability).Path), Member: n.Member, Values: n.Values, Default: n.Default,
		})
	}
	return out
}

func (l *wireLowering) capabilities() {
	fields := capabilityFields()
	if len(l.rev.Extensions) > 0 {
		fields = append(fields, extensionFields()...)
	}
	for _, c := range fields {
		side := &l.rev.Server
		if c.client {
			side = &l.rev.Client
		}
		if slot := side.Slot(c.slot); slot != nil && l.wants(c.need) {
			l.wire.Capabilities = append(l.wire.Capabilities, model.Capability{Field: c.field, Path: pathText(slot.Path)})
		}
	}
}

// task lowers the state machine. The runtime refuses edges that its engine does not have, so an unknown status is
// caught here, where it has a position.
func (l *wireLowering) task() {
	t := l.rev.Task
	if t == nil {
		l.fail(l.rev.Pos, "no-tasks", "revision %s has no tasks, and a tool of this manifest runs as one", l.rev.Name)
		return
	}
	l.wire.Task = &model.TaskRules{Edges: l.edges(t), Flags: taskFlags(t)}
}

func (l *wireLowering) edges(t *revision.Task) []model.TaskEdge {
	var all []model.TaskEdge
	for _, e := range t.Edges {
		for _, to := range e.To {
			from, ok1 := statusNames()[e.From]
			into, ok2 := statusNames()[to]
			if !ok1 || !ok2 {
				l.fail(l.rev.Pos, "unknown-status", "this mcpkiln knows no task status on the way from %q to %q", e.From, to)
				continue
			}
			all = append(all, model.TaskEdge{From: from, To: into})
		}
	}
	return all
}

// taskFlags are the fields of server.TaskRules that are true.
func taskFlags(t *revision.Task) []string {
	var all []string
	for _, f := range []struct {
		name string
		on   bool
	}{
		{"ByParam", t.Create == revision.CreateByRequestor},
		{"ByReceiver", t.Create == revision.CreateByReceiver},
		{"IsErrorFails", t.IsError == revision.IsErrorFails},
		{"CancelForces", t.Cancel == revision.CancelForces},
		{"CancelTerminalRefused", t.CancelTerminal == revision.TerminalRefused},
		{"QuestionsInline", t.Questions == revision.QuestionsInline},
		{"Progress", t.Progress == revision.ProgressLifetime},
	} {
		if f.on {
			all = append(all, f.name)
		}
	}
	return all
}

func (l *wireLowering) fail(pos schema.Position, code, format string, args ...any) {
	l.diags.ReportAt(pos, "", code, "", format, args...)
}

func (l *wireLowering) rule(name string) (revision.Message, bool) {
	i := slices.IndexFunc(l.rev.Messages, func(m revision.Message) bool { return m.Name == name })
	if i < 0 {
		return revision.Message{}, false
	}
	return l.rev.Messages[i], true
}

// Handled are operations of the runtime that a handler of one's own takes part in: it keeps who wants to hear of a resource.
func Handled() map[string]bool { return map[string]bool{"subscribe": true, "unsubscribe": true} }
