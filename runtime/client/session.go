package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/internal/exact"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Session is one client of one server. Its methods are safe for concurrent use.
type Session struct {
	cfg       config
	tracker   *inflight.Tracker
	peer      uint64 // the tracker's number for the server
	link      link
	dialect   atomic.Pointer[wire.Dialect]
	base      wire.Values // the values that every request has; final when Connect returns
	baseSlots []wire.Slot // the slots that base has
	server    declaration // final when Connect returns

	ctx      context.Context // ends with the session; its cause says why
	cancel   context.CancelCauseFunc
	work     sync.WaitGroup // goroutines that Close waits for, see spawn
	passing  sync.WaitGroup // goroutines that Close waits for only a moment, see passInBackground
	events   *events
	cache    cache
	tools    knownTools
	receiver receiver
	expected expected // the tools that a generated client was made for
	wishes   wishes
	endpoint string          // how a Ref names the server
	aborted  context.Context // ends when Abort is called
	abort    context.CancelFunc
	once     sync.Once
	err      error // of Close

	state
}

// state has the fields that change during a session. One mutex guards them.
type state struct {
	mu              sync.Mutex
	calls           map[*call]struct{}   // calls from their first request to their result
	ready           bool                 // Connect has succeeded
	closing         bool                 // Close has been called: the tasks of calls are cancelled, and no new ones begun
	closed          bool                 // Close has made it unusable
	over            bool                 // no goroutine may begin any more
	lost            error                // why the connection is gone
	noise           []byte               // text that the server wrote and that was no message
	inherited       bool                 // noise is of the session that this one replaces (see successor), until the server writes noise to this one
	turn            <-chan struct{}      // closed when the handler of the next question that comes as a request may be called; nil: it may
	activeQuestions int                  // how many questions are being answered by handlers, or have their answers sent
	followers       map[string]*follower // of tasks, by their ids
	left            []*follower          // those whose tasks nobody follows any more, the latest last
	unasked         int                  // how many questions wait until somebody follows their tasks
	late            lateAnswers
	waiting         map[rpc.ID]*waiting // calls between two rounds, by the id of the round that has ended
	answers         []*answer           // to questions that came as requests: not given yet, being sent, or kept in case the question comes again; the latest last

	// awaited has the tasks of calls until these return: nobody has their Refs.
	awaited map[*execution]struct{}
}

// declaration is what a side declares about itself at the beginning.
type declaration struct {
	info, capabilities json.RawMessage
	instructions       string
	offers             map[string]any // capabilities, decoded
	versions           []string
	has                [wire.OpCount]bool // the requests whose capabilities the server has declared
	tasks              bool               // the server may make a call a task
	taskCalls          bool               // a call may ask for a task
}

// Transport connects to a server: Conn, Command and HTTP return one.
type Transport interface {
	// open connects, and passes messages to s.receive, and the end of the connection to s.lose.
	open(ctx context.Context, s *Session) (link, error)
	// reopens reports whether it can be opened a second time.
	reopens() bool
}

// link sends and receives the messages of one session.
type link interface {
	// send sends a message, a request if r is not nil. It returns nil for a request that is over before it was sent. What fails after send has returned
	// ends the request. A frame of up to keepBuffer bytes is the caller's again when send returns.
	send(ctx context.Context, frame []byte, r *round) error
	// giveUp ends the sending and receiving of a request that is over without an answer. notice is its cancellation for the server, nil: none is sent.
	// willNameTask: its answer will name a task, so its stream stays open, if it has one of its own. answerable: it was sent, and may still be answered.
	giveUp(r *round, notice []byte, willNameTask bool) (answerable bool)
	// giveUpTells reports whether closing a request's stream cancels the request in the dialect, so that no notice is sent.
	giveUpTells(d *wire.Dialect) bool
	// reply sends the answer to a request of the server without waiting for it to be delivered, in no other HTTP session than that of the request. It may
	// block while the server does not read.
	reply(to origin, frame []byte)
	// shared reports whether all messages come on one stream. Then a message does not show to which request it belongs, and a server that wants
	// a handshake may leave another first request unanswered.
	shared() bool
	// listenUnasked begins to receive messages that belong to no request, if there is a stream for them.
	listenUnasked()
	// sessionID is the id of the HTTP session; "" for none.
	sessionID() string
	// renew begins a new HTTP session instead of the one with the id old, which the server has ended. begun: this call of renew began it. Neither begun nor an
	// error: another call began it.
	renew(ctx context.Context, old string) (begun bool, err error)
	// close ends the connection in order, and at once when ctx ends. began is when Session.Close was called. Nothing is received afterwards.
	close(ctx context.Context, began time.Time) error
}

// Connect opens a session: it finds the newest revision of the protocol that the server supports, and exchanges capabilities. ctx is
// only for Connect. The errors are *TransportError, *VersionError, *ProtocolError, *Error and *Cause.
func Connect(ctx context.Context, t Transport, opts ...Option) (*Session, error) {
	s, err := newSession(newConfig(opts), endpointOf(t)).negotiate(ctx, t)
	if err != nil {
		_ = s.close(ctx)
		return nil, s.withNoise(err)
	}
	s.mu.Lock()
	s.ready = true
	noise := string(s.noise)
	s.mu.Unlock()
	if noise != "" {
		s.cfg.logger.Warn("the server wrote what is no message", "text", rpc.Printable(noise))
	}
	return s, nil
}

func newSession(cfg config, endpoint string) *Session {
	s := &Session{cfg: cfg, endpoint: endpoint}
	s.tracker = inflight.New(inflight.Options{OnCancel: s.onCancel})
	s.peer = s.tracker.NewPeer()
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.aborted, s.abort = context.WithCancel(context.Background())
	s.calls, s.followers, s.awaited = map[*call]struct{}{}, map[string]*follower{}, map[*execution]struct{}{}
	s.events = newEvents(s)
	return s
}

// Close ends the session: requests in flight end with a *Cause of source shutdown and are cancelled on the server (CAN17), as are the tasks that calls have become
// (CAN11), and handlers' contexts end. A task that Start returns goes on: its caller has the Ref. Close waits up to a second for the cancellations, and for answers that may name a task: so a
// task goes on if a function of OnProgress keeps its call from reading such an answer for longer. A server over HTTP has 5 seconds in all, to take the last messages and to end its session. A child process has the time of WithGrace to end, see there, and is killed then. Close waits for handlers, so do
// not call it from one. Further calls return the same.
func (s *Session) Close() error { return s.close(context.Background()) }

// Abort is Close without waiting for the server: it kills a child process at once. A server over HTTP is told nothing: neither its session ends, nor, before
// revision 2026-07-28, the requests in flight. It also shortens a Close that is under way. It waits for handlers as Close does, so do not call it from one.
func (s *Session) Abort() error {
	s.abort()
	return s.Close()
}

// close is Close. When ctx ends, or the session is aborted, it does not wait for a child process any more, but kills it.
func (s *Session) close(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.aborted, cancel)()
	s.once.Do(func() {
		s.disconnect(ctx)
		s.awaitHandlers()
		s.awaitProgress()
	})
	return s.err
}

// disconnect ends the connection and all requests. Handlers may still run.
func (s *Session) disconnect(ctx context.Context) {
	began := time.Now()
	if ctx.Err() == nil && s.aborted.Err() == nil && s.usable() == nil {
		s.giveUpTasks()
	}
	s.awaitLate(ctx)
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	end := s.endCause() // if the connection is gone, also requests that lose has not ended yet end for that reason
	end.Force = true
	s.tracker.CancelPeer(s.peer, end)
	s.tracker.Shutdown(sessionClosed, true)
	s.giveUpEnded()
	if s.link != nil {
		s.err = s.link.close(ctx, began)
	}
	s.cancel(ErrClosed)
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
}

// awaitHandlers waits until no goroutine of a disconnected session runs any more.
func (s *Session) awaitHandlers() {
	over := s.receiver.close()
	s.work.Wait()
	s.tellUntaken(over, ErrClosed)
}

// Done is closed when the session has ended: by Close, or because the connection is gone.
func (s *Session) Done() <-chan struct{} { return s.ctx.Done() }

// Err returns why the session has ended; nil while it has not.
func (s *Session) Err() error {
	if s.ctx.Err() == nil {
		return nil
	}
	return context.Cause(s.ctx)
}

// Revision returns the protocol revision in use, such as "2025-11-25".
func (s *Session) Revision() string { return s.dialect.Load().Version }

// HasOutputSchemas reports whether tools of the revision in use have an outputSchema and results structuredContent, which older ones do not
// have. Servers list an outputSchema all the same, but it promises nothing then.
func (s *Session) HasOutputSchemas() bool {
	return s.dialect.Load().Call(wire.OpCallTool).Result.Has(wire.SlotStructuredContent)
}

// ServerInfo returns the server's name and version, a JSON object or nil. This package decides nothing by it.
func (s *Session) ServerInfo() json.RawMessage { return s.server.info }

// ServerTitle returns the title that the server gives itself, else its name; "" for none. Any server can call itself anything.
func (s *Session) ServerTitle() string {
	var info struct {
		Title string `json:"title"`
		Name  string `json:"name"`
	}
	_ = exact.Unmarshal(s.server.info, &info)
	return cmp.Or(info.Title, info.Name)
}

// Capabilities returns the server's capabilities, a JSON object; nil if it has declared none.
func (s *Session) Capabilities() json.RawMessage { return s.server.capabilities }

// Instructions returns the server's instructions for a model; "" for none.
func (s *Session) Instructions() string { return s.server.instructions }

// lose ends the session because its connection is gone, or of no use any more.
func (s *Session) lose(err error) {
	var already *TransportError
	var version *VersionError
	if !errors.As(err, &already) && !errors.As(err, &version) {
		err = &TransportError{Err: err}
	}
	s.mu.Lock()
	if s.closed {
		err = ErrClosed
	}
	if s.lost == nil {
		s.lost = err
	}
	s.mu.Unlock()
	s.cancel(err)
	s.tracker.CancelPeer(s.peer, lostCause(err))
}

// lostCause is why a request ends with the connection. Force also ends initialize, which else only its timeout ends.
func lostCause(err error) *Cause {
	return &Cause{Source: inflight.SourceDisconnect, Reason: err.Error(), Force: true}
}

// endCause returns the cause for work that ends with the session.
func (s *Session) endCause() *Cause {
	if err := s.usable(); err != nil && !errors.Is(err, ErrClosed) {
		return &Cause{Source: inflight.SourceDisconnect, Reason: err.Error()}
	}
	return closedCause()
}

// sessionClosed is why something ends with Close.
const sessionClosed = "the session is closed"

func closedCause() *Cause { return &Cause{Source: inflight.SourceShutdown, Reason: sessionClosed} }

// usable returns why the session can not be used: its connection is gone, or else it is closed; nil if it can be used.
func (s *Session) usable() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost == nil && s.closed {
		return ErrClosed
	}
	return s.lost
}

// spawn runs f in a goroutine that Close waits for; false: it is too late.
func (s *Session) spawn(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return false
	}
	s.work.Go(f)
	return true
}

// withNoise returns err. For a server that did not answer in time, it adds what the server wrote instead: a banner, or why it can not go on.
func (s *Session) withNoise(err error) error {
	var cause *Cause
	l, ok := s.link.(*connLink)
	if !ok || !errors.As(err, &cause) || !errors.Is(cause, context.DeadlineExceeded) {
		return err
	}
	said := &TransportError{Err: err, Noise: s.noiseSoFar()}
	if l.child != nil {
		said.Stderr = l.child.tail.String()
	}
	if said.Noise+said.Stderr == "" {
		return err
	}
	return said
}

// noiseSoFar returns the text that the server sent and that was no message.
func (s *Session) noiseSoFar() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.noise)
}

// notify sends a notification, and waits over HTTP until the server has taken it: what follows must not reach it first. Its errors name the notification.
func (s *Session) notify(ctx context.Context, op *wire.Call, v *wire.Values) error {
	var params []byte
	if v != nil {
		var err error
		if params, err = op.Params.Append(nil, v, nil); err != nil {
			return err
		}
	}
	err := s.link.send(ctx, rpc.AppendNotification(nil, op.Name, params), nil)
	var lost *TransportError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return waitedFor(causeOf(ctx), "the server has not taken "+op.Name)
	case errors.As(err, &lost):
		return err
	}
	return s.ended(&Cause{Source: inflight.SourceDisconnect, Reason: op.Name + " was not taken: " + err.Error()})
}

func (s *Session) key(id rpc.ID, d inflight.Direction) inflight.Key {
	return inflight.Key{Peer: s.peer, ID: id, Direction: d}
}
