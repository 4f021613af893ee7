package streamhttp

import "github.com/mcpkiln/mcpkiln/runtime/rpc"

// together is the requests of a batch, which one array answers. Their ids are in that, too, so they take no more than it counts.
type together struct {
	cancelled rpc.ByID[bool] // whether a request is, after the server was done with it
	some      bool           // are
}

func newTogether(ids []rpc.ID) together {
	t := together{cancelled: make(rpc.ByID[bool], len(ids))}
	for _, id := range ids {
		t.cancelled.Set(id, false)
	}
	return t
}

// withdraw notes that a request is cancelled. It returns false if that is known, or the request is none of these.
func (t *together) withdraw(id rpc.ID) bool {
	if cancelled, ok := t.cancelled[id.Plain()]; !ok || cancelled {
		return false
	}
	t.cancelled.Set(id, true)
	t.some = true
	return true
}

// wanted is what is left of a frame without answers to requests that are cancelled; nil if there is nothing.
func (t *together) wanted(frame []byte) []byte {
	if !t.some {
		return frame
	}
	return rpc.WithoutAnswers(frame, t.cancelled.Get)
}
