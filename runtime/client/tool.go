package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/internal/exact"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// Tool is what a generated client knows of one tool: its name, its schemas, and the functions that were generated from them. It must not be copied
// after its first use.
//
// Generic code is compiled again for each tool, so only what needs the types is generic.
type Tool[In, Out any] struct {
	Name string
	// Definition is the tool as tools/list shows it, from which the functions were generated.
	Definition string
	// AppendInput writes an input, and CheckInput reads it back to validate it.
	AppendInput func(b []byte, in *In) []byte
	CheckInput  func(d *check.Decoder, in *In)
	// DecodeOutput reads an output; nil: the tool has no outputSchema, and Out is ToolResult.
	DecodeOutput func(d *check.Decoder, out *Out)

	derived derived
	spare   sync.Pool // of *checked[In]
}

// Call calls the tool and waits for its output, see Session.CallTool. An input that breaks its schema is not sent, and an output that breaks
// its schema not returned: that is a *ValidationError. A result with IsError is a *ToolError. in may be nil, for the zero value.
func (t *Tool[In, Out]) Call(ctx context.Context, s *Session, in *In, opts ...CallOption) (*Out, error) {
	args, err := t.arguments(in)
	if err != nil {
		return nil, err
	}
	result, err := s.callTool(ctx, t.Name, args.text, s.compareTools(ctx, opts))
	if err != nil {
		return nil, err // args is not used again: the link of a call that was given up may still read it
	}
	t.done(args)
	return t.output(s, result)
}

// Start is Call for a tool that may run as a task, see Session.Start.
func (t *Tool[In, Out]) Start(ctx context.Context, s *Session, in *In, opts ...CallOption) (*Execution[Out], error) {
	args, err := t.arguments(in)
	if err != nil {
		return nil, err
	}
	x, err := s.startTool(ctx, t.Name, args.text, s.compareTools(ctx, opts))
	if err == nil {
		t.done(args)
	}
	return t.execution(s, x, err)
}

// Resume follows a task of the tool that another session has started, perhaps in another process. A ref of another tool is an error. If the
// schemas that the client knows have changed since, that is reported as a difference, and the output is validated all the same.
func (t *Tool[In, Out]) Resume(ctx context.Context, s *Session, ref Ref, opts ...CallOption) (*Execution[Out], error) {
	if ref.Tool != t.Name {
		return nil, fmt.Errorf("client: the task is of tool %s, not of %s", ref.Tool, t.Name)
	}
	if hash := t.derived.of(t.Definition).hash; ref.Schema != "" && ref.Schema != hash {
		s.differs(Difference{Tool: t.Name, What: "the task was made by a client that knew other schemas"})
	}
	x, err := s.resume(ref, s.compareTools(ctx, opts))
	return t.execution(s, x, err)
}

func (t *Tool[In, Out]) execution(s *Session, x *execution, err error) (*Execution[Out], error) {
	if err != nil {
		return nil, err
	}
	ref := x.ref()
	if ref != (Ref{}) {
		ref.Schema = t.derived.of(t.Definition).hash
	}
	return &Execution[Out]{x: x, ref: ref, read: func(r ToolResult) (*Out, error) { return t.output(s, r) }}, nil
}

// checked has the arguments of a call, and the memory into which they are read to be validated.
type checked[In any] struct {
	text json.RawMessage
	read In // never looked at
}

// arguments returns the encoded and validated arguments of a call.
func (t *Tool[In, Out]) arguments(in *In) (*checked[In], error) {
	if in == nil {
		in = new(In)
	}
	args, ok := t.spare.Get().(*checked[In])
	if !ok {
		args = new(checked[In])
	}
	args.text = t.AppendInput(args.text[:0], in)
	if err := textError(args.text, in); err != nil {
		return nil, &ValidationError{Tool: t.Name, Unsent: true, Err: err}
	}
	d := check.Get(args.text, check.Limits{})
	d.Discard()
	d.Hide(t.derived.of(t.Definition).hidden)
	t.CheckInput(d, &args.read)
	err := d.Finish()
	d.Put()
	if err != nil {
		return nil, &ValidationError{Tool: t.Name, Unsent: true, Err: err}
	}
	args.read = *new(In)
	return args, nil
}

// done makes the memory of an answered call's arguments available for another.
func (t *Tool[In, Out]) done(args *checked[In]) {
	if cap(args.text) <= keepBuffer {
		t.spare.Put(args)
	}
}

// output reads the output of a result.
func (t *Tool[In, Out]) output(s *Session, r ToolResult) (*Out, error) {
	if r.IsError {
		return nil, toolError(t.Name, r)
	}
	if t.DecodeOutput == nil {
		return any(onHeap(r)).(*Out), nil
	}
	out := new(Out)
	d := check.Get(r.output(), s.cfg.limits)
	d.Hide(t.derived.of(t.Definition).hidden)
	t.DecodeOutput(d, out)
	err := d.FinishAfter(func(d *check.Decoder) { t.DecodeOutput(d, new(Out)) })
	d.Put()
	if err != nil {
		return nil, &ValidationError{Tool: t.Name, Err: err}
	}
	return out, nil
}

// output returns the result's structured content. Servers of revisions that do not have it send it as text.
func (r *ToolResult) output() json.RawMessage {
	if r.StructuredContent != nil {
		return r.StructuredContent
	}
	var blocks []struct {
		Text json.RawMessage `json:"text"`
	}
	var text string
	if exact.Unmarshal(r.Content, &blocks) == nil && len(blocks) == 1 && json.Unmarshal(blocks[0].Text, &text) == nil {
		return json.RawMessage(text)
	}
	return nil
}

// Text returns the texts of the result's blocks, joined by newlines.
func (r *ToolResult) Text() string {
	var blocks []struct {
		Text string `json:"text"`
	}
	_ = exact.Unmarshal(r.Content, &blocks) // blocks that can not be read have no text
	var all bytes.Buffer
	for _, b := range blocks {
		if b.Text == "" {
			continue
		}
		if all.Len() > 0 {
			all.WriteByte('\n')
		}
		all.WriteString(b.Text)
	}
	return all.String()
}

// onHeap allocates a result; a typed output does not need that.
func onHeap(r ToolResult) *ToolResult { return &r }

func toolError(tool string, r ToolResult) error { return &ToolError{Tool: tool, Result: &r} }

// ToolError says that a tool failed: its result is an error, for a model or a person to read. Error keeps its line breaks.
type ToolError struct {
	Tool   string
	Result *ToolResult
}

// Error implements error.
func (e *ToolError) Error() string {
	return joined("client: "+e.Tool+" failed", rpc.PrintableLines(e.Result.Text()))
}

// ValidationError says that an input or an output breaks the schema that a generated client knows.
type ValidationError struct {
	Tool   string
	Unsent bool  // it is the input, and nothing was sent
	Err    error // check.Violations, *check.LimitError, *check.SyntaxError, or one that says where text is that is not UTF-8
}

// Error implements error.
func (e *ValidationError) Error() string {
	what := "its output breaks its schema"
	if e.Unsent {
		what = "not sent, the input breaks its schema"
	}
	return "client: " + e.Tool + ": " + what + ":\n" + rpc.PrintableLines(e.Err.Error())
}

// Unwrap returns the violations.
func (e *ValidationError) Unwrap() error { return e.Err }
