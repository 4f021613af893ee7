package server

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// taskMeta is what a run needs to know about the request that created its task, also after a restart.
type taskMeta struct {
	Revision string          `json:"revision"`
	Token    json.RawMessage `json:"token,omitempty"` // for progress (PRO03)
	Can      []string        `json:"can,omitempty"`   // what the client declared
	Earlier  earlierRecord   `json:"carried,omitzero"`
}

// taskLocal is the same for a run in the process that created the task, with the connection.
type taskLocal struct {
	life    taskLife // without a peer: nobody is told of progress, nor asked on a connection
	wire    *wire
	can     ability
	token   rpc.ID
	who     Requestor // pays for what is decoded
	earlier earlierRecord
}

func (r *request) taskMeta(before *earlierRecord) []byte {
	b := check.AppendString(append(make([]byte, 0, 256), `{"revision":`...), r.wire.Revision)
	if !r.params.ProgressToken.IsZero() {
		b = r.params.ProgressToken.AppendJSON(append(b, `,"token":`...))
	}
	b = r.wire.appendAbilities(append(b, `,"can":`...), r.can)
	if !before.empty() {
		carried, _ := json.Marshal(before) // no value of these types fails
		b = append(append(b, `,"carried":`...), carried...)
	}
	return append(b, '}')
}

// runTask is the engine's runner: it runs the tool's handler and says how the task ends.
func (s *Server) runTask(ctx context.Context, run *task.Run) task.Outcome {
	growStack(len(s.wires) & 1)
	t := run.Task()
	call, err := s.taskCall(ctx, run, &t)
	if err != nil {
		return failed(rpc.Errorf(rpc.CodeInternalError, "%v", err))
	}
	r := s.newRun(call.local.who)
	defer s.endRun(r)
	call.room, call.payer = &r.room, r
	result, err := s.execute(ctx, call, t.Args, &r.scratch)
	if f := (*fault)(nil); errors.As(err, &f) {
		o := failed(&f.own)
		o.Kind, o.Message, o.Status = f.kind, f.text, call.wire.statusOf(f.kind, o.Status)
		if len(f.text) > task.MaxStatusMessage { // a revision without a code for it shows all of it
			o.Result = packResult(&CallResult{IsError: true, Content: appendText(nil, f.text)})
		}
		return o
	}
	if err != nil {
		return failed(asRPC(err))
	}
	return call.wire.outcome(&result)
}

// newRun is a request for the run of a task: it has buffers, and an account that pays for what is decoded.
func (s *Server) newRun(who Requestor) *request {
	r := s.newRequest(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	r.account = s.openAccount(who)
	return r
}

func (s *Server) endRun(r *request) {
	a := r.account
	r.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaveAccount(a)
}

func failed(err *rpc.Error) task.Outcome {
	return task.Outcome{Status: task.Failed, Message: err.Message, Error: err}
}

// outcome is how a task ends with a result.
func (w *wire) outcome(result *CallResult) task.Outcome {
	o := task.Outcome{Status: task.Completed, Result: packResult(result)}
	if result.IsError {
		o.Kind, o.Message, o.Status = toolError, textOf(result.Content), w.statusOf(toolError, o.Status)
	}
	return o
}

// statusOf is what a task of the status that ended so is in the revision (TSK12, EXT08).
func (w *wire) statusOf(k kind, stored task.Status) task.Status {
	switch {
	case k == plainKind:
		return stored
	case w.Codes.code(k) != 0 || w.Task.IsErrorFails:
		return task.Failed
	}
	return task.Completed
}

// ending is what the request that became the task would have been answered with in the revision (TSK10, LET17).
func (w *wire) ending(t *task.Task) (CallResult, error) {
	switch {
	case t.Error != nil && t.Kind != plainKind:
		result, err := w.answer(&fault{t.Kind, t.StatusMessage, *t.Error})
		if err == nil && len(t.Result) > 0 {
			return unpackResult(t.Result)
		}
		return result, err
	case t.Error != nil:
		return CallResult{}, t.Error
	case t.Status == task.Cancelled:
		return CallResult{}, rpc.Errorf(task.CodeCancelled, "the task was cancelled")
	}
	return unpackResult(t.Result)
}

// taskTimedOut is how a task ends that took too long: as its call would have.
func (s *Server) taskTimedOut(t task.Task) task.Outcome {
	var meta taskMeta
	_ = json.Unmarshal(t.Meta, &meta) // we wrote it; else the newest revision decides
	result := timeoutResult(t.Tool, t.Timeout)
	return s.wireOf(meta.Revision).outcome(&result)
}

func (s *Server) taskCall(ctx context.Context, run *task.Run, t *task.Task) (*Call, error) {
	c := &Call{s: s, tool: s.tools[t.Tool], run: run}
	if c.tool == nil {
		return nil, errors.New("the tool of this task is gone")
	}
	if l, ok := run.Local().(*taskLocal); ok {
		c.peer, c.wire, c.can, c.local = l.life.peer, l.wire, l.can, l
		if c.peer != nil && l.wire.Task.Progress {
			c.progress = newProgress(c.subject(), l.wire, l.token, t.ID)
		}
		return c, nil
	}
	err := c.restore(t.Meta)
	if err == nil {
		c.local.who.principal = principalOf(t.Owner)
	}
	return c, err
}

// restore reads what is stored of the call's request. Its connection is gone, so there is no progress.
func (c *Call) restore(stored []byte) error {
	var meta taskMeta
	if err := json.Unmarshal(stored, &meta); err != nil {
		return err
	}
	c.wire, c.local = c.s.wireOf(meta.Revision), &taskLocal{earlier: meta.Earlier}
	c.can = c.wire.abilitiesOf(meta.Can)
	return nil
}

// wireOf is the wire of the revision, or the newest one if it is not served any more.
func (s *Server) wireOf(revision string) *wire {
	for _, w := range s.wires {
		if w.Revision == revision {
			return w
		}
	}
	return s.wires[0]
}

// taskResult answers what the call would have been answered (TSK10), as soon as the task is over (TSK09). Meanwhile
// the request is a stream that takes the task's questions (TSK19).
func (r *request) taskResult(b []byte) ([]byte, error) {
	t, err := r.awaitTask()
	if err == nil {
		err = r.room.reserve(r.entry)
	}
	if err != nil {
		return b, r.taskError(err)
	}
	r.beginTelling() // what was read before it was over is written before
	r.endTelling()
	r.p.s.silenceIfOver(&t)
	result, err := r.wire.ending(&t)
	if err != nil {
		return b, err
	}
	result.RelatedTask = t.ID
	return r.wire.AppendCallResult(b, &result), nil
}

// principalOf is the identity in the owner of a task.
func principalOf(owner string) string {
	principal, _ := strings.CutPrefix(owner, ownedByPrincipal)
	if principal == owner {
		return ""
	}
	return principal
}

// packResult is the form in which results are stored: no revision's, so that each can show it. It is a byte of flags and the
// lengths and bytes of content, structured content and meta. Content that is the text of the structured content is left out: it
// would be kept twice.
func packResult(r *CallResult) []byte {
	parts := [...][]byte{r.Content, r.StructuredContent, r.Meta}
	b := make([]byte, 1, 1+len(parts)*binary.MaxVarintLen32+len(r.Content)+len(r.StructuredContent)+len(r.Meta))
	if r.IsError {
		b[0] |= packedError
	}
	if r.Content == nil && r.StructuredContent != nil {
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

func unpackResult(b []byte) (r CallResult, err error) {
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
		r.Content = appendText(nil, text(r.StructuredContent))
	}
	return r, nil
}
