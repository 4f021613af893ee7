package wire

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// Lower turns the rules of one revision into functions and tables for the runtime (REV04). Whatever pkg does not use is left out;
// functions of wires that were made earlier with this Shared are used again.
func Lower(rev *revision.Revision, pkg *model.Package, shared *Shared) (*model.Wire, schema.Diagnostics) {
	l := &wireLowering{rev: rev, pkg: pkg, needs: needsOf(pkg), shared: shared, lacksBlocks: len(shared.Union.LacksTypes(rev, blockDefinition)) > 0}
	l.wire = &model.Wire{
		Revision:  rev.Name,
		Suffix:    revisionSuffix(rev.Name),
		File:      "wire_" + strings.ReplaceAll(rev.Name, "-", "_") + ".gen.go",
		Handshake: rev.Era == revision.Handshake,
		Batches:   rev.Batches,
	}
	if shared.newest == nil {
		shared.newest = l.wire
	}
	if rev.Op("listen", revision.FromClient) != nil {
		l.needs |= forCancelled // ending a subscription
	}
	if !l.wire.Handshake {
		l.reader("request") // the members that all params have; made first, so that other readers share its objects
	}
	l.methods()
	l.custom()
	l.outgoing()
	l.capabilities()
	l.words()
	if pkg.Needs.Tasks {
		l.task()
	}
	l.definitions()
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

	lacksBlocks bool // the revision lacks a type of content blocks
}

// wants reports whether the package needs a row of the tables.
func (l *wireLowering) wants(n need) bool { return n == 0 || l.needs&n != 0 }

// needsOf are the needs of a package.
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
	add(pkg.Needs.Prompts, forPromptRegistry)
	add(pkg.Needs.Resources, forResourceRegistry)
	add(pkg.Needs.Completions, forCompletions)
	for _, s := range pkg.Sends {
		add(true, forCancelled)
		add(s.Op == "Elicit", forElicits|forPages)
		add(s.Op == "CreateMessage", forSampling)
		add(s.Op == "ListRoots", forRoots)
	}
	return n
}

// methods lists the methods that the client may send, and for which the runtime has an operation or the package a handler.
func (l *wireLowering) methods() {
	ops := clientOps()
	for _, m := range byName(l.rev.Methods) {
		if !m.From.Includes(revision.FromClient) {
			continue
		}
		op, ok := ops[m.Op]
		handler := slices.ContainsFunc(l.pkg.Methods, func(h *model.MethodHandler) bool { return h.Name == m.Name })
		if IsHandled(m.Op) {
			ok = handler || l.registered(m.Op)
		}
		switch {
		case handler && !Watches(m.Op):
			op = clientOp{name: "OpMethod", reads: l.reads(m)}
		// The method has no handler, but another method of the capability has one: the runtime answers with an empty list.
		case m.EmptyList != "" && slices.ContainsFunc(l.pkg.Methods, func(h *model.MethodHandler) bool { return h.Capability == m.Capability }):
			op, ok = clientOp{name: "OpEmptyList", reads: l.reads(m)}, true
		}
		if ok && l.wants(op.need) {
			l.wire.Methods = append(l.wire.Methods, l.method(m, op))
		}
	}
}

// custom adds the custom methods, which every revision serves in the same way.
func (l *wireLowering) custom() {
	for _, h := range l.pkg.Methods {
		if !h.Custom {
			continue
		}
		m := &model.Method{Name: h.Name, Op: "OpMethod", NoInput: !l.asks("request")} // NoInput: the answer may not ask (LET16)
		if _, ok := l.rule("request"); ok {
			m.Read = l.reader("request")
		}
		l.wire.Methods = append(l.wire.Methods, m)
	}
	for _, n := range l.pkg.NoticesTaken {
		l.wire.Methods = append(l.wire.Methods, &model.Method{Name: n.Name, Op: "OpNotice", Notification: true})
	}
	slices.SortFunc(l.wire.Methods, func(a, b *model.Method) int { return strings.Compare(a.Name, b.Name) })
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
		NoInput:       IsHandled(m.Op) && !Watches(m.Op) && op.name != "OpEmptyList" && !l.asks(op.reads), // the answer may not ask (LET16)
		Header:        l.header(m.Name),
		Blocks:        l.blocks(m), // where the result has content blocks
	}
	if slot := l.rev.Server.Slot(m.Capability); slot != nil && IsHandled(m.Op) {
		method.Declares = pathText(slot.Path) // the server capability that goes with the method
	}
	if !method.Notification {
		method.Result = l.result(m)
	}
	if op.name == "OpEmptyList" {
		method.EmptyList = m.EmptyList
	}
	if op.reads != "" {
		method.Read = l.reader(op.reads)
	}
	return method
}

// asks reports whether a request with these params may be answered with a question: that needs a slot for the state that the
// retry carries. In revisions in which questions are requests, every handler can ask.
func (l *wireLowering) asks(reads string) bool {
	if _, ok := l.rule("inputRequired"); !ok {
		return true
	}
	rule, ok := l.rule(reads)
	return ok && slices.ContainsFunc(rule.Slots, func(s revision.Slot) bool { return s.Name == "requestState" })
}

// reads is the message of the rules for the params of a method with a handler: the message with the same definition, else the message request, if the
// rules have it. The params of all lists have one definition: listTools is their message, since listTasks is read only where there are tasks.
func (l *wireLowering) reads(m *revision.Method) string {
	for _, rule := range l.rev.Messages {
		if rule.Definition == m.Params && rule.Name != "listTasks" && !l.ofRegistry(rule.Name) {
			return rule.Name
		}
	}
	if _, ok := l.rule("request"); ok {
		return "request"
	}
	return ""
}

// ofRegistry reports whether the runtime reads the message only for a registry, not for a handler of the user, whose own decoder has better errors.
// In stateless revisions it reads getPrompt and readResource for such a handler, too, to recognise a retry (wire.Method.Read).
func (l *wireLowering) ofRegistry(message string) bool {
	return message == "complete" || l.wire.Handshake && (message == "getPrompt" || message == "readResource")
}

// outgoing lists the methods that the server sends, in the order of the table.
func (l *wireLowering) outgoing() {
	for _, op := range serverOps() {
		if !l.wants(op.need) {
			continue
		}
		if m := l.rev.Op(op.rule, revision.FromServer); m != nil {
			l.wire.Outgoing = append(l.wire.Outgoing, l.sent(m, op.name))
		}
	}
	for _, n := range l.pkg.NoticesSent {
		l.wire.Outgoing = append(l.wire.Outgoing, model.Outgoing{Op: "OpCustom", Name: n.Name})
	}
	for _, s := range l.pkg.Sends {
		if s.Extension != "" {
			l.wire.Outgoing = append(l.wire.Outgoing, model.Outgoing{Op: "OpCustomRequest", Name: s.Name, Capability: extensionPath(&l.rev.Client, s.Extension)})
		}
	}
}

// sent is a message that the server sends; if it is a question, with the client capabilities that it needs.
func (l *wireLowering) sent(m *revision.Method, op string) model.Outgoing {
	out := model.Outgoing{Op: op, Name: m.Name}
	if m.Kind == revision.Notification {
		return out
	}
	if slot := l.rev.Client.Slot(m.Capability); slot != nil {
		out.Capability = pathText(slot.Path)
	}
	for _, n := range m.Needs {
		part := model.Need{Member: n.Member, Values: n.Values, Default: n.Default}
		if n.Capability != "" {
			part.Capability = pathText(l.rev.Client.Slot(n.Capability).Path)
		}
		out.Needs = append(out.Needs, part)
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
	for _, name := range l.pkg.Extensions {
		if path := extensionPath(&l.rev.Server, name); path != "" {
			l.wire.Extensions = append(l.wire.Extensions, path)
		}
	}
}

// extensionPath is the path at which a side declares an extension; empty if the revision has no place for one.
func extensionPath(side *revision.Message, name string) string {
	place := side.Slot("extensions")
	if place == nil {
		place = side.Slot("experimental")
	}
	if place == nil {
		return ""
	}
	return pathText(append(slices.Clone(place.Path), name))
}

// task lowers the state machine of tasks. An unknown status is reported here, where a position is known.
func (l *wireLowering) task() {
	t := l.rev.Task
	if t == nil {
		return
	}
	l.wire.Task = &model.TaskRules{Edges: l.edges(t), Flags: taskFlags(t)}
}

func (l *wireLowering) edges(t *revision.Task) []model.TaskEdges {
	var all []model.TaskEdges
	for _, e := range t.Edges {
		edges := model.TaskEdges{From: l.status(e.From)}
		for _, to := range e.To {
			edges.To = append(edges.To, l.status(to))
		}
		all = append(all, edges)
	}
	return all
}

// status is the Go name of a status.
func (l *wireLowering) status(of string) string {
	name, ok := statusNames()[of]
	if !ok {
		l.fail(l.rev.Pos, "unknown-status", "this mcpkiln knows no task status %q", of)
	}
	return name
}

// taskFlags are the fields of wire.TaskRules that are true.
func taskFlags(t *revision.Task) []string {
	var all []string
	for _, f := range []struct {
		name string
		on   bool
	}{
		{"ClientDecides", t.Create == revision.CreateByRequestor},
		{"ServerDecides", t.Create == revision.CreateByReceiver},
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

// rule is the message of the rules with that name.
func (l *wireLowering) rule(name string) (revision.Message, bool) {
	i := slices.IndexFunc(l.rev.Messages, func(m revision.Message) bool { return m.Name == name })
	if i < 0 {
		return revision.Message{}, false
	}
	return l.rev.Messages[i], true
}

// IsHandled reports whether requests with the operation are served by a handler of the user, or by a registry of handlers: that is so if there is no
// operation, or if it is one of registries.
func IsHandled(op string) bool {
	_, registered := registries[op]
	return op == "" || registered
}

// registries are the operations that a registry may serve in place of a handler, with what they are for.
var registries = map[string]need{
	"listPrompts": forPromptRegistry, "getPrompt": forPromptRegistry,
	"listResources": forResourceRegistry, "listResourceTemplates": forResourceRegistry, "readResource": forResourceRegistry,
	"subscribe": forResourceRegistry | forUpdates, "unsubscribe": forResourceRegistry | forUpdates,
	"complete": forCompletions,
}

// Watches reports whether the runtime reads the URI of the request, whoever serves it, to know the subscribers of a resource.
func Watches(op string) bool { return op == "subscribe" || op == "unsubscribe" }

// registered reports whether a registry of the package serves the operation.
func (l *wireLowering) registered(op string) bool {
	of, ok := registries[op]
	return ok && l.needs&of == of
}
