package server

import (
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// request is one request in flight, with the memory that serving it needs: the frame that it came in, which the params alias,
// and buffers for its answer. It is used
// again when it is answered; a Call, which handlers may keep by mistake, is not part of it.
type request struct {
	p      *peer
	wire   *wire
	method *Method
	tool   *Tool // of tools/call
	entry  *inflight.Entry
	id     rpc.ID
	params Params

	frame   []byte // as received
	out     []byte // the answer
	scratch []byte // parts of it

	// after runs when the answer was accepted, or was not to be written.
	after func()
}

// keptBuffer is the largest buffer that is kept for another request, in bytes.
const keptBuffer = 64 << 10

func (s *Server) newRequest(p *peer) *request {
	r, ok := s.requests.Get().(*request)
	if !ok {
		r = new(request)
	}
	r.p = p
	return r
}

// release gives r back. Nothing may use it or what aliases its frame afterwards.
func (r *request) release() {
	frame, out, scratch := keep(r.frame), keep(r.out), keep(r.scratch)
	s := r.p.s
	*r = request{frame: frame, out: out, scratch: scratch}
	s.requests.Put(r)
}

func keep(b []byte) []byte {
	if cap(b) > keptBuffer {
		return nil
	}
	return b[:0]
}
