package server

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Observer gets each event when it happens: it has to return at once, and is called concurrently. Events contain no arguments and no
// results. A panic is logged; runtime.Goexit ends the request, session or connection that the event is about.
type Observer func(e Event)

// WithObserver adds an observer. Package metrics has one for Prometheus; WithCallLog writes a log.
func WithObserver(o Observer) Option {
	return func(c *config) { c.observers = append(c.observers, o) }
}

// WithCallLog writes a line for every request of a client, and for every run of a task, to the server's logger: method, tool, id or task,
// principal, revision, duration, outcome and cause. It is queued like all records of that logger, and nothing waits for it.
func WithCallLog(level slog.Level) Option {
	return func(c *config) { c.callLog = &level }
}

// EventKind says what happened.
type EventKind uint8

// The kinds of events. What begins also ends, with a Duration and an Outcome.
const (
	RequestBegan     EventKind = iota + 1 // the serving of a client's request begins
	RequestEnded                          // its handler has returned; it may have been answered before, or be answered later
	RequestRefused                        // a request was malformed, unknown or beyond a limit
	RunBegan                              // the handler of a task runs, perhaps again
	RunEnded                              // it has returned
	TaskCreated                           // a request became a task
	TaskChanged                           // its status or its status message
	QuestionAsked                         // the client is asked something
	QuestionEnded                         // with or without an answer; inline in a stateless revision when the call comes again with the answer, if it does
	ConnectionOpened                      // a connection or session
	ConnectionClosed                      // its Err says why
	NoticeEnded                           // the handler of a notification that the protocol does not define has returned
	ProgressDropped                       // a progress notification is not sent; Outcome says why
)

var eventNames = [...]string{
	RequestBegan: "request began", RequestEnded: "request ended", RequestRefused: "request refused", RunBegan: "run began", RunEnded: "run ended",
	TaskCreated: "task created", TaskChanged: "task changed", QuestionAsked: "question asked", QuestionEnded: "question ended",
	ConnectionOpened: "connection opened", ConnectionClosed: "connection closed", NoticeEnded: "notice ended", ProgressDropped: "progress dropped",
}

// String is the kind in words.
func (k EventKind) String() string {
	if int(k) < len(eventNames) {
		return eventNames[k]
	}
	return ""
}

// Outcome is how something ended, for logs and metrics.
type Outcome string

// The outcomes. The last three are those of ProgressDropped.
const (
	Succeeded  Outcome = "ok"
	Failed     Outcome = "error"      // a JSON-RPC error, or a question that failed
	ToolFailed Outcome = "tool_error" // a result with isError
	Cancelled  Outcome = "cancelled"  // Err is the *inflight.Cause
	TimedOut   Outcome = "timeout"
	HasAsked   Outcome = "asked" // the result asks the client, which calls again; or the run of a task ended at a question, and the next run gets the answer
	BecameTask Outcome = "task"
	TooOften   Outcome = "rate"     // a newer value came before it was due
	NoProgress Outcome = "no_step"  // the value did not grow, or is no number
	TooLate    Outcome = "too_late" // the call is over
)

// Event is one thing that happened. Fields that do not apply are zero.
type Event struct {
	Kind       EventKind
	Time       time.Time
	Connection uint64 // number of the connection or session, or of the message in a stateless revision over HTTP
	Principal  string
	Revision   string
	Method     string // "" for an unknown one
	Tool       string
	ID         rpc.ID // of the request
	Task       string
	Status     task.Status // of the task
	Question   string      // its name
	Duration   time.Duration
	Outcome    Outcome
	Err        error // why it failed, ended or was refused: an *inflight.Cause, an *rpc.Error, or what a handler returned
}

func (s *Server) observe(e Event) {
	e.Time = time.Now()
	for _, observe := range s.cfg.observers {
		s.callObserver(observe, &e)
	}
}

func (s *Server) callObserver(observe Observer, e *Event) {
	defer func() {
		if v := recover(); v != nil {
			s.log.Error("panic", "event", e.Kind.String(), "panic", v, "stack", string(debug.Stack()))
		}
	}()
	observe(*e)
}

// logCall is the observer of WithCallLog.
func (s *Server) logCall(level slog.Level) Observer {
	return func(e Event) {
		about := slog.String("id", rpc.Cut(e.ID.String()))
		switch e.Kind {
		case RequestEnded, RequestRefused:
		case RunEnded:
			about = slog.String("task", e.Task)
		default:
			return
		}
		cause := ""
		if e.Err != nil {
			cause = rpc.CutTo(e.Err.Error(), maxReason)
		}
		s.log.LogAttrs(context.Background(), level, e.Kind.String(), slog.String("method", e.Method), slog.String("tool", e.Tool), about,
			slog.String("principal", e.Principal), slog.String("revision", e.Revision), slog.Duration("duration", e.Duration),
			slog.String("outcome", string(e.Outcome)), slog.String("cause", cause))
	}
}

func (r *request) event(kind EventKind) Event {
	rev := r.revision
	if agreed := r.p.agreed.Load(); agreed != nil && r.method.Op == wire.OpInitialize {
		rev = agreed // the handshake is read in the newest revision that has one
	}
	return Event{
		Kind: kind, Connection: r.p.id, Principal: r.p.who.principal, Revision: rev.Version, Method: r.method.Name, Tool: r.toolName(), ID: r.requestID(),
	}
}

// observeEnd reports that the request has ended. err is the error of its answer, also if that is not sent.
func (r *request) observeEnd(err error) {
	e := r.event(RequestEnded)
	e.Duration = time.Since(r.entry.Started())
	e.Outcome, e.Err = r.outcome, err
	cause := r.entry.Cause()
	switch {
	case cause != nil && cause.Source != inflight.SourceCompleted:
		e.Outcome, e.Err = outcomeOf(cause)
	case errors.Is(err, ErrAsked): // the call was answered with its questions (Call.suspend)
		e.Outcome, e.Err = HasAsked, nil
	case err != nil:
		e.Outcome = Failed
	case e.Outcome == "":
		e.Outcome = Succeeded
	}
	r.p.s.observe(e)
}

// outcomeOf is the outcome of what was cancelled or timed out.
func outcomeOf(cause *inflight.Cause) (Outcome, error) {
	if cause.Source == inflight.SourceTimeout {
		return TimedOut, cause
	}
	return Cancelled, cause
}

// observeRefusal reports a request that is not served. The name of an unknown method is left out, because a client could make up any number of names.
func (p *peer) observeRefusal(r *request, id rpc.ID, err *rpc.Error) {
	e := Event{Kind: RequestRefused, Connection: p.id, Principal: p.who.principal, ID: id, Outcome: Failed, Err: err, Tool: r.toolName()}
	if r.method != nil {
		e.Method, e.Revision = r.method.Name, r.revision.Version
	}
	p.s.observe(e)
}

// observeUnrouted reports a message that a transport refuses before it belongs to a peer.
func (s *Server) observeUnrouted(to *Routed, err *rpc.Error) {
	if !s.observed {
		return
	}
	e := Event{Kind: RequestRefused, ID: to.ID, Outcome: Failed, Err: err}
	if to.method != nil {
		e.Method, e.Revision = to.method.Name, to.revision.Version
	}
	s.observe(e)
}

func (c *Call) event(kind EventKind) Event {
	e := Event{Kind: kind, Principal: c.Principal(), Revision: c.revision.Version, Tool: c.Tool(), Task: c.TaskID(), ID: c.ID()}
	if c.entry != nil {
		e.Method = c.entry.Info().Method
	}
	if c.peer != nil {
		e.Connection = c.peer.id
	}
	return e
}

// observeRun reports that a run of a task has ended.
func (c *Call) observeRun(began time.Time, o *task.Outcome) {
	e := c.event(RunEnded)
	e.Duration, e.Status, e.Outcome = time.Since(began), o.Status, Succeeded
	cause := (*inflight.Cause)(nil)
	switch {
	case errors.Is(context.Cause(c.taskRun.Context()), task.ErrParked):
		e.Outcome, e.Status = HasAsked, ""
	case errors.As(context.Cause(c.taskRun.Context()), &cause) && cause.Source != inflight.SourceCompleted:
		e.Outcome, e.Err = outcomeOf(cause)
		e.Status = "" // the engine decides what becomes of the task
	case o.Status == "": // it panicked
		e.Outcome, e.Err = Failed, errInternal
	case o.Kind == toolError:
		e.Outcome = ToolFailed
	case o.Error != nil:
		e.Outcome, e.Err = Failed, o.Error
	}
	c.s.observe(e)
}

// observeQuestion reports that a question is asked, or how it ended.
func (c *Call) observeQuestion(kind EventKind, name string, began time.Time, err error) {
	if c.s.observed {
		c.s.observeEnding(c.event(kind).ofQuestion(name), began, err)
	}
}

// observeQuestion does the same for a question that is asked outside of calls.
func (cs *ClientSession) observeQuestion(kind EventKind, name string, began time.Time, err error) {
	if s := cs.p.s; s.observed {
		e := Event{Kind: kind, Connection: cs.p.id, Principal: cs.p.who.principal, Revision: cs.Revision()}
		s.observeEnding(e.ofQuestion(name), began, err)
	}
}

func (e Event) ofQuestion(name string) Event {
	e.Question = name
	return e
}

func (n *Notice) observeNotice(began time.Time, err error) {
	if s := n.p.s; s.observed {
		e := Event{Kind: NoticeEnded, Connection: n.p.id, Principal: n.p.who.principal, Revision: n.revision.Version, Method: n.method.Name}
		s.observeEnding(e, began, err)
	}
}

// observeEnding reports an event of a question or notification, and how that ended unless the event is its beginning.
func (s *Server) observeEnding(e Event, began time.Time, err error) {
	if e.Err = err; e.Kind != QuestionAsked {
		e.Duration, e.Outcome = time.Since(began), Succeeded
	}
	cause := (*inflight.Cause)(nil)
	switch {
	case err == nil:
	case errors.Is(err, task.ErrUnanswered):
		e.Outcome = TimedOut
	case errors.As(err, &cause):
		e.Outcome, e.Err = outcomeOf(cause)
	default:
		e.Outcome = Failed
	}
	s.observe(e)
}

func (pr *progress) observeDropped(why Outcome) {
	p := pr.about.peer
	p.s.observe(Event{Kind: ProgressDropped, Connection: p.id, Principal: p.who.principal, Revision: pr.revision.Version, ID: pr.about.id, Task: pr.task, Outcome: why})
}

func (s *Server) observeTask(kind EventKind, t *task.Task) {
	e := Event{Kind: kind, Principal: principalOf(t.Owner), Tool: t.Tool, Task: t.ID, Status: t.Status, Duration: time.Since(t.CreatedAt)}
	if t.Error != nil {
		e.Err = t.Error
	}
	s.observe(e)
}

func (p *peer) observe(kind EventKind) {
	if !p.s.observed {
		return
	}
	e := Event{Kind: kind, Connection: p.id, Principal: p.who.principal}
	if rev := p.agreed.Load(); rev != nil {
		e.Revision = rev.Version
	}
	if kind == ConnectionClosed {
		e.Duration, e.Err = time.Since(p.opened), context.Cause(p.ctx)
	}
	p.s.observe(e)
}
