package client

import (
	"context"
	"encoding/json"
	"errors"
	"iter"

	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Description is what a server says of itself. The JSON is as the server writes it.
type Description struct {
	Revision     string            // that is spoken, such as "2025-11-25"
	ServerInfo   json.RawMessage   // an object with name and version, or nil
	Capabilities json.RawMessage   // an object
	Instructions string            // for a model; "" for none
	Tools        []json.RawMessage // definitions, of all pages; empty where the server has no tools
}

// Describe reads the definitions of all tools, and joins them with what the server has said before: all that a manifest of its tools can be
// made of. The errors are those of ListTools.
func (s *Session) Describe(ctx context.Context, opts ...CallOption) (*Description, error) {
	d := &Description{Revision: s.Revision(), ServerInfo: s.ServerInfo(), Capabilities: s.Capabilities(), Instructions: s.Instructions()}
	for tool, err := range s.ListTools(ctx, opts...) {
		var none *NotOfferedError
		switch {
		case errors.As(err, &none):
			return d, nil
		case err != nil:
			return nil, err
		}
		d.Tools = append(d.Tools, tool)
	}
	return d, nil
}

// ListTasks returns what the server says of each task of this caller. Where the revision has no such list, it is a *NotOfferedError.
func (s *Session) ListTasks(ctx context.Context, opts ...CallOption) iter.Seq2[json.RawMessage, error] {
	return s.list(ctx, wire.OpListTasks, opts)
}
