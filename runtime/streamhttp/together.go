package streamhttp

import "github.com/mcpkiln/mcpkiln/runtime/rpc"

// together is the requests of a batch, which one array answers. Their ids are in that, too, so they take no more than it and memberSize count.
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

// wanted is what is left of an event without what is about requests that are cancelled.
func (t *together) wanted(e storedEvent) storedEvent {
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
