package server

import (
	"errors"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// A client that lacks a capability which a request turns out to take is refused, and over HTTP that refusal has a status of its own. A
// response that has begun has its status already. So what a handler says waits where its request may still be refused: the newest progress,
// and the first log messages. They go out right before the answer, or are dropped where that is the refusal (LET20).
//
// A handler with a question whose OnUnsupported is Fail may ask it at any time: what its call says waits for its end. Requests of the handlers' own
// may come from any handler, which would never say anything before its end. What they say waits for maxUndecided, or until it is too much to
// keep: most handlers ask early. Where one finds out later that it can not, the refusal becomes a result with isError (unbegun), or an
// internal error where there is no such result: the error goes with its status, or not at all.

// maxUndecided is how long what a handler says waits for requests of its own.
const maxUndecided = 2 * time.Second

// undecided reports whether a call of t, nil for a method, or a request for an entry of a registry, by a client with these abilities may be
// refused with a status of its own at any time.
func (w *revision) undecided(t *Tool, entry EntryPolicy, can ability) bool {
	return (entry.MustAsk || t != nil && t.MustAsk) && w.HTTP.Statuses.MissingCapability != 0 && can&w.asking != w.asking
}

// Undecided reports whether the request may end with an error that has a status of its own until the server has written something about it: what
// its handler says waits for its end (LET20), and the transport does not begin the response either.
func (to *Routed) Undecided() bool {
	if to.Kind != rpc.KindRequest || to.revision == nil || to.method == nil {
		return false
	}
	s := to.reading.s
	entry := s.policyOf(to.method, &to.params)
	return (to.Tool != nil || entry.MustAsk) && to.revision.undecided(to.Tool, entry, s.declared.abilities(to.revision, to.params.ClientCapabilities))
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

// withheld is what a call has said that waits.
type withheld struct {
	brief bool // for maxUndecided; else for the end of the call

	mu      sync.Mutex // held while it is sent
	notices []notification
	bytes   int
	clock   *time.Timer // of brief, from the first word on
	sent    bool        // nothing waits any more
	over    bool        // nothing is said any more
}

// mayRefuse reports whether a request of the handlers' own may turn out to be more than a client with these abilities can be asked. Which
// parts of a capability it will take is not known.
func (w *revision) mayRefuse(can ability) bool {
	return w.HTTP.Statuses.MissingCapability != 0 && can&w.requesting != w.requesting
}

// withheld is where what the call says waits, nil if it does not; says: it can say something.
func (r *request) withheld(says bool) *withheld {
	switch w := r.revision; {
	case r.p.refuser == nil:
	case w.undecided(r.tool, r.policy, r.can):
		return new(withheld)
	case says && !r.method.NoInput && w.mayRefuse(r.can):
		return &withheld{brief: true}
	}
	return nil
}

// withhold keeps a notification. False: it has nothing to wait for.
func (c *Call) withhold(n notification) bool {
	h := c.withheld
	if h == nil {
		return false
	}
	h.mu.Lock()
	fits := len(h.notices) < maxWithheld && h.bytes+len(n.params) <= maxWithheldBytes
	if h.brief && !fits && !h.over {
		c.sendBrief(h)
	}
	sent, over := h.sent, h.over
	if !sent && !over && fits {
		h.notices, h.bytes = append(h.notices, n), h.bytes+len(n.params)
		c.clockBrief(h)
	}
	h.mu.Unlock()
	if !sent && !over && !fits {
		c.dropped("too many before the answer")
	}
	return !sent
}

// withholdProgress notes that the call has progress that waits.
func (c *Call) withholdProgress() {
	if h := c.withheld; h != nil && h.brief {
		h.mu.Lock()
		defer h.mu.Unlock()
		c.clockBrief(h)
	}
}

// clockBrief has what waits briefly sent in time. With h.mu.
func (c *Call) clockBrief(h *withheld) {
	if h.brief && h.clock == nil && !h.over {
		h.clock = time.AfterFunc(maxUndecided, func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			if !h.over {
				c.sendBrief(h)
			}
		})
	}
}

// sendBrief sends what has waited, and lets the rest pass. With h.mu.
func (c *Call) sendBrief(h *withheld) {
	if h.sent {
		return
	}
	h.sent = true
	c.sendNotices(h)
	if c.progress != nil {
		c.progress.pass()
	}
}

func (c *Call) sendNotices(h *withheld) {
	about := c.subject()
	for _, n := range h.notices {
		_ = about.send(n) // best effort
	}
	h.notices = nil
}

// sendWithheld sends the notifications that waited; later ones are dropped.
func (c *Call) sendWithheld() {
	h := c.withheld
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.over {
		h.end()
		c.sendNotices(h)
	}
}

// dropWithheld: the request is refused, as if its handler had said nothing.
func (c *Call) dropWithheld() {
	h := c.withheld
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.end()
	h.notices = nil
	if c.progress != nil && !h.sent {
		c.progress.drop()
	}
}

// end: nothing more waits. With mu.
func (h *withheld) end() {
	h.over = true
	if h.clock != nil {
		h.clock.Stop()
	}
}
