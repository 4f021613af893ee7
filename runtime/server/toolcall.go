package server

import (
	"errors"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/internal/exact"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// callTool runs the tool, or makes the task that will. The answer begins when the handler has returned: before, the request may have another body
// (lendBody).
func (r *request) callTool() ([]byte, error) {
	if r.task {
		return r.createTask(r.beginAnswer())
	}
	call := r.newCall()
	err := call.resume()
	if err != nil {
		return nil, err
	}
	result, err := r.p.s.execute(r.ctx, call, r.params.Arguments)
	r.result = result
	if ended := call.suspend(&r.reservation); ended != nil {
		return nil, ended
	}
	if f, ok := errors.AsType[*fault](err); ok { // unlike errors.As it does not allocate
		r.result, err = r.revision.answer(f, r.can)
		if instead, late := r.refusedTooLate(err); late { // the response has begun with another status
			r.result, err = wire.CallResult{IsError: true, Content: appendText(nil, instead.Message)}, nil
		}
	}
	if err != nil {
		return nil, err
	}
	if r.result.IsError {
		r.outcome = ToolFailed
	}
	r.result.ServerInfo = r.revision.resultInfo
	b := r.beginAnswer()
	if hasText(&r.result) {
		return r.appendStructured(b), nil
	}
	b = r.p.s.large.grow(b, len(r.result.Content)+len(r.result.StructuredContent)+len(r.result.Meta))
	return r.revision.AppendCallResult(b, &r.result), nil
}

func (r *request) newCall() *Call {
	c := r.call
	if r.call = nil; c == nil {
		c = new(Call)
	}
	c.s, c.tool, c.revision, c.peer, c.entry, c.r = r.p.s, r.tool, r.revision, r.p, r.entry, r
	c.can, c.level, c.canNotAsk = r.can, silentLevel, !r.revision.Handshake && r.method.NoInput
	if r.params.LogLevel != "" {
		if place, known := Level(r.params.LogLevel).order(); known {
			c.level = place
		}
	}
	c.progress.token = r.params.ProgressToken
	if r.p.refuser != nil && r.revision.mayRefuseLate(r.tool, r.policy, r.can) {
		c.withheld = new(withheld)
	}
	return c
}

// resume restores the journal and answers that the client sent with its retry (EXT17).
func (c *Call) resume() error {
	if c.revision.Handshake || !c.r.retried() {
		return nil
	}
	t, err := newStatelessJournal(c, c.r)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.openRecord()
	x.stateless, x.journal = t, t.journal
	return nil
}

// stateless is the journal in a stateless revision, nil if there is none.
func (c *Call) stateless() *statelessJournal {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.record == nil {
		return nil
	}
	return c.record.stateless
}

// retried reports whether the request is a retry with answers.
func (r *request) retried() bool { return r.params.HasState || r.params.InputResponses != nil }

// suspend ends a run whose handler returned while questions are open: in place of the handler's result, the call is answered with the questions, or with
// an error that refuses the retry. suspend returns that error, ErrAsked if the call was answered with its questions, or the cause with which it has ended
// before; nil: no question is open.
func (c *Call) suspend(result *reservation) error {
	if c.revision.Handshake {
		return nil // its questions are answered before the handler goes on
	}
	t := c.stateless()
	if t == nil || t.opened() == 0 {
		return nil
	}
	result.free() // the result is not sent
	t.finish()
	t.mu.Lock()
	defer t.mu.Unlock()
	if refused := t.refusal(); refused != nil {
		return refused
	}
	if cause := c.entry.Cause(); cause != nil && cause.Source != inflight.SourceCompleted {
		return cause
	}
	return ErrAsked
}

// opened is how many questions of the run are open.
func (t *statelessJournal) opened() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.open)
}

// close sends the messages that waited for the end of the call. Later ones are dropped, and later content.
func (c *Call) close() {
	c.takeAdded() // if the handler has not returned, but panicked
	if c.withheld != nil {
		c.sendWithheld()
	}
	c.progress.close()
	c.mu.Lock()
	c.r = nil
	if c.record != nil && c.record.journal != nil {
		c.record.journal.refuseSteps(errCallOver)
	}
	c.mu.Unlock()
}

// protocolResult decodes the result that a tool without an outputSchema wrote.
func (s *Server) protocolResult(call *Call, raw []byte, more *added) (result wire.CallResult, err error) {
	if len(raw) == 0 { // the handler returned nothing
		result.Content = []byte("[]")
	} else {
		if rev := call.revision; len(rev.View.Blocks) > 0 {
			raw = rev.adaptBlocks(raw, rev.blocks)
		}
		if err = s.readResult(raw, call.revision, &result); err != nil {
			return s.failure(call, &outputError{err})
		}
		if len(result.Meta) > 0 {
			result.Meta = call.revision.withoutOwnKeys(result.Meta)
		}
	}
	if more != nil {
		return s.addTo(call, result, more)
	}
	return result, nil
}

// readResult decodes a result that a handler returned, if it is valid (LET01).
func (s *Server) readResult(raw []byte, rev *revision, result *wire.CallResult) error {
	if rev.CheckCallResult != nil {
		return check.DecodeValid(raw, s.cfg.limits, rev.CheckCallResult, rev.ReadCallResult, result)
	}
	if err := s.validate(raw, nil); err != nil {
		return err
	}
	return check.DecodeScanned(raw, s.cfg.limits, rev.ReadCallResult, result)
}

// validate returns what is wrong with JSON that a handler wrote, nil for nothing: it breaks its definition, if there is one, or is
// not JSON, which would end the connection (LET01). Its size is not limited.
func (s *Server) validate(text []byte, definition func(*check.Decoder)) error {
	limits := s.cfg.limits
	limits.Bytes = max(limits.Bytes, len(text))
	if definition == nil {
		return check.Valid(text, limits)
	}
	d := check.Get(text, limits)
	defer d.Put()
	definition(d)
	return d.Finish()
}

// failureWith is failure with the metadata that the handler added before.
func (s *Server) failureWith(call *Call, err error, more *added) (wire.CallResult, error) {
	result, err := s.failure(call, err)
	if err != nil || more == nil {
		return result, err
	}
	if more.err != nil {
		call.Log().Error("metadata of a tool error refused", "error", more.err)
	}
	result.Meta = call.revision.mergeMeta(result.Meta, more.meta)
	return result, nil
}

// saysOver reports whether the error of a handler only says that its request was over.
func (c *Call) saysOver(err error) bool {
	return c.taskRun == nil && c.entry.Err() != nil && errors.Is(err, c.entry.Err())
}

// failure makes the answer for a handler's error: a result, or an error; a *fault becomes one of the two in each revision (revision.answer).
func (s *Server) failure(call *Call, err error) (wire.CallResult, error) {
	if call.saysOver(err) {
		return wire.CallResult{}, call.entry.Cause() // nothing would be sent
	}
	if f := call.fault(err); f != nil {
		return wire.CallResult{}, f
	}
	if broken := (*outputError)(nil); errors.As(err, &broken) {
		call.Log().Error("output refused", "error", broken.logged())
		return wire.CallResult{}, rpc.Errorf(rpc.CodeInternalError, "the tool's output %s", broken.message())
	}
	if misused := (*misuseError)(nil); errors.As(err, &misused) {
		return wire.CallResult{}, errInternal // it is logged
	}
	if changed := changedSince(err, call.taskRun != nil, call.Log()); changed != nil {
		return wire.CallResult{}, changed
	}
	if misnamed := (*task.NameError)(nil); errors.As(err, &misnamed) {
		call.Log().Error("question or step not run", "error", err)
		return wire.CallResult{}, errInternal
	}
	if unread := (*StepError)(nil); errors.As(err, &unread) {
		call.Log().Error("step not run", "error", err)
		return wire.CallResult{}, rpc.Errorf(rpc.CodeInternalError, "%s", unread.summary())
	}
	if toolErr := (*ToolError)(nil); errors.As(err, &toolErr) && toolErr != nil {
		return s.toolError(call, err, toolErr)
	}
	return wire.CallResult{IsError: true, Content: appendText(nil, err.Error())}, nil
}

// appendText appends a tool result's content that is one text. This form is the same in every revision, so no wire.Revision
// writes it.
func appendText(b []byte, s string) []byte {
	return append(appendTextBlock(append(b, '['), s), ']')
}

func appendTextBlock(b []byte, s string) []byte {
	return append(check.AppendString(append(b, textHead...), s), '}')
}

const textHead = `{"type":"text","text":`

// appendTextOf is appendText for an output, whose JSON is the text.
func appendTextOf(b, output []byte) []byte {
	return append(check.AppendText(append(append(b, '['), textHead...), output), "}]"...)
}

// appendOutputBlock appends the text block of the call's output. The decoder that has validated it knows where its escapes are.
func (r *request) appendOutputBlock(b, output []byte) []byte {
	b = append(b, textHead...)
	if d := r.output; d != nil {
		r.output = nil
		b = d.AppendText(b)
		d.Put()
	} else {
		b = check.AppendText(b, output)
	}
	return append(b, '}')
}

// textOf returns the first text of a tool result's content, "" without one.
func textOf(content []byte) string {
	var blocks []struct {
		Text string `json:"text"`
	}
	if exact.Unmarshal(content, &blocks) != nil {
		return ""
	}
	for _, b := range blocks {
		if b.Text != "" {
			return b.Text
		}
	}
	return ""
}

// Marks stand for the content and the structured content of a result while what is around them is written. No JSON has such bytes.
var (
	contentMark    = []byte{0}
	structuredMark = []byte{1}
)

// appendStructured appends a result with an output and its text. The text is escaped right into b, so that there is no other copy of a
// large one.
func (r *request) appendStructured(b []byte) []byte {
	result, data, start := r.result, r.result.StructuredContent, len(b)
	r.result.Content, r.result.StructuredContent = contentMark, structuredMark
	b = r.revision.AppendCallResult(b, &r.result)
	r.result = result
	around := append(make([]byte, 0, 256), b[start:]...)
	b = r.p.s.large.grow(b[:start], 2*len(data)+len(data)/8)
	for i, c := range around {
		switch c {
		case contentMark[0]:
			b = append(r.appendOutputBlock(append(b, '['), data), ']')
		case structuredMark[0]:
			b = append(b, data...)
		default:
			b = append(b, around[i])
		}
	}
	return b
}

// hasText reports whether the content of the result is to be the text of its output.
func hasText(r *wire.CallResult) bool { return r.Content == nil && r.StructuredContent != nil }
