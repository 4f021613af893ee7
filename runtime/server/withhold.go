package server

import (
	"errors"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// A question with OnUnsupported Fail refuses the call of a client that can not be asked, and over HTTP that refusal has a status of its
// own. A response that has begun has its status already. So what such a call says waits for its end: the newest progress, and the first log
// messages. They go out right before its answer, or are dropped where that is the refusal (LET20). Requests of the handlers' own do not
// count: any tool may send those that the manifest lists, and would never say anything before its end. Where one of them turns out to be
// impossible when the response has begun, the refusal becomes a result with isError (unbegun), or an internal error where there is no such
// result: the error goes with its status, or not at all.

// undecided reports whether a call of t, nil for a method, by a client with these abilities may be refused with a status of its own at any
// time.
func (w *revision) undecided(t *Tool, can ability) bool {
	return t != nil && t.MustAsk && w.HTTP.Statuses.MissingCapability != 0 && can&w.asking != w.asking
}

// Undecided reports whether the request may end with an error that has a status of its own until the server has written something about it: what
// its handler says waits for its end (LET20), and the transport does not begin the response either.
func (to *Routed) Undecided() bool {
	return to.Tool != nil && to.revision.undecided(to.Tool, to.reading.s.declared.abilities(to.revision, to.params.ClientCapabilities))
}

// Unbegun is a Refuser whose errors can have a status of their own only as long as the response has not begun.
type Unbegun interface {
	// Unbegun reports whether it has not. If so, from now on nothing but the answer begins it.
	Unbegun() bool
}

// unbegun is what err is answered with: itself, or, if it has a status of its own that the response does not have any more, what came of the
// request in its place. It is called when the handler has nothing more to say.
func (r *request) unbegun(err error) (instead *rpc.Error, late bool) {
	own, ok := errors.AsType[*rpc.Error](err)
	if !ok || own.Code != r.revision.Codes.MissingCapability || r.revision.status(own) == 0 {
		return nil, false
	}
	if out, ok := r.p.refuser.(Unbegun); !ok || out.Unbegun() {
		return nil, false
	}
	return rpc.Errorf(rpc.CodeInternalError, "%s", own.Message), true
}

// What is kept of the log messages of one call; further ones are dropped and counted like those that come too often.
const (
	maxWithheld      = 32
	maxWithheldBytes = 64 << 10
)

// withheld are log messages that wait for the end of their call; guarded by its mu.
type withheld struct {
	notices []notification
	bytes   int
	over    bool
}

// withhold keeps a log message for the end of the call. False: the call has nothing to wait for.
func (c *Call) withhold(n notification) bool {
	h := c.withheld
	if h == nil {
		return false
	}
	c.mu.Lock()
	kept := h.over || len(h.notices) < maxWithheld && h.bytes+len(n.params) <= maxWithheldBytes
	if kept && !h.over {
		h.notices, h.bytes = append(h.notices, n), h.bytes+len(n.params)
	}
	c.mu.Unlock()
	if !kept {
		c.dropped("too many before the answer")
	}
	return true
}

// sendWithheld sends the log messages that waited; later ones are dropped.
func (c *Call) sendWithheld() {
	about := c.subject()
	for _, n := range c.takeWithheld() {
		_ = about.send(n) // best effort
	}
}

// dropWithheld: the call is refused, as if it had said nothing.
func (c *Call) dropWithheld() {
	if c.withheld == nil {
		return
	}
	c.takeWithheld()
	if c.progress != nil {
		c.progress.drop()
	}
}

func (c *Call) takeWithheld() []notification {
	c.mu.Lock()
	defer c.mu.Unlock()
	notices := c.withheld.notices
	*c.withheld = withheld{over: true}
	return notices
}
