package client

import (
	"context"
	"encoding/json"
	"errors"
	"iter"

	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Description is a server's description of itself. The JSON is as the server writes it.
type Description struct {
	Revision     string            // the one in use, such as "2025-11-25"
	ServerInfo   json.RawMessage   // an object with name and version, or nil
	Capabilities json.RawMessage   // an object
	Instructions string            // for a model; "" for none
	Tools        []json.RawMessage // definitions, of all pages; empty where the server has no tools
	LeftOut      []LeftOut         // tools that Tools does not have, the first 1000; the log has a warning of each
}

// LeftOut is a tool that can not be called, because its definition breaks the protocol.
type LeftOut struct {
	Index int    // in the server's list
	Name  string // as far as it can be read
	Why   string // the member that breaks the protocol, and how
}

// Describe reads the definitions of all tools, and adds what the server declared at the beginning: all that a manifest of its tools can be
// made from. The errors are those of ListTools.
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
	d.LeftOut = s.tools.missing()
	return d, nil
}

// ListTasks returns the state of each task of this caller. In a revision without such a list, the error is a *NotOfferedError.
func (s *Session) ListTasks(ctx context.Context, opts ...CallOption) iter.Seq2[json.RawMessage, error] {
	return s.list(ctx, wire.OpListTasks, opts)
}
