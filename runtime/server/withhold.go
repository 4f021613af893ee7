package server

import (
	"errors"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// A client that lacks a capability which a question takes is refused, and over HTTP that refusal has a status of its own. A response that has
// begun has its status already. So what a handler says that has a question whose OnUnsupported is Fail, or whose clientCapabilities in the
// manifest name something that the client lacks, waits for the end of its call: the newest progress, and the first log messages. They go out
// right before the answer, or are dropped where that is the refusal (LET20).
//
// Without that list any handler may send any request of the manifest (Send), and would never say anything before its end: there such requests do not
// count. To hold what is said for a while was rejected: clients that follow a call would see its progress late, and most never refuse anything.
// Where such a request turns out to be impossible when the response has begun, the refusal becomes a result with isError (unbegun), or an
// internal error where there is no such result: the error goes with its status, or not at all.

// undecided reports whether a call of t, nil for a method, or a request for an entry of a registry, by a client with these abilities may be
// refused with a status of its own at any time.
func (rev *revision) undecided(t *Tool, entry EntryPolicy, can ability) bool {
	asks, listed := entry.MustAsk, entry.ClientCapabilities
	if t != nil {
		asks, listed = t.MustAsk, t.ClientCapabilities
	}
	if rev.HTTP.Statuses.MissingCapability == 0 || !asks && listed == nil {
		return false
	}
	takes := rev.listed(listed)
	if asks {
		takes |= rev.asking
	}
	return can&takes != takes
}

// Undecided reports whether the request may end with an error that has a status of its own until the server has written something about it: what
// its handler says waits for its end (LET20), and the transport does not begin the response either.
func (to *Routed) Undecided() bool {
	if to.Kind != rpc.KindRequest || to.revision == nil || to.method == nil {
		return false
	}
	s := to.server
	entry := s.policyOf(to.method, &to.params)
	return (to.Tool != nil || !entry.isZero()) && to.revision.undecided(to.Tool, entry, s.declared.abilities(to.revision, to.params.ClientCapabilities))
}

// Holder is a Refuser whose errors can have a status of their own only as long as the response has not begun.
type Holder interface {
	// HoldUntilAnswer has nothing but the answer begin the response from now on. It is false if the response has begun.
	HoldUntilAnswer() bool
}

// unbegun is what err is answered with: itself, or, if it has a status of its own that the response does not have any more, what came of the
// request in its place. It is called when the handler has nothing more to say.
func (r *request) unbegun(err error) (instead *rpc.Error, late bool) {
	own, ok := errors.AsType[*rpc.Error](err)
	if !ok || own.Code != r.revision.Codes.MissingCapability || r.revision.status(own) == 0 {
		return nil, false
	}
	if out, ok := r.p.refuser.(Holder); !ok || out.HoldUntilAnswer() {
		return nil, false
	}
	return rpc.Errorf(rpc.CodeInternalError, "%s", own.Message), true
}

// What is kept of the log messages of one call; further ones are dropped and counted like those that come too often.
const (
	maxWithheld      = 32
	maxWithheldBytes = 64 << 10
)

// withheld is what a call has said that waits for its end.
type withheld struct {
	mu      sync.Mutex // held while it is sent
	notices []notification
	bytes   int
	over    bool // nothing is said any more
}

// withhold keeps a log message for the end of the call. False: it has nothing to wait for.
func (c *Call) withhold(n notification) bool {
	h := c.withheld
	if h == nil {
		return false
	}
	h.mu.Lock()
	kept := h.over || len(h.notices) < maxWithheld && h.bytes+len(n.params) <= maxWithheldBytes
	if kept && !h.over {
		h.notices, h.bytes = append(h.notices, n), h.bytes+len(n.params)
	}
	h.mu.Unlock()
	if !kept {
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

// dropWithheld: the request is refused, as if its handler had said nothing.
func (c *Call) dropWithheld() {
	h := c.withheld
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over, h.notices = true, nil
	if c.progress != nil {
		c.progress.drop()
	}
}
