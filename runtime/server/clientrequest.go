package server

import (
	"context"
	"errors"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// ClientRequest is one request that handlers may make of the client: sampling, roots, questions with a schema of their own.
// Generated code has one per request, and a function or method that calls Send with it.
type ClientRequest[In, Out any] struct {
	Op     Op // OpCreateMessage, OpListRoots, OpElicit
	Codecs []ClientCodec[In, Out]
}

// ClientCodec writes the params and reads the answer as one revision has them.
type ClientCodec[In, Out any] struct {
	Revision string // "" stands for all that have no codec of their own
	Append   func(b []byte, in *In) []byte
	Decode   func(d *check.Decoder, out *Out)
}

// Send makes the request and blocks until it is answered, ctx ends or the server's question timeout passes. It travels as
// Ask's questions do, in every revision, inline and as a task: name is its key, unique and stable within the call. Errors are
// those of Ask; *UnsupportedError when the client did not declare what it takes.
func Send[In, Out any](ctx context.Context, c *Call, r *ClientRequest[In, Out], name string, in *In) (*Out, error) {
	return nil, errors.New("server: not served yet")
}

// UnsupportedError says that the client did not declare the capability that a request to it takes. It matches ErrUnsupported.
// A handler that returns it makes revisions that have a code for it answer with that (EXT18).
type UnsupportedError struct {
	// Capability is the path of the capability in the client's declaration, as in Capabilities.
	Capability string
}

// Error implements error.
func (e *UnsupportedError) Error() string {
	return ErrUnsupported.Error() + ": capability " + e.Capability
}

// Is matches ErrUnsupported.
func (e *UnsupportedError) Is(target error) bool { return target == ErrUnsupported }
