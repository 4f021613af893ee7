package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// ToolResult is the result of a tool. The raw members belong to the caller.
type ToolResult struct {
	Content json.RawMessage // an array of content blocks
	// StructuredContent is as the server sent it, nil for none. Revisions before 2026-07-28 want an object; only generated clients check that, by the outputSchema.
	StructuredContent json.RawMessage
	IsError           bool            // the tool failed, and Content says why: for the model to read
	Raw               json.RawMessage // the whole result
}

// learnAgain reads the list of tools anew, because what is known of a tool is missing or out of date.
func (s *Session) learnAgain(ctx context.Context, opts ...CallOption) error {
	s.cache.forget(wire.OpListTools)
	for _, err := range s.ListTools(ctx, opts...) {
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *call) toolResult(result []byte) (r ToolResult, err error) {
	r.Raw = result
	var failed []byte
	err = c.dialect.Call(wire.OpCallTool).Result.Each(result, func(s wire.Slot, value []byte) {
		switch s {
		case wire.SlotContent:
			r.Content = value
		case wire.SlotStructuredContent:
			r.StructuredContent = value
		case wire.SlotIsError:
			failed = value
		}
	})
	r.IsError = string(failed) == "true"
	switch {
	case err != nil:
		return ToolResult{}, broken(c.op.Name, "%w", err)
	case failed != nil && !r.IsError && string(failed) != "false" && string(failed) != "null": // whether the tool failed would be a guess
		return ToolResult{}, broken(c.op.Name, "its isError is no boolean: %.80s", failed)
	case r.Content == nil:
		return ToolResult{}, broken(c.op.Name, "it has no content, which every result of a tool has: %.80s", result)
	}
	if err := contentError(r.Content); err != nil {
		return ToolResult{}, broken(c.op.Name, "%w", err)
	}
	return r, nil
}

// object encodes v as a JSON object, or returns an error if it is none; nil is nil.
func object(v any) (json.RawMessage, error) {
	raw, ok := v.(json.RawMessage)
	switch {
	case v == nil:
		return nil, nil
	case ok:
		if err := validJSON(raw); err != nil {
			return nil, err
		}
	default:
		var err error
		if raw, err = encode(v); err != nil {
			return nil, err
		}
	}
	if raw = bytes.TrimSpace(raw); raw[0] != '{' {
		return nil, fmt.Errorf("they must be a JSON object")
	}
	return raw, nil
}

// GetPrompt returns the server's result, with the messages of a prompt.
func (s *Session) GetPrompt(ctx context.Context, name string, args map[string]string, opts ...CallOption) (json.RawMessage, error) {
	c, err := s.newCall(wire.OpGetPrompt, opts)
	if err != nil {
		return nil, err
	}
	if err := nameError("name of the prompt", name); err != nil {
		return nil, err
	}
	v := c.values()
	v.SetText(wire.SlotName, name)
	if args != nil {
		if v[wire.SlotArguments], err = encode(args); err != nil {
			return nil, fmt.Errorf("client: arguments of %s: %w", name, err)
		}
	}
	result, _, err := c.run(ctx, v, c.callerMeta())
	return result, err
}

// ReadResource returns the server's result, with the contents of a resource.
func (s *Session) ReadResource(ctx context.Context, uri string, opts ...CallOption) (json.RawMessage, error) {
	return s.ofURI(ctx, wire.OpReadResource, uri, opts)
}

// Complete asks for completions. params are those of the request, a JSON object; it returns the server's result.
func (s *Session) Complete(ctx context.Context, params json.RawMessage, opts ...CallOption) (json.RawMessage, error) {
	c, err := s.newCall(wire.OpComplete, opts)
	if err != nil {
		return nil, err
	}
	if params, err = object(params); err != nil {
		return nil, fmt.Errorf("client: params: %w", err)
	}
	result, _, err := c.run(ctx, c.values(), params)
	return result, err
}

// Ping checks that the server answers. Revisions without a handshake do not have it.
func (s *Session) Ping(ctx context.Context, opts ...CallOption) error {
	c, err := s.newCall(wire.OpPing, opts)
	if err != nil {
		return err
	}
	_, _, err = c.run(ctx, c.values(), nil)
	return err
}

// RootsChanged tells the server that the result of Handlers.Roots has changed, if the revision has a message for that.
func (s *Session) RootsChanged(ctx context.Context) error {
	if err := s.usable(); err != nil {
		return err
	}
	op := s.dialect.Load().Call(wire.OpRootsChanged)
	if op == nil || s.cfg.handlers.Roots == nil {
		return nil
	}
	return s.notify(ctx, op, nil)
}
