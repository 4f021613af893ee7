package streamhttp

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/internal/latch"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// session is one client of a revision with handshake. The server's messages to it go into streams; see stream.
type session struct {
	h           *Endpoint
	id          string           // guarded by h.mu and mu; either is enough to read it
	principal   string           // to whom it belongs
	who         server.Requestor // in whose limits it counts
	revision    string
	primed      bool            // its streams begin with an event without data
	batches     bool            // it takes arrays of messages
	sessionless bool            // it serves one message without a session
	sealed      bool            // its id is sealed, so other processes may resume it
	peer        *server.Session // the same session in package server, which serves its messages; nil until the handshake is being served
	kept        atomic.Int64    // bytes in streams
	ending      latch.Latch     // its end begins: nothing more is received
	ended       latch.Latch     // what was in flight is over, or the server's grace period

	order sync.Mutex // messages are received one at a time

	mu         sync.Mutex
	why        *inflight.Cause // why it has ended, or is ending; nil: it is not
	streams    table[uint64, *stream]
	active     byID[*stream]         // by id of a request that is to be answered
	about      byID[[]*stream]       // by id of a request, answered or not; those of batches by the zero id
	listeners  []*stream             // with a reader, the newest last
	lost       []lost                // streams of which nothing is kept any more, the newest last
	backlog    []storedEvent         // for the next listener
	backlogged int                   // bytes of backlog
	first      uint64                // the numbers of its streams are higher
	last       uint64                // number of the newest stream
	questions  map[*carrier]struct{} // open ones
	readers    chan struct{}         // closed when readers have come or gone; nil: nobody waits for it
	open       int                   // HTTP requests that use it
	used       time.Time             // when it was last used
	tenant     *tenant               // guarded by Endpoint.mu
	idleAt     place[*session]       // in tenant.idle; guarded by Endpoint.mu
	idle       *time.Timer           // calls expire
}

// place implements element.
func (s *session) place() *place[*session] { return &s.idleAt }

func newSession(ctx context.Context, h *Endpoint, id string) *session {
	return &session{
		h: h, id: id, who: server.RequestorFrom(ctx), principal: server.PrincipalFrom(ctx), used: time.Now(), open: 1,
	}
}

// receive hands a message to the server, unless the session is over. to is the message if Route has accepted it, nil otherwise; st is the stream of a
// request, nil for other messages.
func (s *session) receive(r *http.Request, to *server.Routed, f *frame, st *stream) (got server.Receipt, ok bool) {
	s.order.Lock()
	defer s.order.Unlock()
	if s.over() {
		return got, false
	}
	if st != nil {
		st.received = true
	}
	if to == nil || cap(f.data) > len(f.data)+spareBuffer { // the server counts the message alone, so it must not keep a much larger buffer
		got = s.peer.ReceiveWithHeader(r.Context(), server.Header(r.Header), f.data)
	} else {
		to.Header = server.Header(r.Header)
		data := f.data
		f.data = nil // also if an observer ends the goroutine
		got, f.data = s.peer.ReceiveRouted(r.Context(), to, data)
	}
	s.h.pools.spare(f)
	s.h.uncountBody(f)
	return got, true
}

func (s *session) receiveBatch(r *http.Request, f *frame, st *stream) (got server.Receipt, ok bool) {
	s.order.Lock()
	defer s.order.Unlock()
	if s.over() {
		return got, false
	}
	got = s.peer.ReceiveBatch(r.Context(), server.Header(r.Header), f.data, st.about)
	s.h.pools.spare(f)
	s.h.uncountBody(f)
	// Set only now, so that Queued.Cancelled, if ReceiveBatch calls it, skips this stream. The server itself drops the answers to the batch's own
	// requests, and one of these may have the id of an earlier request that the batch cancels before it.
	st.received = true
	return got, true
}

// stream makes the stream of a request. It returns nil when a request with this id is in flight.
func (s *session) stream(about rpc.ID) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active.get(about) != nil {
		return nil
	}
	st := s.newStream()
	st.about = about
	s.active.set(about, st)
	s.about.set(about, append(s.about.get(about), st))
	return st
}

// batchStream makes the stream of an array of requests. Their answer, an array, has an id of its own here: about.
func (s *session) batchStream(about rpc.ID, ids []rpc.ID) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.newStream()
	st.about, st.batched = about, true
	s.active.set(about, st)
	s.about.set(rpc.ID{}, append(s.about.get(rpc.ID{}), st))
	var own []rpc.ID
	for _, id := range ids {
		if s.active.get(id) == nil { // a request with the id of one in flight is refused
			s.active.set(id, st)
			own = append(own, id)
		}
	}
	st.batch = newBatchRequests(own)
	return st
}

// freeIDs forgets the requests of st: a later request may have the id of one of them. s.mu is held.
func (s *session) freeIDs(st *stream) {
	if !st.batched {
		if s.active.get(st.about) == st {
			s.active.delete(st.about)
		}
		return
	}
	s.active.deleteFunc(func(of *stream) bool { return of == st })
}

func (s *session) newStream() *stream {
	limits := streamLimits{pending: s.h.opts.replay}
	if !s.sessionless { // a sessionless stream keeps number 0, so its events have no ids and nobody can resume it
		s.last++
		limits.replay, limits.answer = s.h.opts.replay, int(s.limit())
	}
	st := newStream(s.last, limits, &s.kept, s.h.pools.alarm())
	st.total = &s.h.kept
	if s.tenant != nil {
		st.allUnread, st.own = &s.h.unread, &s.tenant.unread
	}
	s.streams.set(st.number, st)
	return st
}

// listen makes a stream for messages that belong to no request.
func (s *session) listen() *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.newStream()
	st.listener = true
	return st
}

// addReader notes that st has a reader. From now on, a listener gets messages that belong to no request.
func (s *session) addReader(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readersChanged()
	if !st.listener {
		return
	}
	s.listeners = append(s.listeners, st)
	s.refill(st, s.takeBacklog())
	if len(s.listeners) > maxListeners {
		s.listeners[0].poll()
		s.listeners = slices.Delete(s.listeners, 0, 1)
	}
}

// maxListeners is how many listeners a session has. The oldest gives way to a new one: its client may be gone, which nobody has
// noticed yet (TSK28).
const maxListeners = 16

// refill gives st events that no reader has taken. s.mu is held.
func (s *session) refill(st *stream, events []storedEvent) {
	s.noteCarriers(st, events...)
	st.refill(events)
}

// leave takes st off the listeners, if it is one.
func (s *session) leave(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, l := range s.listeners {
		if l == st {
			s.listeners = append(s.listeners[:i:i], s.listeners[i+1:]...)
			s.readersChanged()
			return
		}
	}
}

// release ends the reading of st. Events that the reader of a listener did not take go to another listener, or wait for the next.
func (s *session) release(st *stream, reader uint64) {
	if st.listener {
		s.leave(st)
	}
	s.mu.Lock()
	s.readersChanged()
	unread := st.detach(reader) // under s.mu: a question that ends meanwhile is found in st, or where its event went (CAN19)
	if s.why != nil {
		s.mu.Unlock()
		st.drop()
		return
	}
	if n := len(s.listeners); n > 0 {
		s.refill(s.listeners[n-1], unread)
	} else if len(unread) > 0 {
		s.keep(append(unread, s.takeBacklog()...))
	}
	fits := s.kept.Load() <= s.limit() && s.surplus() <= 0
	s.mu.Unlock()
	if !fits {
		s.prune()
	}
	s.h.relieve()
}

// reattach finds the stream of the last event that a client has, and attaches the caller if something of that stream is left, or to come. Both happen
// under s.mu, so that the stream does not give way in between.
func (s *session) reattach(last eventID) resumption {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, missed := s.find(last.stream), s.lacks(last)
	if st == nil || st.listener != last.listener {
		return resumption{missed: missed, refused: s.notHere(last, missed)}
	}
	if missed = st.lacks(last.number); st.over(last.number) {
		return resumption{missed: missed}
	}
	return resumption{stream: st, reader: st.attach(last.number), after: last.number, missed: missed}
}

// notHere is why a stream of a request that a client resumes is not here; nil if it is none, the client has read all of it, or its id is not known. s.mu is
// held.
func (s *session) notHere(last eventID, missed bool) *rpc.Error {
	switch {
	case last.request.IsZero():
		return nil
	case last.stream <= s.first || last.stream > s.last:
		return rpc.Errorf(rpc.CodeInternalError, "the stream of this request is not here, because the server has restarted or another process has it: the request may have run")
	case !missed && slices.ContainsFunc(s.lost, func(l lost) bool { return l.stream == last.stream }):
		return nil
	}
	return rpc.Errorf(rpc.CodeInternalError, "the stream of this request is not here, because it gave way to others: the request was served, and its answer is not kept any more")
}

// find returns a stream that a client wants to resume; nil: there is none, or no id of it was sent. s.mu is held.
func (s *session) find(number uint64) *stream {
	if st := s.streams.get(number); st != nil && st.known() {
		return st
	}
	return nil
}

// remove frees a stream that nobody will resume.
func (s *session) remove(st *stream) {
	st.drop()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unlist(st)
}

// unlist removes a stream from s.streams and s.about. s.mu is held.
func (s *session) unlist(st *stream) {
	s.streams.delete(st.number)
	about := st.about
	if st.batched {
		about = rpc.ID{}
	}
	if left := slices.DeleteFunc(s.about.get(about), func(of *stream) bool { return of == st }); len(left) > 0 {
		s.about.set(about, left)
	} else {
		s.about.delete(about)
	}
}

// closePolling ends the response of a request whose stream the client can resume, and reports whether there was one.
func (s *session) closePolling(id rpc.ID) bool {
	s.mu.Lock()
	st := s.active.get(id)
	s.mu.Unlock()
	return st != nil && (s.primed || st.known()) && st.poll() // else the client has no event to resume from
}

// ClosePolling closes the response stream of the call that ctx belongs to, so that the client need not keep a connection: it
// resumes the stream after the retry time and gets all messages since (2025-11-25). It reports whether there was such a
// stream; everywhere else it does nothing.
func ClosePolling(ctx context.Context) bool {
	s, _ := server.OutletFrom(ctx).(*session)
	e := inflight.FromContext(ctx)
	return s != nil && !s.sessionless && e != nil && s.closePolling(e.ID())
}
