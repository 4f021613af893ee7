package server

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// request is one request in flight, with the memory that serving it needs: the frame that it came in, which the
// params alias, and its body. It is reused after it is answered. A Call is not, because handlers may
// keep it by mistake.
type request struct {
	*body
	p              *peer
	revision       *revision
	method         *wire.Method
	tool           *Tool        // of tools/call
	policy         *EntryPolicy // of prompts/get and resources/read; nil: none
	counted        bool         // in Server.calls
	holdsTaskState bool         // it holds peer.taskState
	decoding       bool         // its input is being decoded
	holdsDecoding  bool         // it holds Server.decoding
	can            ability
	raw            []byte // the params
	header         Header // of the HTTP request; nil: none
	countedBytes   int64  // bytes that count in Server.bytes; under Call.mu while the handler runs, like smallBytes
	smallBytes     int64  // of the client's answers to questions, while they are too small to count
	reservation    reservation
	entry          *inflight.Entry
	ctx            context.Context // of handlers: entry, or what middleware made of it

	frame   []byte    // as received
	passes  *passes   // counts the calls of next in tool middleware; nil: none
	readers *[]Opener // of ReaderOf, which the handler gave (noteReader); nil: none
}

// body is what a request needs only before or after its handler: what is read of it, and its answer in the making. That is most of a request's memory. A
// request that may wait for long lends its body to others. Inline calls of a revision without a handshake do not: their handlers need it, too (runLending).
type body struct {
	id          rpc.ID // see requestID
	about       rpc.ID // of an array of messages in a session: the id that its answers are written about
	params      wire.Params
	size        int             // of the message, which is kept until the request is over
	values      context.Context // the values that the handler sees beside the connection's; nil: none
	repeatedKey bool            // the arguments have a repeated key, which decoding them has to find
	task        bool            // the call becomes a task
	taskTool    *Tool           // of the task that the request reads; only set for middleware
	sub         *listen         // of subscriptions/listen
	handshake   *handshake      // of initialize
	nextWaiting *request        // in workers
	call        *Call           // allocated for tools/call, not filled in; nil: newCall makes one

	result       wire.CallResult // of tools/call; here, because an append function of the revision makes it escape
	output       *check.Decoder  // has checked the output of tools/call, whose text is not written yet; nil otherwise
	out          []byte          // the answer
	head         int             // length of the answer before its result
	answer       []byte          // the answer so far, within middleware; nil: it has not begun
	scratch      []byte          // parts of the answer
	trailer      []byte          // a message that follows the answer; nil: none
	placeholders []placeholder   // in the answer, in their order
	spooled      *spool          // contains the answer; nil: it is in memory
	streamed     bool            // it goes to the client piece by piece, so there is no other one
	taken        bool            // the answer was large, and its client read it
	torn         bool            // the answer was not written as a whole
	outcome      Outcome         // for observers; "" is Succeeded

	after   func()         // runs when the answer was written, or will not be; nil: nothing does
	created task.Beginning // of the call's task, which begins after that; zero: there is none
	view    wire.TaskView  // of the task that the answer or notification is about; here for the same reason as result
}

// clear forgets everything but the buffers that are not large.
func (b *body) clear() {
	out, scratch := keepSmall(b.out), keepSmall(b.scratch)
	*b = body{} // a literal with the buffers in it would be built in a temporary and copied
	b.out, b.scratch = out, scratch
}

// lendBody lets other requests use the body. What it has is forgotten, and the request has none until takeBody.
func (r *request) lendBody() {
	r.body.clear()
	r.reservation.s.bodies.Put(r.body)
	r.body = nil
}

// takeBody takes a body that no request uses, which may be another one than was lent.
func (r *request) takeBody() {
	var ok bool
	if r.body, ok = r.reservation.s.bodies.Get().(*body); !ok {
		r.body = new(body)
	}
}

// requestID is the id of the request: while the body is lent, only its entry has it.
func (r *request) requestID() rpc.ID {
	if r.entry == nil {
		return r.id
	}
	return r.entry.ID()
}

// lockTaskState is called before the state of a task is read, unlockTaskState when it was written, or can not change any more.
func (r *request) lockTaskState() {
	if !r.holdsTaskState {
		r.p.taskState.Lock()
		r.holdsTaskState = true
	}
}

func (r *request) unlockTaskState() {
	if r.holdsTaskState {
		r.holdsTaskState = false
		r.p.taskState.Unlock()
	}
}

// ownValues is a context with the values that came with the request.
func (r *request) ownValues() context.Context {
	switch {
	case r.ctx != nil && r.ctx != context.Context(r.entry):
		return r.ctx
	case r.values != nil:
		return r.values
	}
	return r.p.ctx
}

// keptBuffer is the largest buffer that is kept for another request, in bytes.
const keptBuffer = 64 << 10

func (s *Server) newRequest(p *peer) *request { return s.pooled(&s.requests, p) }

func (s *Server) pooled(pool *sync.Pool, p *peer) *request {
	r, ok := pool.Get().(*request)
	if !ok {
		r = new(request)
	}
	r.open(s, p)
	if r.body == nil {
		r.takeBody()
	}
	return r
}

// open makes r a request of p; p is nil for the run of a task.
func (r *request) open(s *Server, p *peer) {
	r.p, r.reservation = p, reservation{s: s, p: p}
	if p != nil {
		r.reservation.account = p.account
	}
}

// release gives back what r holds, and r for reuse. Nothing may use it or what aliases its frame afterwards.
func (r *request) release() {
	defer func() { // also when a reader ends the goroutine
		r.uncount()
		r.reservation.s.keep(r)
	}()
	r.unlockTaskState()
	r.closeReaders()
}

// uncount gives back what the request and its answer hold of limits and budgets.
func (r *request) uncount() {
	if space := &r.reservation; space.unread > 0 || space.coming > 0 || space.encoding || space.probeTimer.Load() != nil || space.firstRun {
		space.free()
	}
	if r.holdsDecoding {
		r.unlockDecoding()
	}
	s, a := r.reservation.s, r.reservation.account
	if r.countedBytes > 0 {
		s.bytes.Give(&a.bytes, r.countedBytes)
		r.countedBytes = 0
	}
	if !r.counted {
		return
	}
	s.calls.Give(&a.calls, 1)
	r.counted = false
	if a.peers.Load() == 0 {
		s.closeUnused(a)
	}
}

// beginAnswer begins the answer with what comes before its result.
func (r *request) beginAnswer() []byte {
	b := rpc.AppendResultHead(r.out[:0], r.requestID())
	r.head = len(b)
	return b
}

func (s *Server) keep(r *request) {
	s.large.give(r.out)
	s.large.give(r.scratch)
	pool := &s.requests
	if r.p == nil {
		pool = &s.runs
	}
	r.clear()
	pool.Put(r)
}

// clear forgets everything but the buffers that are not large.
func (r *request) clear() {
	frame, kept := keepSmall(r.frame), r.body
	kept.clear()
	*r = request{}
	r.frame, r.body = frame, kept
}

// reuse makes r ready for the next message of its peer, after one that did not become a request: nothing of that is kept until
// the next one comes, which may be never (TSK28).
func (r *request) reuse() {
	p := r.p
	r.clear()
	r.open(p.s, p)
}

func keepSmall(b []byte) []byte {
	if cap(b) > keptBuffer {
		return nil
	}
	return b[:0]
}

// group counts the goroutines of a peer. Unlike with sync.WaitGroup, waiting can have a limit, and a goroutine is refused when all
// others are gone.
type group struct {
	n atomic.Int64

	mu   sync.Mutex
	gone bool
	left chan struct{} // closed when all are gone; nil: nobody has asked for it
}

// start counts the owner itself, which calls done like the others.
func (g *group) start() { g.n.Store(1) }

// idle returns a channel that is closed when all are gone. It is made when it is first asked for: most exchanges are over before they wait.
func (g *group) idle() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.left == nil {
		g.left = make(chan struct{})
		if g.gone {
			close(g.left)
		}
	}
	return g.left
}

// add counts one more, unless all are gone.
func (g *group) add() bool {
	for {
		n := g.n.Load()
		if n == 0 {
			return false
		}
		if g.n.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (g *group) done() {
	if g.n.Add(-1) > 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gone = true
	if g.left != nil {
		close(g.left)
	}
}

// endWriter ends a goroutine that counts in live and in writing: peer.wait gives such goroutines more time.
func (p *peer) endWriter() {
	p.live.done()
	p.writing.Add(-1)
}

// largeBuffers are buffers of outputs and answers that are larger than what a request keeps. Each is used by one answer at a time, from its encoding
// until it is written. Left to the garbage collector, the buffers of each answer would start its next cycle.
type largeBuffers struct {
	mu    sync.Mutex
	spare [][]byte
	bytes int // of spare
}

const (
	largestBuffer = 4 << 20 // bytes of the largest one that is kept
	spareBuffers  = 8 << 20 // bytes of all that are not in use
)

// grow gives b capacity for about n more bytes, if they are many: growing by steps would leave several times as much garbage.
func (l *largeBuffers) grow(b []byte, n int) []byte {
	if n < keptBuffer || cap(b)-len(b) >= n {
		return b
	}
	if kept := l.take(len(b) + n); kept != nil {
		return append(kept, b...)
	}
	return slices.Grow(b, n+1<<10)
}

// take returns the smallest buffer of at least n bytes, nil if there is none. It leaves much larger ones: an answer that nobody reads counts
// only with its own length (TSK28).
func (l *largeBuffers) take(n int) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := -1
	for i, b := range l.spare {
		if cap(b) >= n && cap(b) <= 2*n && (found < 0 || cap(b) < cap(l.spare[found])) {
			found = i
		}
	}
	if found < 0 {
		return nil
	}
	return l.remove(found)
}

// remove takes one out of the list. l.mu is held.
func (l *largeBuffers) remove(i int) []byte {
	b := l.spare[i]
	l.spare = slices.Delete(l.spare, i, i+1)
	l.bytes -= cap(b)
	return b
}

// give takes back a buffer that is no longer used, if it is a large one. The oldest ones are dropped for it.
func (l *largeBuffers) give(b []byte) {
	if cap(b) > keptBuffer && cap(b) <= largestBuffer {
		l.add(b)
	}
}

func (l *largeBuffers) add(b []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.bytes+cap(b) > spareBuffers {
		l.remove(0)
	}
	l.spare = append(l.spare, b[:0])
	l.bytes += cap(b)
}
