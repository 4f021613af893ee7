package client

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Filter says which notifications a server is to send: about changes of its lists, about resources, and about tasks.
type Filter struct {
	Tools, Prompts, Resources bool
	URIs                      []string // of resources
	Tasks                     []string // ids of tasks, see Ref
}

// Subscription is a stream of notifications, which reach the session's handlers. It ends by Close, or because the server ends it.
type Subscription struct {
	// Served is the part of the filter that the server has acknowledged. Nothing else reaches the handlers.
	Served Filter

	cancel context.CancelCauseFunc
	done   chan struct{}
	err    error // final when done is closed
}

// errUnsubscribed is the cause of a subscription that Close has ended.
var errUnsubscribed = errors.New("client: the subscription is closed")

// Listen asks for notifications, in revisions without a handshake: in the others the server sends them unasked, and Subscribe is for resources. It
// returns when the server has acknowledged; ctx is only for that. After the end of a process or connection, listen again.
func (s *Session) Listen(ctx context.Context, f Filter) (*Subscription, error) {
	c, err := s.newCall(wire.OpListen, []CallOption{Timeout(s.cfg.timeout, 0)}) // the time to be acknowledged, see acknowledge
	if err != nil {
		return nil, err
	}
	for _, uri := range f.URIs {
		if err := nameError("URI", uri); err != nil {
			return nil, err
		}
	}
	c.listening = &listening{asked: f, acknowledged: make(chan struct{})}
	v := c.values()
	f.write(v)
	sub := &Subscription{done: make(chan struct{})}
	var own context.Context
	own, sub.cancel = context.WithCancelCause(s.ctx)
	if !s.spawn(func() { sub.run(own, c, v) }) {
		sub.cancel(ErrClosed)
		return nil, ErrClosed
	}
	select {
	case <-c.listening.acknowledged:
		sub.Served = *c.listening.served.Load()
		return sub, nil
	case <-sub.done:
		var cause *Cause
		switch {
		case sub.err == nil:
			return nil, broken(c.op.Name, "it was answered and never acknowledged")
		case errors.As(sub.err, &cause) && cause.Source == inflight.SourceTimeout:
			return nil, &Cause{Source: inflight.SourceTimeout, Reason: "not acknowledged after " + s.cfg.timeout.String()}
		}
		return nil, sub.err
	case <-ctx.Done():
		cause := causeOf(ctx)
		sub.cancel(cause)
		return nil, cause
	}
}

func (sub *Subscription) run(ctx context.Context, c *call, v *wire.Values) {
	_, _, err := c.run(ctx, v, nil)
	if errors.Is(context.Cause(ctx), errUnsubscribed) {
		err = nil
	}
	sub.err = err
	sub.cancel(nil)
	close(sub.done)
}

// Close ends the subscription and waits until it has ended.
func (sub *Subscription) Close() error {
	sub.cancel(errUnsubscribed)
	<-sub.done
	return sub.err
}

// Done is closed when the subscription has ended.
func (sub *Subscription) Done() <-chan struct{} { return sub.done }

// Err returns why the subscription has ended; nil while it has not, after Close, and when the server ended it in order.
func (sub *Subscription) Err() error {
	select {
	case <-sub.done:
		return sub.err
	default:
		return nil
	}
}

func (f *Filter) write(v *wire.Values) {
	for slot, on := range map[wire.Slot]bool{wire.SlotToolsChanged: f.Tools, wire.SlotPromptsChanged: f.Prompts, wire.SlotResourcesChanged: f.Resources} {
		if on {
			v[slot] = []byte("true")
		}
	}
	for slot, list := range map[wire.Slot][]string{wire.SlotResourceURIs: f.URIs, wire.SlotTaskIDs: f.Tasks} {
		if len(list) > 0 {
			v[slot], _ = json.Marshal(list)
		}
	}
}

func (f *Filter) read(v *wire.Values) {
	*f = Filter{
		Tools: v.True(wire.SlotToolsChanged), Prompts: v.True(wire.SlotPromptsChanged), Resources: v.True(wire.SlotResourcesChanged),
		URIs: v.Texts(wire.SlotResourceURIs), Tasks: v.Texts(wire.SlotTaskIDs),
	}
}

// listening is what is known of a subscription while its request is in flight.
type listening struct {
	asked        Filter
	served       atomic.Pointer[Filter] // nil until the server has acknowledged it
	acknowledged chan struct{}          // closed then
}

// acknowledge handles the first message of a subscription, which names the request that asked for it. Only until then the request has a timeout.
func (s *Session) acknowledge(v *wire.Values) {
	e := s.tracker.Find(s.key(v.ID(wire.SlotSubscriptionID), inflight.Outgoing))
	if e == nil || e.Values().(*round).call.listening == nil {
		s.cfg.logger.Debug("an acknowledgement of what nobody asked for")
		return
	}
	l := e.Values().(*round).call.listening
	var served Filter
	served.read(v)
	served.limit(&l.asked)
	if l.served.CompareAndSwap(nil, &served) {
		e.Pause()
		close(l.acknowledged)
	}
}

// limit removes from f what was not asked for.
func (f *Filter) limit(asked *Filter) {
	other := func(in []string) func(string) bool {
		return func(one string) bool { return !slices.Contains(in, one) }
	}
	f.Tools, f.Prompts, f.Resources = f.Tools && asked.Tools, f.Prompts && asked.Prompts, f.Resources && asked.Resources
	f.URIs, f.Tasks = slices.DeleteFunc(f.URIs, other(asked.URIs)), slices.DeleteFunc(f.Tasks, other(asked.Tasks))
}

// wanted reports whether a notification may reach the handlers: where a client has to ask for notifications, only one that an open subscription has
// asked for and the server has acknowledged (EXT13). One that does not name its subscription belongs to that of its stream, or to any if all share one.
func (s *Session) wanted(op wire.Op, v *wire.Values, from *round) bool {
	switch op {
	case wire.OpToolsChanged, wire.OpPromptsChanged, wire.OpResourcesChanged, wire.OpResourceUpdated:
	case wire.OpTaskStatus:
		if !v.Has(wire.SlotSubscriptionID) {
			return true // all that it does is to have the task's state read sooner
		}
	default:
		return true
	}
	switch {
	case s.dialect.Load().Call(wire.OpListen) == nil:
		return true
	case v.Has(wire.SlotSubscriptionID):
		e := s.tracker.Find(s.key(v.ID(wire.SlotSubscriptionID), inflight.Outgoing))
		return e != nil && (from == nil || from.entry == e) && e.Values().(*round).call.serves(op, v)
	case from != nil:
		return from.entry.Err() == nil && from.call.serves(op, v)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.calls {
		if c.serves(op, v) {
			return true
		}
	}
	return !s.ready // the server may be one of another revision
}

// serves reports whether the call is a subscription that the notification may belong to.
func (c *call) serves(op wire.Op, v *wire.Values) bool {
	if c.listening == nil {
		return false
	}
	f := c.listening.served.Load()
	switch {
	case f == nil:
		return false
	case op == wire.OpToolsChanged:
		return f.Tools
	case op == wire.OpPromptsChanged:
		return f.Prompts
	case op == wire.OpResourcesChanged:
		return f.Resources
	case op == wire.OpTaskStatus:
		return slices.Contains(f.Tasks, v.Text(wire.SlotTaskID))
	}
	uri := v.Text(wire.SlotURI)
	return slices.ContainsFunc(f.URIs, func(served string) bool { return isPartOf(uri, served) })
}

// isPartOf reports whether uri names the resource or a part of it, of whose change the subscription also hears.
func isPartOf(uri, resource string) bool {
	rest, ok := strings.CutPrefix(uri, resource)
	return ok && (rest == "" || strings.HasSuffix(resource, "/") || strings.ContainsAny(rest[:1], "/?#"))
}

// endSubscription handles a cancellation by the server if it is for a subscription, and returns whether it is: so a server ends one on a shared link.
func (s *Session) endSubscription(v *wire.Values) bool {
	e := s.tracker.Find(s.key(v.ID(wire.SlotRequestID), inflight.Outgoing))
	if e == nil || e.Values().(*round).call.listening == nil {
		return false
	}
	return s.tracker.Deliver(e.Key(), inflight.Response{Result: []byte("{}")})
}
