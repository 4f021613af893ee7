package server

import (
	"encoding/json"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// ToolError is a handler's error with more than a text: blocks, and data for programs. Like any error of a handler it becomes a result
// with isError, which the model reads; so does an error that wraps it. Content that was added to the call is not part of it.
type ToolError struct {
	// Message is the first text of the result; "" is that of Err.
	Message string
	// Data describes the error to programs; encoding/json encodes it. It is the second text of the result. An object is the
	// structured content as well, unless it breaks the outputSchema of the tool: clients validate that, whatever isError says.
	Data any
	// Content follows the texts.
	Content []Block
	// Err is the cause, for errors.Is and errors.As.
	Err error
}

// Error implements error.
func (e *ToolError) Error() string {
	if e.Message == "" && e.Err != nil {
		return e.Err.Error()
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *ToolError) Unwrap() error { return e.Err }

// toolError is the result for a ToolError that err is or wraps.
func (s *Server) toolError(call *Call, err error, toolErr *ToolError) (wire.CallResult, error) {
	a := &added{blocks: append([]Block{Text(err.Error())}, toolErr.Content...)}
	var data []byte
	if toolErr.Data != nil {
		if data, a.err = json.Marshal(toolErr.Data); a.err == nil {
			a.blocks = slices.Insert(a.blocks, 1, Text(string(data)))
		}
	}
	result, err := s.addTo(call, wire.CallResult{IsError: true}, a)
	if err == nil && result.IsError && len(data) > 0 && data[0] == '{' && call.tool.Handler.accepts(data, s.cfg.limits) {
		result.StructuredContent = data
	}
	return result, err
}

// accepts reports whether text is a valid output of the tool: any text is if the tool has no outputSchema.
func (c *codec) accepts(text []byte, limits check.Limits) bool {
	return !c.structured() || c.checkOutput(text, limits, "") == nil
}

// checkOutput returns how text breaks the tool's outputSchema, nil if it does not.
func (c *codec) checkOutput(text []byte, limits check.Limits, hidden string) error {
	d, decoded := check.Get(text, limits), c.spare.Get()
	d.Hide(hidden)
	c.decode(d, decoded)
	err := d.Finish()
	d.Put()
	c.clear(decoded)
	c.spare.Put(decoded)
	if err == nil && c.validateOutput != nil {
		err = c.validateOutput(text)
	}
	return err
}
