package streamhttp

import "github.com/mcpkiln/mcpkiln/runtime/rpc"

// batchRequests are the requests of a batch, which one array answers. The array contains their ids, too, so they take no more memory than
// it and memberSize count.
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

// isArray reports whether the frame is an array: in the stream of a batch, one of answers.
func isArray(frame []byte) bool { return len(frame) > 0 && frame[0] == '[' }

// withdraw notes that a request is cancelled. It returns false if that is known, or the request is none of these.
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
