package server

// A question with OnUnsupported Fail refuses the call of a client that can not be asked, and over HTTP that refusal has a status of its
// own. A response that has begun has its status already. So what such a call says waits for its end: the newest progress, and the first log
// messages. They go out right before its answer, or are dropped where that is the refusal (LET20).

// undecided tells whether a call of t by a client with these abilities may be refused with a status of its own at any time.
func (w *wire) undecided(t *Tool, can ability) bool {
	return t.MustAsk && w.HTTP.Statuses.MissingCapability != 0 && can&w.asking != w.asking
}

// Undecided tells whether the request may end with an error that has a status of its own until the server has written something about it: what
// its handler says waits for its end (LET20), and the transport does not begin the response either.
func (to *Routed) Undecided() bool {
	return to.Tool != nil && to.wire.undecided(to.Tool, to.reading.s.declared.abilities(to.wire, to.params.ClientCapabilities))
}

// What is kept of the log messages of one call; further ones are dropped and counted like those that come too often.
const (
	maxWithheld      = 32
	maxWithheldBytes = 64 << 10
)

// withheld are log messages that wait for the end of their call; guarded by its mu.
type withheld struct {
	frames [][]byte
	bytes  int
	over   bool
}

// withhold keeps a log message for the end of the call. False: the call has nothing to wait for.
func (c *Call) withhold(frame []byte) bool {
	h := c.withheld
	if h == nil {
		return false
	}
	c.mu.Lock()
	kept := h.over || len(h.frames) < maxWithheld && h.bytes+len(frame) <= maxWithheldBytes
	if kept && !h.over {
		h.frames, h.bytes = append(h.frames, frame), h.bytes+len(frame)
	}
	c.mu.Unlock()
	if !kept {
		c.dropped("too many before the answer")
	}
	return true
}

// tellWithheld sends what waited; nothing waits any more.
func (c *Call) tellWithheld() {
	if c.withheld == nil {
		return
	}
	about := c.subject()
	for _, frame := range c.takeWithheld() {
		_ = about.tell(frame) // best effort
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

func (c *Call) takeWithheld() [][]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	frames := c.withheld.frames
	*c.withheld = withheld{over: true}
	return frames
}
