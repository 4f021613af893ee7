package server

import (
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
	def     Definition
	cfg     config
	log     *slog.Logger // over records
	records *LogQueue
	rates   *rates
	wires   []*wire // newest first
	// stateless are those of them without a handshake.
	stateless []*wire
	revisions []string // of all wires
	declared  declarations
	sealer    *sealer
	tools     map[string]*Tool
	off       atomic.Pointer[map[string]bool] // tools that are switched off; nil: none
	info      []byte                          // raw: how the server names itself
	tracker   *inflight.Tracker
	engine    *task.Engine // nil when no tool runs as a task
	ids       atomic.Uint64
	calls     quota.Limit // requests in flight
	bytes     quota.Limit // of them
	unread    budget      // of answers
	packing   budget      // of results of tasks that are being encoded
	coming    budget      // of large outputs that handlers are expected to return
	// requests keeps served ones for their buffers.
	requests sync.Pool
	closed   sync.Pool // accounts to use again

	mu    sync.Mutex // guards peers, tasks and down
	peers map[uint64]*peer
	// accounts are those of the requestors that have peers, or late handlers.
	accounts map[Requestor]*account
	// sessions are the unfinished tasks whose connections are there: where their notifications and questions go.
	sessions map[string]*taskLife
	// streams are the open requests for a task's result that somebody reads, by task.
	streams map[string]map[*delivery]struct{}
	holders map[asked]*holder // who asks an open question at this moment
	offers  map[asked]bool    // questions that are for their sessions
	// listens are the open subscriptions.
	listens     map[*listen]struct{}
	taskListens map[string]map[*listen]struct{} // of its owner, by task
	// checks hold the answers of open questions of running tasks against their schemas.
	checks map[asked]func(data []byte) error
	down   chan struct{} // closed by Shutdown
}

// New checks d and returns a server of it. It fails when generated code and runtime do not fit.
func New(d Definition, opts ...Option) (*Server, error) {
	if d.Runtime != Generation1 {
		return nil, fmt.Errorf("server: generated code is of generation %d, this runtime serves %d: run mcpkiln generate again", d.Runtime, Generation1)
	}
	s := &Server{
		def: d, cfg: defaults(), tools: make(map[string]*Tool, len(d.Tools)), info: serverInfo(&d),
		peers: map[uint64]*peer{}, accounts: map[Requestor]*account{}, sessions: map[string]*taskLife{}, streams: map[string]map[*delivery]struct{}{},
		holders: map[asked]*holder{}, offers: map[asked]bool{},
		listens: map[*listen]struct{}{}, taskListens: map[string]map[*listen]struct{}{}, checks: map[asked]func([]byte) error{}, down: make(chan struct{}),
	}
	for _, o := range opts {
		o(&s.cfg)
	}
	s.records = NewLogQueue(s.cfg.logger.Handler())
	s.log = slog.New(s.records)
	s.rates = newRates(s)
	s.calls.Max, s.bytes.Max = int64(s.cfg.maxInFlight), s.cfg.maxBytes
	s.unread.init(s.cfg.maxUnread)
	s.packing.init(s.cfg.maxUnread / 2)
	s.coming.init(s.cfg.maxUnread / 2)
	if s.cfg.tasks.Page == 0 {
		s.cfg.tasks.Page = s.cfg.pageSize
	}
	if err := s.index(); err != nil {
		return nil, err
	}
	s.tracker = inflight.New(inflight.Options{OnCancel: s.ended})
	if s.servesTasks() {
		s.engine = task.New(task.Config{
			Runner: s.runTask, TimedOut: s.taskTimedOut, Store: s.cfg.store, Dispatcher: s.cfg.dispatcher, Limits: s.cfg.tasks,
			Logger: s.log, OnChange: s.taskChanged, OnRemove: s.endSession, Resume: s.cfg.store != nil && s.cfg.store.Durable(),
		})
	}
	return s, nil
}

// index checks tools and wires and prepares what does not change while serving.
func (s *Server) index() error {
	var text []byte
	for i := range s.def.Tools {
		t := &s.def.Tools[i]
		text = append(text[:0], t.Definition...)
		switch {
		case s.tools[t.Name] != nil:
			return fmt.Errorf("server: two tools are named %q", t.Name)
		case t.Handler.read == nil:
			return fmt.Errorf("server: tool %q has no handler", t.Name)
		case check.Valid(text, check.Limits{}) != nil:
			return fmt.Errorf("server: the definition of tool %q is not JSON", t.Name)
		}
		s.tools[t.Name] = t
	}
	wires, err := compileWires(&s.def)
	if err != nil {
		return err
	}
	for _, m := range s.def.Methods {
		if !slices.ContainsFunc(wires, func(w *wire) bool { return w.methods[m.name] != nil }) {
			return fmt.Errorf("server: no wire has the method %q", m.name)
		}
	}
	s.wires = wires
	for _, w := range wires {
		s.revisions = append(s.revisions, w.Revision)
		if !w.Handshake {
			s.stateless = append(s.stateless, w)
		}
	}
	s.declared.seed = maphash.MakeSeed()
	s.listPages()
	s.sealer, err = newSealer(s.cfg.sealKeys)
	return err
}

// handshake is the newest wire that begins with a handshake, nil without one.
func (s *Server) handshake() *wire {
	for _, w := range s.wires {
		if w.Handshake {
			return w
		}
	}
	return nil
}

func (s *Server) servesTasks() bool {
	for _, w := range s.wires {
		if w.tasks {
			return true
		}
	}
	return false
}

// InFlight lists the requests that are being served, oldest first (CAN22).
func (s *Server) InFlight() []inflight.Snapshot { return s.tracker.List() }

// RunningTasks lists the runs of tasks in this process, oldest first.
func (s *Server) RunningTasks() []task.Snapshot {
	if s.engine == nil {
		return nil
	}
	return s.engine.Running()
}
