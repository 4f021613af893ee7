package server

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/internal/defined"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
	"github.com/mcpkiln/mcpkiln/runtime/wire/edit"
)

// revision is a wire.Revision prepared for serving: what is looked up while serving is a map or an array.
type revision struct {
	*wire.Revision
	methods map[string]*wire.Method
	kinds   map[*wire.Method]*inflight.Kind // of the methods' requests; of those that call tools, see Tool.kind
	names   [wire.OpCount]string            // of outgoing messages
	index   uint8                           // in Server.revisions
	// versionKey is Meta.ProtocolVersion, to search for in a message.
	versionKey []byte
	// handlers serve the methods of the definition that this revision has.
	handlers map[string]*methodCodec
	// noticeHandlers handle custom notifications of clients.
	noticeHandlers map[string]*NoticeHandler
	// lists are the cache scopes of the lists that handlers give page by page.
	lists map[string]*listScope
	// watch and unwatch are called with the resources that a subscription names; nil for none.
	watch, unwatch *methodCodec
	info           []byte // how the server names itself
	resultInfo     []byte // info, for the results that the runtime writes; nil: results of the revision do not have it (EXT20)
	serverMeta     []byte // a whole _meta with info, for the results of handlers and middleware; nil: results of the revision do not have it
	// declarable are the paths of the capabilities that clients can declare; declarable[i] is bit i of an ability.
	declarable    []string
	questionRules []questionRule // of the requests to clients that require abilities
	form          []byte         // sample params of a form, to find out which abilities it requires
	page          []byte         // sample params of a request to open a page, for the same
	blocks        string         // where a tool's result has content blocks to be adapted, "" for nowhere
	// structuredMember and errorMember are the members of a tool's result that have its structured content, "" for none, and say that it failed.
	structuredMember, errorMember string
	defined                       *defined.Set // checks the results that middleware makes
	metaMember                    string       // _meta, as the revision names it; "" for none
	metadata                      check.Object // finds metaMember in params
	formNeeds                     ability      // the capabilities that a client must have declared to be asked a form
	extensions                    ability      // the server's extensions, each declared by clients that know it
	tellsRoots                    ability      // declared by clients that notify of changed roots; 0 if the revision has no such notification
	tasks                         bool         // some tool runs as a task, and the revision has a way for it (TSK01)
}

// Errors of New.
var (
	errNoRevisions = errors.New("server: the definition has no revisions")
)

func compileRevisions(d *Definition) ([]*revision, error) {
	if len(d.Revisions) == 0 {
		return nil, errNoRevisions
	}
	var revisions []*revision
	for _, w := range d.Revisions {
		if err := checkRevision(w, d); err != nil {
			return nil, fmt.Errorf("server: revision %s: %w", w.Version, err)
		}
		revisions = append(revisions, compileRevision(w, d))
	}
	watchers(revisions, d)
	// Newest first: an unknown version is answered with the first revision that has a handshake.
	slices.SortFunc(revisions, func(a, b *revision) int { return strings.Compare(b.Version, a.Version) })
	for i, rev := range revisions {
		rev.index = uint8(i)
		for _, m := range rev.methods {
			rev.kinds[m] = rev.kindOf(m)
		}
	}
	return revisions, nil
}

func compileRevision(w *wire.Revision, d *Definition) *revision {
	c := &revision{
		Revision: w, versionKey: []byte(w.Meta.ProtocolVersion), methods: make(map[string]*wire.Method, len(w.Methods)),
		kinds:    make(map[*wire.Method]*inflight.Kind, len(w.Methods)),
		handlers: map[string]*methodCodec{}, noticeHandlers: map[string]*NoticeHandler{}, lists: map[string]*listScope{}, tasks: hasTasks(w, d),
	}
	for i := range d.Methods {
		if codec := d.Methods[i].codec(w.Version); codec != nil {
			c.handlers[d.Methods[i].name] = codec
		}
	}
	for i := range d.Notices {
		c.noticeHandlers[d.Notices[i].name] = &d.Notices[i]
	}
	for i := range w.Methods {
		m := &w.Methods[i]
		c.methods[m.Name] = m
		if m.Op == wire.OpCallTool {
			c.blocks = m.Blocks
		}
		if m.Op == wire.OpMethod && m.Cacheable && m.NoInput { // of the methods that handlers serve and clients may cache, only lists can not ask for input
			c.lists[m.Name] = new(listScope)
		}
		if m.Op == wire.OpPing {
			c.names[wire.OpPing] = m.Name // either side may send it
		}
	}
	for _, o := range w.Outgoing {
		c.names[o.Op] = o.Name
	}
	c.info = edit.AppendOmitting(nil, string(serverInfo(d)), w.View.ServerOmits)
	if !w.Handshake {
		c.resultInfo = c.info
	}
	if w.Meta.ServerInfo != "" && !w.Handshake {
		c.serverMeta = append(append(append(check.AppendString([]byte{'{'}, w.Meta.ServerInfo), ':'), c.info...), '}')
	}
	c.compileQuestions()
	c.metaMember, _ = metaOf(w, "task") // any id: in some revisions a sample has a _meta only if it names a task
	// A sample result shows which member has what.
	failed := w.AppendCallResult(nil, &wire.CallResult{Content: []byte("[]"), StructuredContent: marker, IsError: true})
	c.structuredMember, c.errorMember = memberWithMarker(failed), memberThatIs(failed, "true")
	c.defined = defined.New(w.Defined(), c.metaMember, checkMetaKey)
	c.metadata = check.Object{Names: []string{c.metaMember}, AdditionalProperties: check.Skip}
	c.dropUnserved(d.Tools != nil)
	return c
}

// watchers finds the handlers that are called with the resources of subscriptions: those of resources/subscribe and unsubscribe, also for revisions
// that have other methods.
func watchers(revisions []*revision, d *Definition) {
	handler := func(op wire.Op, revision string) *methodCodec {
		for _, rev := range revisions {
			for i := range d.Methods {
				if m := rev.methods[d.Methods[i].name]; m != nil && m.Op == op {
					return d.Methods[i].codec(revision)
				}
			}
		}
		return nil
	}
	for _, rev := range revisions {
		rev.watch, rev.unwatch = handler(wire.OpSubscribe, rev.Version), handler(wire.OpUnsubscribe, rev.Version)
	}
}

// dropUnserved removes the notifications of capabilities that are not served.
func (rev *revision) dropUnserved(tools bool) {
	served := map[string]bool{root(rev.Capabilities.Tools): tools}
	for i := range rev.Methods {
		if m := &rev.Methods[i]; rev.answers(m) {
			served[root(m.Declares)] = true
		}
	}
	for op, path := range rev.changes() {
		if path != "" && !served[root(path)] {
			rev.names[op] = ""
		}
	}
}

// changes maps each notification of a change to the capability that declares it.
func (rev *revision) changes() map[wire.Op]string {
	c := &rev.Capabilities
	return map[wire.Op]string{
		wire.OpToolsChanged: c.ToolsChanged, wire.OpPromptsChanged: c.PromptsChanged, wire.OpResourcesChanged: c.ResourcesChanged, wire.OpResourceUpdated: c.ResourceUpdated,
	}
}

// root is the first name of a path.
func root(path string) string {
	name, _, _ := strings.Cut(path, "/")
	return name
}

// checkRevision refuses generated code that does not fit this runtime, so that the author finds out before the first client.
func checkRevision(w *wire.Revision, d *Definition) error {
	needs := []struct {
		name    string
		missing bool
	}{
		{"AppendInitializeResult", w.Handshake && w.AppendInitializeResult == nil},
		{"AppendToolList", w.AppendToolList == nil},
		{"AppendCallResult", w.AppendCallResult == nil},
		{"AppendProgress", w.AppendProgress == nil},
		{"ReadCallResult", anyTool(d.Tools, func(t *Tool) bool { return !t.Handler.structured() }) && w.ReadCallResult == nil},
		{"ReadTaskParams", hasTasks(w, d) && w.Task.ClientDecides && w.ReadTaskParams == nil},
		{"the task functions", hasTasks(w, d) && w.Handshake && (w.AppendTask == nil || w.AppendTaskCreated == nil || w.AppendTaskList == nil)},
		{"ReadRequest or an Append function of stateless revisions", !w.Handshake && !stateless(w)},
		{"a way for tasks to hold their questions", hasTasks(w, d) && !w.Handshake && !w.Task.QuestionsInline},
		{"the task functions of stateless revisions", hasTasks(w, d) && !w.Handshake &&
			(w.AppendTaskCreated == nil || w.AppendTaskDetail == nil || w.AppendTaskCancelled == nil || w.AppendTaskUpdated == nil)},
	}
	for _, n := range needs {
		if n.missing {
			return fmt.Errorf("%s is missing", n.name)
		}
	}
	return nil
}

func stateless(w *wire.Revision) bool {
	return w.ReadRequest != nil && w.Meta.ProtocolVersion != "" && w.AppendDiscoverResult != nil && w.AppendUnsupportedVersion != nil &&
		w.AppendMissingCapability != nil && w.AppendInputRequired != nil
}

func hasTasks(w *wire.Revision, d *Definition) bool {
	return (w.Task.ClientDecides || w.Task.ServerDecides) && (d.AddedTasks != nil || anyTool(d.Tools, func(t *Tool) bool { return t.Task.Support != TaskForbidden }))
}

// taskMachine is the state machine that the revisions declare, 0 if no tool runs as a task. A task can be read in each of them, so
// they have to agree on it (TSK07).
func taskMachine(revisions []*revision) (task.Machine, error) {
	var of *revision
	var machine task.Machine
	for _, rev := range revisions {
		if !rev.tasks {
			continue
		}
		m, err := task.NewMachine(rev.Task.Transitions())
		switch {
		case err != nil:
			return 0, fmt.Errorf("server: revision %s: %w", rev.Version, err)
		case of != nil && m != machine:
			return 0, fmt.Errorf("server: revisions %s and %s have different edges for tasks", of.Version, rev.Version)
		}
		of, machine = rev, m
	}
	return machine, nil
}

func anyTool(tools []Tool, is func(*Tool) bool) bool {
	for i := range tools {
		if is(&tools[i]) {
			return true
		}
	}
	return false
}

// view returns t in the revision's form. Revisions differ in the status of a task whose result has isError; the stored one is that of the revision
// which created the task.
func (rev *revision) view(t *task.Task) wire.TaskView {
	v := wire.TaskView{
		ID: t.ID, Status: string(rev.statusOf(t.Kind, t.Status)), StatusMessage: t.StatusMessage,
		CreatedAt: wire.Time(t.CreatedAt), LastUpdatedAt: wire.Time(t.UpdatedAt),
		TTL: wire.MillisOf(t.TTL), PollInterval: wire.MillisOf(t.PollInterval),
	}
	if t.TTL == task.Unlimited {
		v.TTL = -1
	}
	return v
}
