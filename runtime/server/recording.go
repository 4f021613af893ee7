package server

import (
	"context"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// recordings are the answers to tasks' questions on a transport that acknowledges messages, by the id of the question's request: from before the question is
// written until its answer is recorded. The transport acknowledges no answer before (DUR01), nor one that comes again meanwhile. An answer that could not
// be recorded before its delivery ended stays, so that it is refused when it comes again.
type recordings struct {
	mu   sync.Mutex
	byID rpc.ByID[*recording]
}

// recording is one try to record an answer.
type recording struct {
	over   chan struct{} // closed when the try has ended
	failed bool          // the answer is not recorded; final once over is closed
}

func (rec *recording) fail() {
	rec.failed = true
	close(rec.over)
}

// begin begins the first try, before the question with the id is written.
func (r *recordings) begin(id rpc.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byID == nil {
		r.byID = rpc.ByID[*recording]{}
	}
	r.byID.Set(id, &recording{over: make(chan struct{})})
}

// retry ends the try as a failed one, of which the transport learns (AwaitRecorded), and begins the next.
func (r *recordings) retry(id rpc.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rec := r.byID.Get(id); rec != nil {
		rec.fail()
		r.byID.Set(id, &recording{over: make(chan struct{})})
	}
}

// end ends the last try: the answer is recorded, or there is none to record.
func (r *recordings) end(id rpc.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rec := r.byID.Get(id); rec != nil {
		close(rec.over)
		r.byID.Delete(id)
	}
}

// fail ends the last try: the answer could not be recorded.
func (r *recordings) fail(id rpc.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rec := r.byID.Get(id); rec != nil {
		rec.fail()
	}
}

// of returns the newest try to record the answer to the question; nil: nothing is to be recorded, or not any more.
func (r *recordings) of(id rpc.ID) *recording {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byID.Get(id)
}

// isUnrecorded reports whether the answer could not be recorded, and no other try follows. rec is the newest try.
func (rec *recording) isUnrecorded() bool { return rec != nil && isClosed(rec.over) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// AwaitRecorded waits until the answers to tasks' questions in the frame are recorded; for any other frame it returns at once. It returns false if one is
// not recorded, or ctx or the session has ended first: the client has to send the frame again. sessionEnded, such as a context or a latch, is done
// when the session has ended.
func (got *Receipt) AwaitRecorded(ctx context.Context, sessionEnded interface{ Done() <-chan struct{} }) bool {
	for _, rec := range got.recordings {
		select {
		case <-rec.over:
			if rec.failed {
				return false
			}
		case <-ctx.Done():
			return false
		case <-sessionEnded.Done():
			return false
		}
	}
	return true
}
