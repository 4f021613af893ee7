package client

import (
	"context"
	"encoding/json"
	"errors"

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
	// Served is the part of the filter that the server has acknowledged. It sends nothing else.
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
	c, err := s.newCall(wire.OpListen, []CallOption{Timeout(0, 0)})
	if err != nil {
		return nil, err
	}
	c.acknowledged = make(chan *wire.Values, 1)
	v := c.values()
	f.write(v)
	sub := &Subscription{done: make(chan struct{})}
	var own context.Context
	own, sub.cancel = context.WithCancelCause(s.ctx)
	if !s.spawn(func() { sub.run(own, c, v) }) {
		sub.cancel(ErrClosed)
		return nil, ErrClosed
	}
	if s.cfg.timeout > 0 {
		var cancel context.CancelFunc
		late := &Cause{Source: inflight.SourceTimeout, Reason: "not acknowledged after " + s.cfg.timeout.String()}
		ctx, cancel = context.WithTimeoutCause(ctx, s.cfg.timeout, late)
		defer cancel()
	}
	select {
	case ack := <-c.acknowledged:
		sub.Served.read(ack)
		return sub, nil
	case <-sub.done:
		if sub.err == nil {
			return nil, broken(c.op.Name, "it was answered and never acknowledged")
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

// acknowledge handles the first message of a subscription, which names the request that asked for it.
func (s *Session) acknowledge(v *wire.Values) {
	e := s.tracker.Find(s.key(v.ID(wire.SlotSubscriptionID), inflight.Outgoing))
	if e == nil {
		s.cfg.logger.Debug("an acknowledgement of what nobody asked for")
		return
	}
	if acknowledged := e.Values().(*round).call.acknowledged; acknowledged != nil {
		select {
		case acknowledged <- v:
		default:
		}
	}
}

// endSubscription handles a cancellation by the server if it is for a subscription: so it ends one in order where all messages come on one stream.
func (s *Session) endSubscription(v *wire.Values) bool {
	e := s.tracker.Find(s.key(v.ID(wire.SlotRequestID), inflight.Outgoing))
	if e == nil || e.Values().(*round).call.acknowledged == nil {
		return false
	}
	return s.tracker.Deliver(e.Key(), inflight.Response{Result: []byte("{}")})
}
