package streamhttp

import "github.com/mcpkiln/mcpkiln/runtime/rpc"

// batchRequests are the requests of a batch, which one array answers. The array has their ids, too, so that counting it and memberSize for each
// request covers the memory of cancelled.
type batchRequests struct {
	cancelled rpc.ByID[bool] // whether a request was cancelled after the server was done with it
	some      bool           // at least one is cancelled
}

func newBatchRequests(ids []rpc.ID) batchRequests {
	t := batchRequests{cancelled: make(rpc.ByID[bool], len(ids))}
	for _, id := range ids {
		t.cancelled.Set(id, false)
	}
	return t
}

// isArray reports whether the frame is an array, which in the stream of a batch is one of answers.
func isArray(frame []byte) bool { return len(frame) > 0 && frame[0] == '[' }

// cancel records that a request is cancelled. It returns false if that is known already, or the request is not of this batch.
func (t *batchRequests) cancel(id rpc.ID) bool {
	if cancelled, ok := t.cancelled[id.Plain()]; !ok || cancelled {
		return false
	}
	t.cancelled.Set(id, true)
	t.some = true
	return true
}

// wanted returns an event without what is about cancelled requests.
func (t *batchRequests) wanted(e storedEvent) storedEvent {
	switch {
	case !t.some || e.size() == 0:
	case e.about != nil && t.cancelled.Get(*e.about):
		return storedEvent{}
	case e.about != nil:
	case e.long != nil:
		e.long = e.long.Without(t.cancelled.Get)
	default:
		e.frame = rpc.WithoutAnswers(e.frame, t.cancelled.Get)
	}
	return e
}
