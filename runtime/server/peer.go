package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/internal/latch"
	"github.com/mcpkiln/mcpkiln/runtime/internal/rate"
)

// peer is a connection, a session or an exchange, and what was agreed with its client.
type peer struct {
	s        *Server
	out      Outlet
	tracked  Tracked  // out, if it is a Tracked; only of an exchange
	refuser  Refuser  // out, if it is one
	inline   Inline   // out, if it is one
	queued   Queued   // out, if it is one
	attended Attended // out, if it is one
	cost     int64    // bytes that the transport holds for a request
	id       uint64
	owner    string          // of its tasks
	who      Requestor       // whom its requests count for, with its identity
	account  *account        // of who, while the peer is in Server.peers
	rates    *[4]rate.Limit  // of who, by kind
	ctx      context.Context // of everything on this connection; it ends with a *inflight.Cause
	cancel   context.CancelCauseFunc

	// Written by the read loop before anything that reads them is started.
	revision    *revision
	ready       bool          // initialize was answered
	can         ability       // what the client declared then
	client      *Client       // its description of itself then, without capabilities
	begun       latch.Latch   // the client is initialized, and may be asked, or its input has ended
	closing     atomic.Bool   // it ends: no more requests are taken
	gone        atomic.Bool   // nothing is written any more
	passing     atomic.Bool   // the read loop waits for middleware
	released    atomic.Bool   // release was called
	inputOver   chan struct{} // of a connection; closed when nothing is read any more, so questions have no answer
	opened      time.Time
	agreed      atomic.Pointer[revision] // revision, once ready is set; for all goroutines but the read loop's
	receiving   *batch                   // the batch that is being received, which holds its answers; nil outside of batches; for the read loop alone
	batches     batches                  // those whose answers are not complete
	left        bool                     // forgetPeer was called: it can subscribe to nothing any more; guarded by Server.mu
	stops       bool                     // a shutdown ends it; only for the goroutine that calls end and wait
	streams     bool                     // the transport has a stream per request
	sessionless bool                     // it stands for the session of one message, of a client that has none
	exchange    bool                     // it has one request
	outcome     Result                   // of an exchange; written with its answer
	level       atomic.Int32             // the lowest logLevel that the client wants

	// gate keeps a message about a request from being written after one that proves that the request's cancellation was read (CAN02).
	// Writers hold it shared; the first one after a cancellation takes it exclusively once before (drainAfterCancel). See doc.go.
	gate           sync.RWMutex
	cancels        atomic.Uint64 // twice the cancellations read, odd while one takes effect; only the read loop changes it
	cancelsDrained atomic.Uint64 // the value of cancels when the gate was last taken exclusively: no writer has missed those cancellations

	// taskState is held from reading the state of a task until it is written, so that what the client reads of a task never goes back
	// (TSK07). A final state does not change: it is unlocked before that is written.
	taskState sync.Mutex

	subscribed map[string]bool          // resources; guarded by Server.mu, as turns
	turns      map[string]chan struct{} // by resource: a request changes the subscription to it until the channel is closed (takeTurn)

	recordings   recordings // of answers to tasks' questions, if streams
	pagesSent    pageIDs
	pulse        pulse
	outgoing     atomic.Int64               // last id of the server's own requests; ids are never reused (CAN15)
	outgoingFrom int64                      // what outgoing began with
	unread       atomic.Pointer[share]      // its share of account.unread; nil: it has had no large answer, or is an exchange, which has one answer
	files        atomic.Pointer[fileShares] // its shares of account.files; nil: it has had no such answer, or is an exchange
	workers      *workers                   // nil in an exchange
	reading      *reading                   // of the message that is being received; nil in an exchange
	live         group
	writing      atomic.Int64             // the goroutines in live that only write
	ownTasks     atomic.Int64             // unfinished tasks that end with the session
	notices      noticeQueue              // for handlers
	changes      newest[topic, *taskLife] // what changed, and of a task its life: notifications that are to be sent
}

// Owners of tasks. The prefixes keep an identity from being the name of somebody's connection (TSK21).
const (
	// ownedByConnection is for connections and sessions without an identity: nobody else can ask for their tasks, so those end
	// with them.
	ownedByConnection = "connection:"
	ownedByPrincipal  = "principal:"
	// ownedBySession is for sessions without an identity that another process may resume: their tasks end when their client ends them.
	ownedBySession = "session:"
	// ownedByLocal is for the user who started this process, over connections and restarts.
	ownedByLocal = "local"
	// ownedByNobody is for exchanges without an identity: only the ids, which can not be guessed, keep strangers from their tasks.
	ownedByNobody = "nobody:"
)

func (s *Server) newPeer(ctx context.Context, out Outlet) *peer {
	p := &peer{s: s, out: out, id: s.ids.Add(1), who: RequestorFrom(ctx), revision: s.handshake(), opened: time.Now()}
	if p.revision == nil {
		p.revision = s.stateless[0]
	}
	p.refuser, _ = out.(Refuser)
	p.inline, _ = out.(Inline)
	p.queued, _ = out.(Queued)
	p.attended, _ = out.(Attended)
	p.cost = requestBytes(out)
	p.level.Store(int32(defaultLevel))
	// The end of ctx is an orderly shutdown, so only its values are taken over.
	p.ctx, p.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	p.setOwner(ownedByConnection + rand.Text())
	p.workers, p.reading = newWorkers(), new(reading)
	p.live.start()
	return p
}

// begin allows questions to the client.
func (p *peer) begin() { p.begun.Close() }

// setOwner sets the owner of the peer's tasks: its identity, or the parameter anonymous if it has none.
func (p *peer) setOwner(anonymous string) {
	p.owner = anonymous
	if p.who.principal != "" {
		p.owner = ownedByPrincipal + p.who.principal
	}
}

// warnUnreachable logs once that a store keeps a task which its caller can not reach after a restart: it has no identity, and its session is not sealed.
func (p *peer) warnUnreachable() {
	if p.s.cfg.store == nil || !p.s.cfg.store.Durable() || !p.streams || !p.takesTasksAlong() {
		return
	}
	if p.s.warnedUnreachable.CompareAndSwap(false, true) {
		p.s.log.Warn("a task outlives a restart of this server, but its caller, which has no identity, can not ask for it then: give the server seal keys " +
			"(server.WithSealKeys; in a project of mcpkiln init, $MCPKILN_SEAL_KEY or -seal-key), or callers an identity (server.WithPrincipal)")
	}
}

// taskQuota names the quota that the peer's tasks count in; "" is their owner's. Callers without an identity share one, unless a quota
// key tells them apart: sessions of their own would cost nothing.
func (p *peer) taskQuota() string {
	if p.who.principal != "" || p.owner == ownedByLocal {
		return ""
	}
	return cmp.Or(p.who.key, ownedByNobody)
}

// takesTasksAlong reports whether tasks end with the peer, because nobody can ask for them afterwards.
func (p *peer) takesTasksAlong() bool { return strings.HasPrefix(p.owner, ownedByConnection) }

// discardTasks ends the tasks that nobody can ask for after the end of the peer.
func (p *peer) discardTasks() {
	if p.s.engine != nil && p.takesTasksAlong() {
		p.s.engine.Discard(context.WithoutCancel(p.ctx), p.owner)
	}
}

func (s *Server) addPeer(p *peer) {
	s.ResumeTasks()
	p.rates = s.rates.of(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.peers[p.id] = p
	p.account = s.openAccount(p.who)
	if !p.exchange {
		s.followers.followLists(p) // it may be told of changes from here on
	}
}

// removePeer removes the peer and its subscriptions. Its tasks go on without a session if somebody can ask for them (TSK06).
func (s *Server) removePeer(p *peer) {
	p.discardTasks()
	for _, b := range p.batches.list() { // their handlers are late, or nobody took their last answer
		b.drop()
	}
	p.unsubscribe(s.forgetPeer(p))
	p.observe(ConnectionClosed)
}

// forgetPeer removes the peer from the server's tables, and returns the resources that it was subscribed to.
func (s *Server) forgetPeer(p *peer) []string {
	s.followers.leaveLists(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.peers, p.id)
	for id, life := range s.taskLives {
		if life.peer == p {
			delete(s.taskLives, id)
		}
	}
	uris := slices.Sorted(maps.Keys(p.subscribed))
	for _, uri := range uris {
		p.unsubscribed(uri)
	}
	p.left = true
	s.leaveAccount(p.account)
	return uris
}

func (s *Server) peer(id uint64) *peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peers[id]
}

func (s *Server) newExchange(ctx context.Context, rev *revision, out Outlet) *peer {
	who := RequestorFrom(ctx)
	tracked, _ := out.(Tracked)
	if tracked != nil {
		ctx = context.WithoutCancel(ctx)
	}
	p := &peer{s: s, out: out, tracked: tracked, id: s.ids.Add(1), who: who, revision: rev, ctx: ctx, streams: true, exchange: true, outcome: Result{Silent: true}}
	p.refuser, _ = out.(Refuser)
	p.cost = requestBytes(out)
	p.setOwner(ownedByNobody)
	p.live.start()
	return p
}

// dropPeer removes the peer of an exchange from the server's tables.
func (s *Server) dropPeer(p *peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.peers, p.id)
	s.leaveAccount(p.account)
}

// requestBytes is how many bytes a transport holds for a request.
func requestBytes(out Outlet) int64 {
	if c, ok := out.(Costly); ok {
		return c.RequestBytes()
	}
	return 0
}

// follow cancels the request of an exchange when ctx ends, and hands its entry to a Tracked transport, which may cancel it, too.
func (r *request) follow(ctx context.Context) (stop func() bool) {
	e := r.entry
	if r.p.tracked != nil {
		r.p.tracked.InFlight(e)
	}
	if ctx.Done() == nil {
		return func() bool { return true }
	}
	return context.AfterFunc(ctx, func() { e.Cancel(disconnected(ctx)) })
}

// disconnected is the cause with which an exchange ends when ctx has ended: the transport's, or by default that the client is gone.
func disconnected(ctx context.Context) *inflight.Cause {
	if own := (*inflight.Cause)(nil); errors.As(context.Cause(ctx), &own) {
		return own
	}
	return &inflight.Cause{Source: inflight.SourceDisconnect, Err: context.Cause(ctx)}
}
