package server

import (
	"context"
	"fmt"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// CustomNotification is a notification that the server defines, and no revision of the protocol. Generated code has one for each, and
// a function that calls Notify with it.
type CustomNotification[In any] struct {
	Method string
	Append func(b []byte, in *In) []byte
	// Decode validates what Append wrote.
	Decode func(d *check.Decoder, in *In)
}

// Notifier sends notifications to a client: a *Call while its handler runs, a *ClientSession outside of calls.
type Notifier interface {
	Asker
	tellCustom(ctx context.Context, n notification) error
}

// Notify sends a custom notification. That of a Call goes where the call's log messages go, and names the call's task, if there is one. If the server
// has extensions, a client that declared none of them would not know the notification, so it is not sent, and the error is nil; nor is it sent to a
// client that has not said yet that it is initialized (LET09).
// Errors: *UnsupportedError when there is nowhere to send it, as in a task that outlived its session, in any task of a stateless revision,
// and to a client that only listens; the cause of the end of the call or session; what is wrong with the params.
func Notify[In any](ctx context.Context, to Notifier, n *CustomNotification[In], in *In) error {
	s, rev, _ := to.env()
	if in == nil {
		return fmt.Errorf("server: %s takes params", n.Method)
	}
	params := n.Append(nil, in)
	if err := s.validate(params, func(d *check.Decoder) { n.Decode(d, new(In)) }); err != nil {
		return fmt.Errorf("server: the params of %s are invalid: %w", n.Method, err)
	}
	params, _ = rev.withoutOwnMembers(params, nil)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return to.tellCustom(ctx, notification{revision: rev, custom: n.Method, params: params})
}

func (c *Call) tellCustom(_ context.Context, n notification) error {
	switch {
	case c.peer != nil:
	case c.revision.Handshake:
		return &UnsupportedError{why: "the client can not be notified: the session of the task is over"}
	default:
		return &UnsupportedError{why: "the client can not be notified: a task of protocol revision " + c.revision.Version + " has no stream to it; set the task's status message instead"}
	}
	if !c.revision.tellsCustom(c.can) || c.revision.Handshake && !c.peer.hasBegun() {
		return nil
	}
	n.params = c.revision.relate(n.params, c.TaskID())
	if c.withhold(n) {
		return nil
	}
	return c.notify(n)
}

func (cs *ClientSession) tellCustom(_ context.Context, n notification) error {
	if cs.l != nil {
		return &UnsupportedError{why: "the client can not be notified: " + onlyListens}
	}
	if !n.revision.tellsCustom(cs.can()) {
		return nil
	}
	about := subject{peer: cs.p, ctx: cs.p.ctx}
	return cs.endCause(about.send(n))
}
