package rpc

import (
	"fmt"
	"time"
)

// Codes of JSON-RPC errors. A protocol revision may add its own in the range -32000 to -32099.
const (
	CodeParseError     = -32700 // the frame is not JSON
	CodeInvalidRequest = -32600 // JSON, but not a message; also what exceeds a limit
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternalError  = -32603
)

// Error is a JSON-RPC error: one that a peer answered with, or that a handler returns. A handler may use the codes above except
// CodeParseError, and any outside the range -32768 to -32000, which is reserved: package server has errors for the codes that revisions define there.
type Error struct {
	Code    int
	Message string
	Data    []byte // one JSON value, or nil
	// Wait is how long to wait before another try; 0 when unknown. It is for transports that have a header for it, such as
	// Retry-After: in JSON-RPC only Message and Data can say it.
	Wait time.Duration `json:"-"`
	// Busy says that the reason for Wait is not this caller, but that the server has too much to do for all callers together.
	Busy bool `json:"-"`
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%s (code %d)", Printable(e.Message), e.Code) }

// Errorf returns an Error with a formatted message.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Reserved reports whether the code is reserved for JSON-RPC or MCP, so that handlers must not use it. They may use those codes of JSON-RPC with
// which any request can end.
func (e *Error) Reserved() bool {
	switch e.Code {
	case CodeInvalidRequest, CodeMethodNotFound, CodeInvalidParams, CodeInternalError:
		return false
	}
	return -32768 <= e.Code && e.Code <= -32000
}
