package server

import (
	"errors"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// A call is refused if it asks for something that requires a capability which the client lacks, over HTTP with a status of its own. A
// response that has begun has its status already. So if the handler has a question whose OnUnsupported is Fail, or clientCapabilities in the
// manifest that the client lacks, messages of the call are withheld until its end: the newest progress, and the first log messages. They go
// out right before the answer, or are dropped if that is the refusal (LET20).
//
// Without clientCapabilities any handler may send any custom request of the manifest (Send), so all messages of all handlers would be withheld:
// such requests do not count then. Withholding messages for a short time was rejected: clients that follow a call would see its progress late, and
// most calls are never refused. If such a request turns out to be impossible when the response has begun, the refusal becomes a result with isError
// (refusedTooLate), or an internal error where there is no such result: the JSON-RPC error of the refusal is sent with its HTTP status, or not at all.

// mayRefuseLate reports whether a request by a client with these abilities may still be refused, with a status of its own, as long as its handler has not
// returned. The request calls t, or asks for a prompt or resource with the policy entry; t and entry are nil for any other request.
func (rev *revision) mayRefuseLate(t *Tool, entry *EntryPolicy, can ability) bool {
	var asks bool
	var listed []string
	switch {
	case t != nil:
		asks, listed = t.MustAsk, t.ClientCapabilities
	case entry != nil:
		asks, listed = entry.MustAsk, entry.ClientCapabilities
	}
	if rev.HTTP.Statuses.MissingCapability == 0 || !asks && listed == nil {
		return false
	}
	needed := rev.listed(listed)
	if asks {
		needed |= rev.formNeeds
	}
	return can&needed != needed
}

// Undecided reports whether the request may end with an error that has a status of its own, as long as the server has written nothing about it. Then
// the messages of its handler are withheld (LET20), and the transport does not begin the response either.
func (to *Routed) Undecided() bool {
	if to.Kind != rpc.KindRequest || to.revision == nil || to.method == nil {
		return false
	}
	s := to.server
	entry := s.policyOf(to.method, &to.params)
	return (to.Tool != nil || !entry.isZero()) && to.revision.mayRefuseLate(to.Tool, entry, s.declared.abilities(to.revision, to.params.ClientCapabilities))
}

// Holder is a Refuser whose errors can have a status of their own only as long as the response has not begun.
type Holder interface {
	// HoldUntilAnswer lets only the answer begin the response from now on. It returns false if the response has begun.
	HoldUntilAnswer() bool
}

// refusedTooLate returns the error that is answered instead of err, and true, if err has a status of its own and the response has begun with
// another one. It is called when the handler has returned.
func (r *request) refusedTooLate(err error) (instead *rpc.Error, late bool) {
	own, ok := errors.AsType[*rpc.Error](err)
	if !ok || own.Code != r.revision.Codes.MissingCapability || r.revision.status(own) == 0 {
		return nil, false
	}
	if out, ok := r.p.refuser.(Holder); !ok || out.HoldUntilAnswer() {
		return nil, false
	}
	return rpc.Errorf(rpc.CodeInternalError, "%s", own.Message), true
}

// How many log messages of one call are withheld, and how many bytes of them; further ones are dropped and counted like those that come too
// often.
const (
	maxWithheld      = 32
	maxWithheldBytes = 64 << 10
)

// withheld are the messages of a call that wait for its end.
type withheld struct {
	mu      sync.Mutex // held while they are sent
	notices []notification
	bytes   int
	over    bool // later messages are dropped
}

// withhold keeps a log message for the end of the call. It returns false if the message need not wait.
func (c *Call) withhold(n notification) bool {
	h := c.withheld
	if h == nil {
		return false
	}
	h.mu.Lock()
	over, full := h.over, len(h.notices) == maxWithheld || h.bytes+len(n.params) > maxWithheldBytes
	if !over && !full {
		h.notices, h.bytes = append(h.notices, n), h.bytes+len(n.params)
	}
	h.mu.Unlock()
	if !over && full {
		c.dropped("too many before the answer")
	}
	return true
}

// sendWithheld sends the log messages that waited; later ones are dropped.
func (c *Call) sendWithheld() {
	h := c.withheld
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return
	}
	h.over = true
	about := c.subject()
	for _, n := range h.notices {
		_ = about.send(n) // best effort
	}
	h.notices = nil
}

// dropWithheld drops the messages of a request that is refused.
func (c *Call) dropWithheld() {
	h := c.withheld
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over, h.notices = true, nil
	c.progress.drop()
}
