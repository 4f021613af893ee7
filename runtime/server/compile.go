package server

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// wire is a Wire prepared for serving: what is looked up while serving is a map or an array.
type wire struct {
	*Wire
	methods map[string]*Method
	names   [opCount]string // of outgoing messages
	place   uint8           // in Server.wires
	// versionKey is Meta.ProtocolVersion, to search for.
	versionKey []byte
	// handlers serve the methods of the definition that this revision has.
	handlers map[string]*methodCodec
	// watch and unwatch are told of the resources that a subscription names, nil for none.
	watch, unwatch *methodCodec
	pages          atomic.Pointer[[]toolPage]
	// declarable are the paths of what clients can declare, in the order of the bits of ability.
	declarable []string
	questions  []question
	form       []byte  // params of a prompt, to see what it takes of a client
	page       []byte  // of a request to open a page, as far as that tells
	metaMember string  // of messages, for their metadata; "" for none
	asking     ability // what it takes
	tasks      bool    // some tool runs as a task, and the revision has a way for it (TSK01)
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
		wires = append(wires, compileWire(w, d))
	}
	watchers(wires, d)
	// Newest first: the first handshake wire is what an unknown version is answered with.
	slices.SortFunc(wires, func(a, b *wire) int { return strings.Compare(b.Revision, a.Revision) })
	for i, w := range wires {
		w.place = uint8(i)
	}
	return wires, nil
}

func compileWire(w *Wire, d *Definition) *wire {
	c := &wire{
		Wire: w, versionKey: []byte(w.Meta.ProtocolVersion), methods: make(map[string]*Method, len(w.Methods)),
		handlers: map[string]*methodCodec{}, tasks: hasTasks(w, d.Tools),
	}
	for i := range d.Methods {
		if codec := d.Methods[i].codec(w.Revision); codec != nil {
			c.handlers[d.Methods[i].name] = codec
		}
	}
	for i := range w.Methods {
		m := &w.Methods[i]
		c.methods[m.Name] = m
		if m.Op == OpPing {
			c.names[OpPing] = m.Name // either side may send it
		}
	}
	for _, o := range w.Outgoing {
		c.names[o.Op] = o.Name
	}
	c.compileQuestions()
	c.metaMember, _ = metaOf(w, "task")
	c.silence(len(d.Tools) > 0)
	return c
}

// watchers finds the handlers for revisions whose subscriptions name resources: those of revisions that have a request for it.
func watchers(wires []*wire, d *Definition) {
	handler := func(op Op, revision string) *methodCodec {
		for _, w := range wires {
			for i := range d.Methods {
				if m := w.methods[d.Methods[i].name]; m != nil && m.Op == op {
					return d.Methods[i].codec(revision)
				}
			}
		}
		return nil
	}
	for _, w := range wires {
		w.watch, w.unwatch = handler(OpSubscribe, w.Revision), handler(OpUnsubscribe, w.Revision)
	}
}

// silence removes the notifications of capabilities that are not served.
func (w *wire) silence(tools bool) {
	served := map[string]bool{root(w.Capabilities.Tools): tools}
	for i := range w.Methods {
		if m := &w.Methods[i]; w.handlers[m.Name] != nil {
			served[root(m.Declares)] = true
		}
	}
	for op, path := range w.notices() {
		if path != "" && !served[root(path)] {
			w.names[op] = ""
		}
	}
}

// notices are the notifications that a capability of their own declares.
func (w *wire) notices() map[Op]string {
	c := &w.Capabilities
	return map[Op]string{
		OpToolsChanged: c.ToolsChanged, OpPromptsChanged: c.PromptsChanged, OpResourcesChanged: c.ResourcesChanged, OpResourceUpdated: c.ResourceUpdated,
	}
}

// root is the first name of a path.
func root(path string) string {
	name, _, _ := strings.Cut(path, "/")
	return name
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
		{"ReadCallResult", anyTool(tools, func(t *Tool) bool { return t.Handler.unstructured() }) && w.ReadCallResult == nil},
		{"ReadTaskParams", hasTasks(w, tools) && w.Task.ByParam && w.ReadTaskParams == nil},
		{"the task functions", hasTasks(w, tools) && w.Handshake && (w.AppendTask == nil || w.AppendTaskCreated == nil || w.AppendTaskList == nil)},
		{"ReadRequest or an Append function of stateless revisions", !w.Handshake && !stateless(w)},
		{"that tasks hold their questions", hasTasks(w, tools) && !w.Handshake && !w.Task.QuestionsInline},
		{"the task functions of stateless revisions", hasTasks(w, tools) && !w.Handshake &&
			(w.AppendTaskCreated == nil || w.AppendTaskDetail == nil || w.AppendTaskCancelled == nil || w.AppendTaskUpdated == nil)},
	}
	for _, n := range needs {
		if n.missing {
			return fmt.Errorf("%s is missing", n.name)
		}
	}
	return nil
}

func stateless(w *Wire) bool {
	return w.ReadRequest != nil && w.Meta.ProtocolVersion != "" && w.AppendDiscoverResult != nil && w.AppendUnsupportedVersion != nil &&
		w.AppendMissingCapability != nil && w.AppendInputRequired != nil
}

func hasTasks(w *Wire, tools []Tool) bool {
	return (w.Task.ByParam || w.Task.ByReceiver) && anyTool(tools, func(t *Tool) bool { return t.Task.Support != TaskForbidden })
}

func anyTool(tools []Tool, is func(*Tool) bool) bool {
	for i := range tools {
		if is(&tools[i]) {
			return true
		}
	}
	return false
}

// view is t as the revision shows it. Revisions differ in what a result with isError makes of a task; what is stored is what
// the one that created it made of it.
func (w *wire) view(t *task.Task) TaskView {
	v := TaskView{
		ID: t.ID, Status: string(w.statusOf(t.Kind, t.Status)), StatusMessage: t.StatusMessage,
		CreatedAt: Time(t.CreatedAt), LastUpdatedAt: Time(t.UpdatedAt),
		TTL: MillisOf(t.TTL), PollInterval: MillisOf(t.PollInterval),
	}
	if t.TTL == task.Unlimited {
		v.TTL = -1
	}
	return v
}
