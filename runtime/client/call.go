package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/check/paramheader"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// call is one call of a caller: a request, and where a result may ask for input, all rounds of it.
type call struct {
	callConfig
	s               *Session
	dialect         *wire.Dialect
	op              *wire.Call
	tool            string
	cancelsSilently bool                // no cancellation is sent when it is given up
	mayBeTask       bool                // it may become a task; guarded by Session.mu once the call is registered, but while a round is in flight it does not change
	awaited         bool                // by CallTool: nobody gets the Ref of its task
	params          []paramheader.Param // arguments that headers repeat
	listening       *listening          // only of a subscription
	about           *follower           // only of a request about a task that is followed
	result          *resultRequest      // only of a request for the result of a task

	first      round    // the first request, mostly the only one, in the same allocation as the call
	scratch    [64]byte // memory for its short values: the name of the tool and the first token
	registered bool     // begin was called: it stays in Session.calls between its rounds, so that Requests lists it; guarded by Session.mu, and set before the first round

	mu       sync.Mutex
	round    *round        // the latest
	awaiting bool          // round waits for its answer
	spent    time.Duration // of maxTime, without the current round
	requests int           // how many were sent
	last     Progress
	// undeliveredAnswer is why the answer to what it has asked has not arrived, as far as it has not.
	undeliveredAnswer error
	gaveUp            *Cause             // why it was given up between two requests
	questions         map[*question]bool // those that it may have asked; true: the question has paused the clock
}

// round is one request of a call. It is the context that inflight keeps as Entry.Values, so that the entry leads back to it.
type round struct {
	context.Context // nil; only Value is called
	call            *call
	entry           *inflight.Entry
	entryMemory     inflight.Room // memory for the entry
	values          *wire.Values
	reports         reports       // guarded by call.mu, but for its channel
	outer           stoppable     // the clock of the call for which this one is made; nil: none
	maxExtension    time.Duration // how long the round may take in all, with progress; 0: for ever
	gaveUp          sync.Once     // Session.giveUp was called
	violation       error         // the error with which it ends in place of an answer; guarded by call.mu

	late bool // expectLate was called; guarded by Session.mu
	sent bool // handed to the link; guarded by the link's lock
	// session is the id of the HTTP session in which it was sent; "" for none. busy is the HTTP status of its answer if that says to try again, nil for
	// another. stray is the id of an answer on its stream that is for another request; zero for none. noise is the error for what is no message on its
	// stream; nil for none. All four are only for the goroutine of its exchange, until the round is answered.
	session string
	busy    *StatusError
	stray   rpc.ID
	noise   error
}

// Value implements context.Context.
func (*round) Value(any) any { return nil }

// newCall returns a call of an operation, or an error if the revision or the server does not have it.
func (s *Session) newCall(op wire.Op, opts []CallOption) (*call, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	d := s.dialect.Load()
	c := &call{s: s, dialect: d, op: d.Call(op), callConfig: callConfig{timeout: s.cfg.timeout, maxTime: s.cfg.maxTime}}
	for _, o := range opts {
		o(&c.callConfig)
	}
	c.spent = c.before
	switch {
	case c.op == nil:
		return nil, &NotOfferedError{What: opNames[op], Revision: d.Version}
	case !s.server.has[op]:
		return nil, &NotOfferedError{What: c.op.Needs, Revision: d.Version}
	}
	return c, nil
}

// opNames are names for requests, in messages about revisions that do not have them.
var opNames = map[wire.Op]string{
	wire.OpPing: "a ping", wire.OpSetLevel: "log levels", wire.OpSubscribe: "single subscriptions", wire.OpUnsubscribe: "single subscriptions",
	wire.OpListen: "streams of notifications", wire.OpDiscover: "discovery", wire.OpListTasks: "lists of tasks", wire.OpGetTask: "tasks",
}

// begin registers the call in Session.calls until its end.
func (c *call) begin() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.registered = true
	c.s.calls[c] = struct{}{}
}

func (c *call) end() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	delete(c.s.calls, c)
	c.s.signalNoneLeft()
	if len(c.s.answers) > 0 {
		c.s.forgetAnswers()
	}
}

// do sends one request and returns its result, or why there is none.
func (c *call) do(ctx context.Context, v *wire.Values, extra []byte) ([]byte, error) {
	s := c.s
	r, room := c.newRound()
	r.values, r.outer, r.maxExtension = v, outerClock(ctx), max(0, c.maxTime-c.spent)
	id := s.tracker.NextID()
	if c.progress != nil || c.op.Op == wire.OpCallTool { // without a token no progress would extend the timeout
		v[wire.SlotProgressToken] = id.AppendJSON(room)
		if c.progress != nil {
			r.reports.c = make(chan Progress, maxReports)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, causeOf(ctx)
	}
	b := spareBuffers.Get().(*buffers)
	defer b.put()
	if err := c.write(b, id, v, extra); err != nil {
		return nil, err
	}
	limit, err := c.limit()
	if err != nil {
		return nil, err
	}
	info := inflight.Info{Kind: inflight.Kind{Method: c.op.Name, Tool: c.tool, Timeout: limit, Protected: c.op.Uncancellable}}
	e, err := s.tracker.RegisterIn(&r.entryMemory, ctx, s.key(id, inflight.Outgoing), info, r)
	if err != nil {
		return nil, cmp.Or(s.usable(), ErrClosed)
	}
	r.entry = e
	c.enter(r)
	defer c.leave(r)
	if err := s.link.send(ctx, b.frame, r); err != nil {
		r.fail(err)
	}
	return c.await(ctx, r)
}

// newRound returns memory for the next request, and for its token.
func (c *call) newRound() (r *round, room []byte) {
	if c.first.call == nil {
		r, room = &c.first, c.scratch[len(c.scratch)/2:len(c.scratch)/2]
	} else {
		r = new(round)
	}
	r.call = c
	return r, room
}

// read returns the values of a result.
func (c *call) read(l *wire.Layout, result []byte) (*wire.Values, error) {
	v := spareValues.Get().(*wire.Values)
	if err := l.Read(result, v); err != nil {
		return nil, broken(c.op.Name, "%w", err)
	}
	return v, nil
}

// causeOf returns the cause of the end of ctx, which is a caller's.
func causeOf(ctx context.Context) *Cause {
	err := context.Cause(ctx)
	var own *Cause
	if errors.As(err, &own) {
		return own
	}
	return &Cause{Source: inflight.SourceParent, Err: err}
}

// waitedFor returns a cause that says what was waited for, unless it says more already.
func waitedFor(cause *Cause, what string) *Cause {
	if cause.Reason != "" {
		return cause
	}
	told := *cause
	told.Reason = what
	return &told
}

// write encodes the request into b.frame.
func (c *call) write(b *buffers, id rpc.ID, v *wire.Values, extra []byte) (err error) {
	b.params = b.params[:0]
	if c.op.Params != nil || extra != nil {
		if b.params, err = c.op.Params.Append(b.params, v, extra); err != nil {
			return withPlace(err, extra)
		}
	}
	params := b.params
	if len(params) == len("{}") {
		params = nil
	}
	b.frame = rpc.AppendRequest(b.frame[:0], id, c.op.Name, params)
	return nil
}

// buffers are the memory in which a request is encoded.
type buffers struct{ params, frame []byte }

var spareBuffers = sync.Pool{New: func() any { return new(buffers) }}

// keepBuffer is the largest buffer that is used again. A link may keep a frame that is larger.
const keepBuffer = 16 << 10

func (b *buffers) put() {
	if cap(b.frame) <= keepBuffer && cap(b.params) <= keepBuffer {
		spareBuffers.Put(b)
	}
}

// enter makes r the request that the call waits for. If the session is lost, or is being closed and the
// request may become a task, which Close would miss, the request is cancelled before it is sent.
func (c *call) enter(r *round) {
	s := c.s
	s.mu.Lock()
	c.mu.Lock()
	c.round, c.awaiting = r, true
	c.requests++
	c.mu.Unlock()
	if !c.registered {
		s.calls[c] = struct{}{}
	}
	tooLate, lost := s.closing && c.mayBeTask, s.lost
	s.mu.Unlock()
	switch {
	case lost != nil: // since usable was asked: lose may have cancelled what there was before this
		r.entry.Cancel(lostCause(lost))
	case tooLate:
		r.entry.Cancel(closedCause())
	}
}

// leave ends a round, and the questions that only it can have asked.
func (c *call) leave(r *round) {
	if !c.registered {
		c.end()
	}
	c.mu.Lock()
	c.spent += time.Since(r.entry.Started()) - r.entry.Paused()
	c.mu.Unlock()
	c.endQuestions(r)
}

// endQuestions ends the questions that only this round can have asked: it is over, or its answer was read (CAN31).
func (c *call) endQuestions(r *round) {
	c.mu.Lock()
	if c.round != r {
		c.mu.Unlock()
		return
	}
	c.awaiting = false
	open := c.questions
	c.questions = nil
	c.mu.Unlock()
	for q := range open {
		q.askerEnded(c)
	}
}

// await waits for the answer, and passes progress on meanwhile.
func (c *call) await(ctx context.Context, r *round) ([]byte, error) {
	for r.reports.c != nil {
		select {
		case p := <-r.reports.c:
			c.progress(p)
			continue
		case <-r.entry.Done():
		case <-ctx.Done():
		}
		break
	}
	answer, err := r.entry.Await()
	for err == nil && len(r.reports.c) > 0 { // what came before the answer
		c.progress(<-r.reports.c)
	}
	c.mu.Lock()
	bad := r.violation
	c.mu.Unlock()
	switch {
	case err == nil && bad != nil:
		return nil, bad
	case err != nil:
		if cause := r.entry.Cause(); cause != nil {
			c.s.giveUp(r.entry, r, cause) // before the caller goes on, and perhaps closes the session
		}
		return nil, c.s.ended(err)
	case answer.Err != nil:
		if r.busy != nil {
			answer.Err.Wait, answer.Err.Busy = r.busy.RetryAfter, true
		}
		if refused := c.versionRefused(answer.Err); refused != nil {
			c.s.lose(refused)
			return nil, refused
		}
		return nil, answer.Err
	}
	return answer.Result, nil
}

// ended returns the error of a request that ended with err. If the connection ended, the error has what is known of that.
func (s *Session) ended(err error) error {
	var cause *Cause
	if !errors.As(err, &cause) || cause.Source != inflight.SourceDisconnect {
		return err
	}
	s.mu.Lock()
	lost := s.lost
	s.mu.Unlock()
	if version := (*VersionError)(nil); errors.As(lost, &version) {
		return version
	}
	out := &TransportError{Err: errors.New(cause.Reason), cause: cause}
	var known *TransportError
	if errors.As(lost, &known) {
		out.Err, out.Stderr, out.Noise = known.Err, known.Stderr, known.Noise
	}
	return out
}

// values returns spare values with those of every request (Session.base). Spare ones are empty, so only these are copied.
func (c *call) values() *wire.Values {
	v := spareValues.Get().(*wire.Values)
	for _, slot := range c.s.baseSlots {
		v[slot] = c.s.base[slot]
	}
	return v
}

// spareValues are of answered calls of tools, to be used again. They are half of what such a call allocates.
var spareValues = sync.Pool{New: func() any { return new(wire.Values) }}

// release makes values available for another call.
func release(v *wire.Values) {
	*v = wire.Values{}
	spareValues.Put(v)
}

// callerMeta returns an object with the _meta of the caller as its only member; nil if there is none.
func (c *call) callerMeta() json.RawMessage {
	if c.meta == nil {
		return nil
	}
	extra := check.AppendString(json.RawMessage{'{'}, c.dialect.Meta)
	return append(append(append(extra, ':'), c.meta...), '}')
}
