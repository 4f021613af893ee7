package server

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// wire is a Wire prepared for serving: what is looked up while serving is a map or an array.
type wire struct {
	*Wire
	methods map[string]*Method
	names   [opCount]string // of outgoing messages
	pages   []toolPage
	tasks   bool // some tool runs as a task, and the revision lets clients ask for it (TSK01)
}

// Errors of New.
var (
	errNoWires = errors.New("server: the definition has no wires")
)

func compileWires(d *Definition) ([]*wire, error) {
	if len(d.Wires) == 0 {
		return nil, errNoWires
	}
	var wires []*wire
	for _, w := range d.Wires {
		if err := checkWire(w, d.Tools); err != nil {
			return nil, fmt.Errorf("server: wire %s: %w", w.Revision, err)
		}
		wires = append(wires, compileWire(w, d.Tools))
	}
	// Newest first: the first handshake wire is what an unknown version is answered with.
	slices.SortFunc(wires, func(a, b *wire) int { return strings.Compare(b.Revision, a.Revision) })
	return wires, nil
}

func compileWire(w *Wire, tools []Tool) *wire {
	c := &wire{Wire: w, methods: make(map[string]*Method, len(w.Methods)), tasks: hasTasks(w, tools)}
	for i := range w.Methods {
		c.methods[w.Methods[i].Name] = &w.Methods[i]
	}
	for _, o := range w.Outgoing {
		c.names[o.Op] = o.Name
	}
	return c
}

// checkWire finds generated code that does not fit this runtime before the first client does.
func checkWire(w *Wire, tools []Tool) error {
	for _, e := range w.Task.Edges {
		if !e.From.CanBecome(e.To) {
			return fmt.Errorf("the task engine has no edge from %s to %s", e.From, e.To)
		}
	}
	needs := []struct {
		name    string
		missing bool
	}{
		{"AppendInitializeResult", w.Handshake && w.AppendInitializeResult == nil},
		{"AppendToolList", w.AppendToolList == nil},
		{"AppendCallResult", w.AppendCallResult == nil},
		{"AppendProgress", w.AppendProgress == nil},
		{"ReadCallResult", anyTool(tools, func(t *Tool) bool { return t.Handler.whole }) && w.ReadCallResult == nil},
		{"the task functions", hasTasks(w, tools) && (w.AppendTask == nil || w.AppendTaskCreated == nil || w.AppendTaskList == nil)},
	}
	for _, n := range needs {
		if n.missing {
			return fmt.Errorf("%s is missing", n.name)
		}
	}
	return nil
}

func hasTasks(w *Wire, tools []Tool) bool {
	return w.Task.ByParam && anyTool(tools, func(t *Tool) bool { return t.Task.Support != TaskForbidden })
}

func anyTool(tools []Tool, is func(*Tool) bool) bool {
	for i := range tools {
		if is(&tools[i]) {
			return true
		}
	}
	return false
}

// viewOf is t as every revision shows it.
func viewOf(t *task.Task) TaskView {
	v := TaskView{
		ID: t.ID, Status: string(t.Status), StatusMessage: t.StatusMessage,
		CreatedAt: Time(t.CreatedAt), LastUpdatedAt: Time(t.UpdatedAt),
		TTL: MillisOf(t.TTL), PollInterval: MillisOf(t.PollInterval),
	}
	if t.TTL == task.Unlimited {
		v.TTL = -1
	}
	return v
}
