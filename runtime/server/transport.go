package server

import (
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// Outlet carries what the server says to one peer. It is called concurrently.
type Outlet interface {
	// Write sends one frame and does not retain it; it may block for back-pressure, and does for large ones until the peer has
	// read enough: what it returned for is not counted any more (TSK28). about is the client's request that
	// the frame belongs to (its answer, with last; its progress; a question asked while it runs), or the zero ID
	// for the session as a whole. An empty frame with last says that no answer will come: the request was cancelled.
	Write(about rpc.ID, last bool, frame []byte) error
}

// Refuser is an Outlet whose transport has a form of its own for errors. Refuse is called before the Write of an answer that
// is an error; status is the HTTP status that the revision has for it, 0 if it has none.
type Refuser interface {
	Refuse(about rpc.ID, err *rpc.Error, status int)
}

// Inline is an Outlet whose Write may wait for the caller of Receive. AnswersInline is called before the Write of an answer that
// comes from inside Receive itself, so that it does not wait for its own caller.
type Inline interface {
	AnswersInline(about rpc.ID)
}

// Attended is an Outlet that knows whether somebody reads what it writes. Without it everything that is written is read. The
// question of a task stays with a stream only as long as that is read: it may be asked on another one otherwise.
type Attended interface {
	// Attended tells whether somebody reads the stream that frames about the request go on now, and returns a channel that is
	// closed when that may have changed.
	Attended(about rpc.ID) (read bool, changed <-chan struct{})
	// Ask writes a question as Write does, and tells which stream has it.
	Ask(about rpc.ID, frame []byte) (Carrier, error)
}

// Carrier is the stream that has a question.
type Carrier interface {
	// Attended tells whether somebody reads it, and returns a channel that is closed when that may have changed.
	Attended() (read bool, changed <-chan struct{})
	// Close is called when the question is over.
	Close()
}

// Ender is an Outlet whose connection or session can be ended from here. End does not wait for the end; what is in flight then is
// cancelled with cause.
type Ender interface {
	End(cause *inflight.Cause)
}

// Tracked is an Outlet that ends the exchange which it carries, with e.Cancel, when its client is gone. InFlight is called before that is
// served.
type Tracked interface {
	InFlight(e *inflight.Entry)
}

// Receipt says what was done with a frame that a session received.
type Receipt struct {
	Kind   rpc.Kind
	ID     rpc.ID // of a request or an answer
	Method string
	// Answered says that a last frame about ID comes through the Outlet, or came already.
	Answered bool
	// Refused is why the frame was answered with an error or ignored at once; nil when it was taken.
	Refused *rpc.Error
}

// Result is how an exchange ended.
type Result struct {
	// Err is the JSON-RPC error that was answered, nil for a result or no answer.
	Err *rpc.Error
	// Status is the HTTP status that the revision has for Err; 0 if it has none.
	Status int
	// Silent: there was no answer, because the message was a notification or the client is gone.
	Silent bool
}

// Routed is one frame of which the revision and method are known. It aliases the frame.
type Routed struct {
	Kind   rpc.Kind
	ID     rpc.ID
	Method string
	// Wire is the stateless revision that the message is written in; nil: the message is a session's.
	Wire *Wire
	// Name is what the name header has to repeat (EXT14); Named says that the method has one.
	Name  string
	Named bool
	// Tool is the tool that is called, with Arguments, nil for none; both for headers that repeat arguments.
	Tool      *Tool
	Arguments []byte
	// Status is the HTTP status for the error that Route returned; 0 if the revision has none.
	Status int

	msg     rpc.Message
	wire    *wire
	method  *Method
	params  Params
	reading reading // of params
}
