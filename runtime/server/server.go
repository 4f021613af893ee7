package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"hash/maphash"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/internal/quota"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// Server serves one Definition to any number of connections. Its methods are safe for concurrent use.
type Server struct {
	def       Definition
	cfg       config
	log       *slog.Logger // writes to records
	records   *LogQueue
	rates     *rates
	revisions []*revision // newest first
	// stateless are those of them without a handshake.
	stateless      []*revision
	versions       []string // the names of all revisions
	declared       declarations
	sealer         *sealer
	tools          registry[Tool]
	ofTasks        toolsOfTasks
	prompts        registry[Prompt]                // by name
	resources      registry[Resource]              // by URI
	templates      registry[ResourceTemplate]      // by URI template
	off            atomic.Pointer[map[string]bool] // tools that are switched off; nil: none
	middleware     Handle                          // the outermost middleware; nil: none
	observed       bool                            // there is an observer: events are made
	toolMiddleware ToolHandle                      // the outermost middleware of tools; nil: none
	takesNotices   bool                            // there are handlers of custom notifications
	tracker        *inflight.Tracker
	engine         *task.Engine  // nil when no tool runs as a task
	resumed        sync.Once     // ResumeTasks was called
	ids            atomic.Uint64 // the last id of a peer
	calls          quota.Limit   // requests in flight
	bytes          quota.Limit   // bytes of requests in flight, and of what else is kept for clients (peer.charge)
	unread         budget        // bytes of answers, until the client has read them
	opened         budget        // answers for which openers are being read into a file or memory, one each
	files          fileRoom      // bytes of temporary files with that data
	openersWaiting atomic.Int64  // how many of opened wait for space for their files
	coming         budget        // bytes of outputs of tasks, and of answers that are larger than answerSizes
	probes         probes        // slots for runs of handlers that have not answered yet
	toolLists      answerSizes   // answers of tools/list
	taskLists      answerSizes   // answers of tasks/list
	sizeCache      sizeCache     // sizes of answers by handler and caller
	reputations    reputations   // how callers read
	encoding       encoders      // slots for encoding outputs
	decoding       chan struct{} // has an element while one input takes bytes of the second half of Server.bytes
	// treeSizes and completionSizes are the sizes of answers that belong to no registry entry.
	treeSizes, completionSizes answerSizes
	// requests keeps requests that are over, for their buffers.
	requests sync.Pool
	runs     sync.Pool // the same, of those that stand for runs of tasks: they have no frame
	bodies   sync.Pool // of requests
	readings sync.Pool // *reading, for Route
	large    largeBuffers
	closed   sync.Pool // closed accounts, for reuse

	mu    sync.Mutex // guards what follows
	peers map[uint64]*peer
	// accounts are those of the requestors that have peers, or late handlers; anonymous is that of the zero Requestor.
	accounts  map[Requestor]*account
	anonymous account
	// late are peers that are gone, with handlers that were still running then.
	late []*peer

	// taskLives are those of the unfinished tasks whose sessions are connected: notifications and questions of the tasks go there.
	taskLives map[string]*taskLife
	// streams are the open requests for a task's result that somebody reads, by task.
	streams map[string]map[*delivery]struct{}
	claims  map[questionID]*claim    // which delivery has an open question
	offers  map[questionID]*delivery // of questions that are being offered to the sessions of their tasks
	// listens are the open subscriptions.
	listens     map[*listen]struct{}
	taskListens map[string]map[*listen]struct{} // subscriptions to a task, by its id
	followers   followers                       // of resources and lists
	// checks validate the answers of open questions of running tasks.
	checks map[questionID]*answerCheck
	// waitingForSlot has the tool of each task whose run waits for a slot of it, or ended while it waited.
	waitingForSlot map[string]*Tool
	down           chan struct{} // closed by Shutdown
	downReason     string        // why; set before down is closed

	warnedUnreachable atomic.Bool // it was logged that a task can not be reached after a restart
}

// New checks d and returns a server for it, which runs nothing before it serves (ResumeTasks). It fails if d was generated for another generation of the runtime, or is invalid.
func New(d Definition, opts ...Option) (*Server, error) {
	if d.Runtime != Generation1 {
		return nil, fmt.Errorf("server: generated code is of generation %d, this runtime serves %d: run mcpkiln generate again", d.Runtime, Generation1)
	}
	s := &Server{
		def: d, cfg: defaults(),
		peers: map[uint64]*peer{}, accounts: map[Requestor]*account{}, taskLives: map[string]*taskLife{}, streams: map[string]map[*delivery]struct{}{},
		claims: map[questionID]*claim{}, offers: map[questionID]*delivery{},
		ofTasks: toolsOfTasks{process: rand.Text()}, listens: map[*listen]struct{}{}, taskListens: map[string]map[*listen]struct{}{}, checks: map[questionID]*answerCheck{}, waitingForSlot: map[string]*Tool{}, down: make(chan struct{}),
	}
	for _, o := range opts {
		o(&s.cfg)
	}
	s.records = NewLogQueue(s.cfg.logger.Handler())
	s.log = slog.New(s.records)
	if s.cfg.callLog != nil {
		s.cfg.observers = append(s.cfg.observers, s.logCall(*s.cfg.callLog))
	}
	s.observed = len(s.cfg.observers) > 0
	s.rates = newRates(s)
	s.calls.Max, s.bytes.Max = int64(s.cfg.maxInFlight), s.cfg.maxBytes
	s.openBudgets()
	if s.cfg.tasks.Page == 0 {
		s.cfg.tasks.Page = s.cfg.pageSize
	}
	if err := s.index(); err != nil {
		return nil, err
	}
	s.wrap()
	s.tracker = inflight.New(inflight.Options{OnCancel: s.ended})
	machine, err := taskMachine(s.revisions)
	if err != nil {
		return nil, err
	}
	if machine != 0 {
		s.engine = task.New(task.Config{
			Machine: machine, Runner: s.runTask, TimedOut: s.taskTimedOut, Store: s.cfg.store, Dispatcher: s.cfg.dispatcher, Limits: s.cfg.tasks,
			Logger: s.log, OnChange: s.taskChanged, OnRemove: s.endTaskLife, ParkAfter: s.cfg.parkAfter, Grace: cmp.Or(s.cfg.grace, -1), // 0 is none
			CanRun: s.canRun,
		})
	}
	return s, nil
}

// prepareTools checks the tools, and finds the properties whose values are not shown.
func (s *Server) prepareTools() error {
	var text []byte
	names := make(map[string]bool, len(s.def.Tools))
	s.def.Tools = slices.Clone(s.def.Tools) // another server may be made of them
	for i := range s.def.Tools {
		t := &s.def.Tools[i]
		text = append(text[:0], t.Definition...)
		switch {
		case names[t.Name]:
			return fmt.Errorf("server: two tools are named %q", t.Name)
		case t.Handler.read == nil:
			return fmt.Errorf("server: tool %q has no handler", t.Name)
		case check.Valid(text, check.Limits{}) != nil:
			return fmt.Errorf("server: the definition of tool %q is not JSON", t.Name)
		}
		t.Handler.hidden = check.Sensitive(t.Definition)
		t.slots = newToolSlots(t.MaxConcurrent)
		s.ofTasks.mark(t)
		names[t.Name] = true
	}
	return nil
}

// index checks tools and revisions and prepares what does not change while serving.
func (s *Server) index() error {
	if err := s.prepareTools(); err != nil {
		return err
	}
	revisions, err := compileRevisions(&s.def)
	if err != nil {
		return err
	}
	for _, m := range s.def.Methods {
		if !slices.ContainsFunc(revisions, func(rev *revision) bool { return rev.methods[m.name] != nil }) {
			return fmt.Errorf("server: no revision has the method %q", m.name)
		}
	}
	for _, n := range s.def.Notices {
		if !slices.ContainsFunc(revisions, func(rev *revision) bool { return rev.methods[n.name] != nil }) {
			return fmt.Errorf("server: no revision has the notification %q", n.name)
		}
	}
	s.takesNotices = len(s.def.Notices) > 0
	s.revisions = revisions
	for _, rev := range revisions {
		s.versions = append(s.versions, rev.Version)
		if !rev.Handshake {
			s.stateless = append(s.stateless, rev)
		}
	}
	if err := s.openRegistries(); err != nil {
		return err
	}
	if err := s.openTrees(); err != nil {
		return err
	}
	s.declared.seed = maphash.MakeSeed()
	s.sealer, err = newSealer(s.cfg.sealKeys)
	return err
}

// Definition is what the server was made of. It is shared: do not change it.
func (s *Server) Definition() Definition { return s.def }

// InFlight lists the requests that are being served, oldest first (CAN22).
func (s *Server) InFlight() []inflight.Snapshot { return s.tracker.List() }

// ResumeTasks begins to run the tasks of a durable store that no process runs, now and as they are found. Serve, Run, streamhttp.Handler and the first
// session or exchange call it, so that what is set and added between New and serving is there for the handlers (DUR01). Only a process that serves nobody
// calls it itself.
func (s *Server) ResumeTasks() {
	if s.engine != nil && s.cfg.store != nil && s.cfg.store.Durable() {
		s.resumed.Do(s.engine.Resume)
	}
}

// ListTasks returns a page of everybody's tasks that f lets through, oldest first, for operators: no caller may see it. It leaves arguments and
// results out. limit 0 means a page of the usual size. Error: task.ErrCursor.
func (s *Server) ListTasks(ctx context.Context, f task.Filter, cursor string, limit int) (task.Page, error) {
	if s.engine == nil {
		return task.Page{}, nil
	}
	return s.engine.ListAll(ctx, f, cursor, limit)
}

// CountTasks counts everybody's tasks that f lets through by status, for operators.
func (s *Server) CountTasks(ctx context.Context, f task.Filter) (map[task.Status]int, error) {
	if s.engine == nil {
		return nil, nil
	}
	return s.engine.Count(ctx, f)
}

// RunningTasks lists the runs of tasks in this process, oldest first.
func (s *Server) RunningTasks() []task.Snapshot {
	if s.engine == nil {
		return nil
	}
	return s.engine.Running()
}
