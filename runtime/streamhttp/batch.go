package streamhttp

import "github.com/mcpkiln/mcpkiln/runtime/rpc"

// batchRequests are the requests of a batch, which one array answers. The array has their ids, too, so that counting it and memberSize for each
// request covers the memory of states.
type batchRequests struct {
	states byID[batchState]
	some   bool // at least one is cancelled
}

// batchState is what became of a request; zero: it is not of this batch.
type batchState uint8

const (
	notCancelled batchState = iota + 1
	cancelled               // after the server was done with it
)

func newBatchRequests(ids []rpc.ID) batchRequests {
	var t batchRequests
	for _, id := range ids {
		t.states.set(id, notCancelled)
	}
	return t
}

// isArray reports whether the frame is an array, which in the stream of a batch is one of answers.
func isArray(frame []byte) bool { return len(frame) > 0 && frame[0] == '[' }

// cancel records that a request is cancelled. It returns false if that is known already, or the request is not of this batch.
func (t *batchRequests) cancel(id rpc.ID) bool {
	if t.states.get(id) != notCancelled {
		return false
	}
	t.states.set(id, cancelled)
	t.some = true
	return true
}

func (t *batchRequests) isCancelled(id rpc.ID) bool { return t.states.get(id) == cancelled }

// wanted returns an event without what is about cancelled requests.
func (t *batchRequests) wanted(e storedEvent) storedEvent {
	switch {
	case !t.some || e.size() == 0:
	case e.about != nil && t.isCancelled(*e.about):
		return storedEvent{}
	case e.about != nil:
	case e.long != nil:
		e.long = e.long.Without(t.isCancelled)
	default:
		e.frame = rpc.WithoutAnswers(e.frame, t.isCancelled)
	}
	return e
}
