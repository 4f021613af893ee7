package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/internal/stack"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// taskMeta is what a run needs to know about the request that created its task, also after a restart.
type taskMeta struct {
	Revision string          `json:"revision"`
	Tool     string          `json:"tool,omitempty"`   // the mark of the tool that accepted the arguments
	Token    json.RawMessage `json:"token,omitempty"`  // for progress (PRO03)
	Can      []string        `json:"can,omitempty"`    // what the client declared
	Meta     json.RawMessage `json:"meta,omitempty"`   // of the request
	Client   *Client         `json:"client,omitempty"` // of a session, without capabilities
	Earlier  earlierJournal  `json:"carried,omitzero"` // what inline runs recorded; the JSON key is "carried", because tasks already stored have that
}

// taskLocal is what runs of the task in this process need: of taskMeta, decoded, and in the process that created the task what is not stored, such as the
// connection.
type taskLocal struct {
	life     taskLife                 // zero in later runs, see ofTask. If its peer is nil, no progress is sent, and no question on a connection
	first    *taskLocal               // the taskLocal of the first run; nil: this is it
	tool     *Tool                    // that accepted the arguments: it may be removed before the task runs, or replaced
	progress atomic.Pointer[progress] // the latest run's; unused in later runs, like life
	revision *revision
	can      ability
	token    rpc.ID
	who      Requestor // whose account decoded bytes count in
	earlier  earlierJournal
	header   Header // of the request; nil: it had none, or one that is too large to keep
	ctx      valued // the run's context, which also has the values of the request's context
}

// ofTask is what all runs of the task in this process share.
func (l *taskLocal) ofTask() *taskLocal {
	if l.first != nil {
		return l.first
	}
	return l
}

// again returns the taskLocal of the next run; only called while the connection is there.
func (l *taskLocal) again() *taskLocal {
	return &taskLocal{first: l, tool: l.tool, revision: l.revision, can: l.can, token: l.token, who: l.who, earlier: l.earlier, header: l.header, ctx: valued{values: l.ctx.values}}
}

func (r *request) taskMeta(earlier *earlierJournal) []byte {
	meta := r.meta()
	b := check.AppendString(append(r.scratch[:0], `{"revision":`...), r.revision.Version)
	b = check.AppendString(append(b, `,"tool":`...), r.tool.mark)
	if !r.params.ProgressToken.IsZero() {
		b = r.params.ProgressToken.AppendJSON(append(b, `,"token":`...))
	}
	b = r.revision.appendAbilities(append(b, `,"can":`...), r.can)
	if meta != nil {
		b = append(append(b, `,"meta":`...), meta...)
	}
	if r.revision.Handshake && r.p.client != nil {
		b = r.p.client.appendJSON(append(b, `,"client":`...))
	}
	if !earlier.empty() {
		recorded, _ := json.Marshal(earlier) // no value of these types fails
		b = append(append(b, `,"carried":`...), recorded...)
	}
	r.scratch = append(b, '}')
	if r.params.ProgressToken.IsZero() && meta == nil && earlier.empty() {
		return r.sharedMeta(r.scratch)
	}
	return slices.Clone(r.scratch)
}

// sharedMeta returns a copy of what is to be stored of a task's request, where that says nothing of the request itself: tasks of a tool that clients of one
// kind create share it. It is kept with the tool, so it is bounded (TSK28).
func (r *request) sharedMeta(meta []byte) []byte {
	if last := r.tool.calls.meta.Load(); last != nil && bytes.Equal(*last, meta) {
		return *last
	}
	own := slices.Clone(meta)
	if len(own) <= smallMessage {
		r.tool.calls.meta.Store(&own)
	}
	return own
}

// runTask is the engine's runner: it runs the tool's handler and returns how the task ends.
func (s *Server) runTask(ctx context.Context, run *task.Run) (o task.Outcome) {
	stack.Grow()
	t := run.Task()
	call, err := s.taskCall(ctx, run, &t)
	if err != nil {
		return failed(rpc.Errorf(rpc.CodeInternalError, "%v", err))
	}
	r := s.newRun(call.local.who)
	defer s.endRun(r)
	if full := r.countText(t.Args); full != nil {
		return failed(full)
	}
	call.r, r.ctx = r, ctx
	call.local.ctx.Context = ctx
	if s.observed {
		s.observe(call.event(RunBegan))
		began := time.Now()
		defer func() { call.observeRun(began, &o) }()
	}
	result, err := s.execute(&call.local.ctx, call, t.Args)
	if f, ok := errors.AsType[*fault](err); ok { // unlike errors.As it does not allocate
		end := failed(&f.own) // the whole error of plainKind; of others the message and data, as revisions with a code for the kind show them
		end.Kind, end.Message, end.Status = f.kind, cmp.Or(f.status, f.text), call.revision.statusOf(f.kind, end.Status)
		if end.Message != f.text || len(f.text) > task.MaxStatusMessage { // it is cut there; revisions without a code for the kind show the whole text, as a result
			end.Result = packResult(&wire.CallResult{IsError: true, Content: appendText(nil, f.text)})
		}
		return end
	}
	if err != nil {
		return failed(asRPC(err))
	}
	return call.revision.outcome(&result)
}

// newRun returns a request that stands for the run of a task: it has no frame, but a body, and the account in which decoded bytes count.
func (s *Server) newRun(who Requestor) *request {
	r := s.pooled(&s.runs, nil)
	r.out, r.scratch = trimmed(r.out), trimmed(r.scratch)
	s.mu.Lock()
	defer s.mu.Unlock()
	r.reservation.account = s.openAccount(who)
	return r
}

func (s *Server) endRun(r *request) {
	a := r.reservation.account
	defer func() { // also when a reader ends the goroutine
		s.mu.Lock()
		defer s.mu.Unlock()
		s.leaveAccount(a)
	}()
	r.release()
}

func failed(err *rpc.Error) task.Outcome {
	return task.Outcome{Status: task.Failed, Message: err.Message, Error: err}
}

// outcome is how a task ends with a result.
func (rev *revision) outcome(result *wire.CallResult) task.Outcome {
	o := task.Outcome{Status: task.Completed, Result: packResult(result)}
	if result.IsError {
		o.Kind, o.Message, o.Status = toolError, textOf(result.Content), rev.statusOf(toolError, o.Status)
	}
	return o
}

// statusOf is the status that the revision shows for a task that ended with kind k (TSK12, EXT08); stored is the one in the store, which may
// have been decided for another revision.
func (rev *revision) statusOf(k kind, stored task.Status) task.Status {
	switch {
	case k == plainKind: // the same in every revision
		return stored
	case rev.code(k) != 0 || rev.Task.IsErrorFails:
		return task.Failed
	}
	return task.Completed
}

// ending returns the answer that the call would have had in the revision, without a task, from a client with these abilities (TSK10, LET17).
func (rev *revision) ending(t *task.Task, can ability) (wire.CallResult, error) {
	switch {
	case t.Error != nil && t.Kind != plainKind:
		f := &fault{kind: t.Kind, text: t.StatusMessage, own: *t.Error}
		result, err := rev.answer(f, can)
		if err == nil && len(t.Result) > 0 && rev.openable(f, can) == f {
			return rev.storedResult(t.Result)
		}
		return result, err
	case t.Error != nil:
		return wire.CallResult{}, t.Error
	case t.Status == task.Cancelled:
		return wire.CallResult{}, rpc.Errorf(task.CodeCancelled, "the task was cancelled")
	}
	return rev.storedResult(t.Result)
}

// storedResult returns a stored result as the revision can have it. Structured content that it can not have, such as a list of a task that was created in
// another revision, becomes the text that stands beside it, or would (LET01).
func (rev *revision) storedResult(stored []byte) (wire.CallResult, error) {
	r, err := unpackResult(stored)
	if err != nil || len(r.StructuredContent) == 0 || r.StructuredContent[0] == '{' || rev.CheckCallResult == nil {
		return r, err
	}
	structured := rev.AppendCallResult(nil, &wire.CallResult{Content: []byte("[]"), StructuredContent: r.StructuredContent})
	d := check.Get(structured, check.Limits{Bytes: len(structured)})
	defer d.Put()
	if rev.CheckCallResult(d); d.Finish() != nil {
		if string(r.Content) == "[]" {
			r.Content = appendTextOf(nil, r.StructuredContent)
		}
		r.StructuredContent = nil
	}
	return r, nil
}

// taskTimedOut returns how a task ends when its timeout has passed: as an inline call does.
func (s *Server) taskTimedOut(t task.Task) task.Outcome {
	if tool := s.waitedForSlot(t.ID); tool != nil {
		return failed(tool.busy())
	}
	var meta taskMeta
	_ = json.Unmarshal(t.Meta, &meta)                 // request.taskMeta wrote it; if it can not be read, the newest revision decides
	result := timeoutResult(t.Tool, t.Timeout, false) // whether the run lacked room for its answer is not known here
	return s.revisionOf(meta.Revision).outcome(&result)
}

// taskCall makes the Call for a run of the task.
func (s *Server) taskCall(ctx context.Context, run *task.Run, t *task.Task) (*Call, error) {
	c := &Call{s: s, taskRun: run}
	l, ok := run.Local().(*taskLocal)
	if !ok {
		if life := s.taskLife(t.ID); life != nil {
			l, ok = life.local.again(), true
		}
	}
	if ok {
		shared := l.ofTask()
		c.peer, c.tool, c.revision, c.can, c.local = shared.life.peer, l.tool, l.revision, l.can, l
		if c.peer != nil && l.revision.Task.Progress {
			c.progress.made = newProgress(c.subject(), l.revision, l.token, t.ID)
			before := shared.progress.Swap(c.progress.made)
			c.progress.made.goOnFrom(before)
		}
		return c, nil
	}
	return c, c.restore(t)
}

// restore reads what is stored of the task's request. Its connection is gone, so there is no progress.
func (c *Call) restore(t *task.Task) error {
	var meta taskMeta
	if err := json.Unmarshal(t.Meta, &meta); err != nil {
		return err
	}
	if c.tool, _ = c.s.toolOf(t); c.tool == nil {
		return fmt.Errorf("the tool %q of this task was removed; start the task again when the server lists the tool", t.Tool)
	}
	c.revision, c.local = c.s.revisionOf(meta.Revision), &taskLocal{earlier: meta.Earlier}
	c.local.who.principal = principalOf(t.Owner)
	c.can = c.revision.abilitiesOf(meta.Can)
	return nil
}

// revisionOf is the revision of the name, or the newest one if it is not served any more.
func (s *Server) revisionOf(revision string) *revision {
	for _, rev := range s.revisions {
		if rev.Version == revision {
			return rev
		}
	}
	return s.revisions[0]
}

// taskResult gives the answer that the call would have had without a task (TSK10), as soon as the task is over (TSK09). Meanwhile
// the request is a stream that takes the task's questions (TSK19).
func (r *request) taskResult(b []byte) ([]byte, error) {
	t, err := r.awaitTask()
	if err == nil {
		err = r.reservation.reserve(r.ctx, int64(len(t.Result)))
	}
	if err != nil {
		return b, r.taskError(err)
	}
	r.noteToolForMiddleware(&t)
	r.lockTaskState() // a barrier: what others read of the task before it was over is written by now
	r.unlockTaskState()
	r.p.s.silenceIfOver(&t)
	if r.result, err = r.revision.ending(&t, r.can); err != nil {
		return b, err
	}
	r.result.RelatedTask = t.ID
	return r.revision.AppendCallResult(b, &r.result), nil
}

// principalOf returns the principal in the owner of a task, "" for none.
func principalOf(owner string) string {
	principal, _ := strings.CutPrefix(owner, ownedByPrincipal)
	if principal == owner {
		return ""
	}
	return principal
}

// packResult returns a result as it is stored, which is the form of no revision: each writes its own from it. A byte of flags comes first, then content,
// structured content and meta, each after its length. Content that only repeats the structured content as text is not stored: a flag says so.
func packResult(r *wire.CallResult) []byte {
	parts := [...][]byte{r.Content, r.StructuredContent, r.Meta}
	b := make([]byte, 1, 1+len(parts)*binary.MaxVarintLen32+len(r.Content)+len(r.StructuredContent)+len(r.Meta))
	if r.IsError {
		b[0] |= packedError
	}
	if hasText(r) {
		b[0] |= packedText
	}
	for _, p := range parts {
		b = append(binary.AppendUvarint(b, uint64(len(p))), p...)
	}
	return b
}

// The flags of a packed result.
const (
	packedError byte = 1 << iota
	packedText       // the content is the text of the structured content
)

var errStored = errors.New("the stored result is damaged")

func unpackResult(b []byte) (r wire.CallResult, err error) {
	if len(b) == 0 {
		return r, errStored
	}
	flags := b[0]
	r.IsError = flags&packedError != 0
	b = b[1:]
	for _, part := range [...]*[]byte{&r.Content, &r.StructuredContent, &r.Meta} {
		n, used := binary.Uvarint(b)
		if used <= 0 || n > uint64(len(b)-used) {
			return r, errStored
		}
		if n > 0 {
			*part = b[used : used+int(n) : used+int(n)]
		}
		b = b[used+int(n):]
	}
	if flags&packedText != 0 {
		n := len(r.StructuredContent)
		r.Content = appendTextOf(make([]byte, 0, n+n/8+64), r.StructuredContent)
	}
	return r, nil
}
