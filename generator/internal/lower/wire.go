package lower

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// wire lowers what one revision says into the functions and tables that the runtime takes (REV04). needs leaves out
// what no tool of the package uses.
func wire(rev *revision.Revision, needs model.Needs) (*model.Wire, schema.Diagnostics) {
	l := &wireLowering{rev: rev, needs: needs, made: make(map[string]*model.Message)}
	l.wire = &model.Wire{
		Revision:  rev.Name,
		Suffix:    strings.ReplaceAll(rev.Name, "-", ""),
		File:      "wire_" + strings.ReplaceAll(rev.Name, "-", "_") + ".gen.go",
		Handshake: rev.Era == revision.Handshake,
	}
	l.methods()
	l.outgoing()
	l.capabilities()
	if needs.Tasks {
		l.task()
	}
	for _, m := range wireMessages() {
		if m.wanted(needs) {
			l.wireField(m)
		}
	}
	return l.wire, l.diags
}

type wireLowering struct {
	rev   *revision.Revision
	needs model.Needs
	wire  *model.Wire
	made  map[string]*model.Message // functions by name, so that none is made twice
	diags schema.Diagnostics
}

// methods lists what the client may send and the runtime has an operation for.
func (l *wireLowering) methods() {
	for _, m := range l.rev.Methods {
		op, ok := clientOps()[m.Op]
		if !ok || !m.From.Includes(revision.FromClient) || op.tasks && !l.needs.Tasks {
			continue
		}
		method := &model.Method{
			Name:          m.Name,
			Op:            op.name,
			Notification:  m.Kind == revision.Notification,
			Uncancellable: m.Kind == revision.Request && !m.Cancellable,
			Task:          m.Task != "" && l.needs.Tasks,
		}
		if op.reads != "" {
			method.Read = l.reader(op.reads)
		}
		l.wire.Methods = append(l.wire.Methods, method)
	}
	slices.SortFunc(l.wire.Methods, func(a, b *model.Method) int { return strings.Compare(a.Name, b.Name) })
}

// outgoing lists what the server sends by itself, in the order of the table.
func (l *wireLowering) outgoing() {
	for _, op := range serverOps() {
		if op.tasks && !l.needs.Tasks || op.questions && !l.needs.Questions {
			continue
		}
		i := slices.IndexFunc(l.rev.Methods, func(m revision.Method) bool {
			return m.Op == op.rule && m.From.Includes(revision.FromServer)
		})
		if i >= 0 {
			l.wire.Outgoing = append(l.wire.Outgoing, model.Outgoing{Op: op.name, Name: l.rev.Methods[i].Name})
		}
	}
}

func (l *wireLowering) capabilities() {
	for _, c := range capabilityFields() {
		side := l.rev.Server
		if c.client {
			side = l.rev.Client
		}
		if c.tasks && !l.needs.Tasks || c.client && !l.needs.Questions {
			continue
		}
		for _, slot := range side.Slots {
			if slot.Name == c.slot {
				l.wire.Capabilities = append(l.wire.Capabilities, model.Capability{Field: c.field, Path: strings.Join(slot.Path, "/")})
			}
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
	// The runtime answers tasks/get and tasks/cancel with AppendTask: both have to be the task and nothing else.
	for _, name := range []string{"taskDetail", "taskCancelled"} {
		if m, ok := l.rule(name); ok && !bareTask(m) {
			l.fail(m.Pos, "unknown-shape", "this mcpkiln can not write the message %s of revision %s", name, l.rev.Name)
		}
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
		{"IsErrorFails", t.IsError == revision.IsErrorFails},
		{"CancelForces", t.Cancel == revision.CancelForces},
		{"CancelTerminalRefused", t.CancelTerminal == revision.TerminalRefused},
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
