package server

import (
	"context"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// request is one request in flight, with the memory that serving it needs: the frame that it came in, which the
// params alias, and buffers for its answer. It is used again when it is answered. A Call is not, because handlers may
// keep it by mistake.
type request struct {
	p            *peer
	wire         *wire
	method       *Method
	tool         *Tool // of tools/call
	task         bool  // the call becomes one
	can          ability
	raw          []byte          // the params, for methods of a MethodHandler
	values       context.Context // those that the handler sees beside the connection's; nil: none
	size         int             // of the message, which is kept until the request is over
	counted      bool            // in Server.calls
	account      *account        // has countedBytes; nil before it is counted
	countedBytes int64           // bytes that count in Server.bytes; under Call.mu while the handler runs, like smallBytes
	smallBytes   int64           // of answers that are too small to count
	room         room
	entry        *inflight.Entry
	id           rpc.ID
	since        uint64 // cancellations that were read before it
	telling      bool   // it holds peer.telling
	params       Params
	reading      reading // of params
	// repeated: the arguments have a repeated key, which decoding them has to find.
	repeated bool
	sub      *listen    // of subscriptions/listen
	result   CallResult // of tools/call; here, because an append function of the wire makes it escape

	frame   []byte // as received
	out     []byte // the answer
	scratch []byte // parts of it

	// after runs when the answer was accepted, or was not to be written.
	after func()
	// run is serve in a new goroutine, bound once: a go statement with it does not allocate.
	run func()
}

// beginTelling is called before the state of a task is read, endTelling when it was written, or is one that lasts.
func (r *request) beginTelling() {
	if !r.telling {
		r.p.telling.Lock()
		r.telling = true
	}
}

func (r *request) endTelling() {
	if r.telling {
		r.telling = false
		r.p.telling.Unlock()
	}
}

// keptBuffer is the largest buffer that is kept for another request, in bytes.
const keptBuffer = 64 << 10

func (s *Server) newRequest(p *peer) *request {
	r, ok := s.requests.Get().(*request)
	if !ok {
		r = new(request)
		r.run = func() {
			growStack(len(r.frame) & 1)
			r.serve()
		}
	}
	r.p, r.room = p, room{s: s, p: p}
	return r
}

// release gives r back. Nothing may use it or what aliases its frame afterwards.
func (r *request) release() {
	r.endTelling()
	r.uncount()
	r.room.s.keep(r)
}

func (s *Server) keep(r *request) {
	r.clear()
	s.requests.Put(r)
}

// clear forgets everything but the buffers, unless those are large.
func (r *request) clear() {
	*r = request{frame: keep(r.frame), out: keep(r.out), scratch: keep(r.scratch), run: r.run}
}

// reuse makes r ready for the next message of its peer, after one that did not become a request: nothing of that is kept until
// the next one comes, which may be never (TSK28).
func (r *request) reuse() {
	p := r.p
	r.clear()
	r.p, r.room = p, room{s: p.s, p: p}
}

func keep(b []byte) []byte {
	if cap(b) > keptBuffer {
		return nil
	}
	return b[:0]
}

// growStack makes the stack of a new goroutine as large as a call needs, while there is next to nothing on it. Growing on
// the way copies all frames two or three times: measured, that is a tenth of the time of a call. The argument keeps the
// compiler from seeing through it.
//
//go:noinline
func growStack(i int) byte {
	var room [4 << 10]byte
	return room[i]
}
