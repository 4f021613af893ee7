package server

import (
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Outlet takes the server's messages to one peer. It is called concurrently.
type Outlet interface {
	// Write sends one frame and does not retain it. It may overwrite a last frame, and its buffer beyond it. It may block for back-pressure
	// unless the Outlet is Queued, and does for large frames until the peer has read enough: a frame is counted until Write returns
	// (TSK28). about is the client's request that the frame belongs to (its answer; its progress; a question asked while it runs), or the zero ID for
	// the session as a whole. last says that nothing about the request follows. An empty last frame says that no answer will come, and that
	// nothing of the request is wanted any more: it was cancelled.
	Write(about rpc.ID, last bool, frame []byte) error
}

// Refuser is an Outlet whose transport shows errors as such, by an HTTP status. Refuse is called before the Write of an answer that
// is an error; status is the HTTP status that the revision has for it, 0 if it has none.
type Refuser interface {
	Refuse(about rpc.ID, err *rpc.Error, status int)
}

// Queued is an Outlet whose Write puts frames into queues and does not wait for their readers. Writers wait before and after it,
// when they hold nothing that Receive needs: so a response that nobody reads holds up no other message of its peer (CAN01).
type Queued interface {
	// Queue returns the queue into which frames about the request go now; nil: there is none to wait for.
	Queue(about rpc.ID) Queue
	// Cancelled is called, from inside Receive, when the client cancels a request that is not in flight: what is kept of it is
	// dropped, its answer too (CAN02).
	Cancelled(about rpc.ID)
}

// Queue is one queue of a Queued Outlet.
type Queue interface {
	// AwaitRoom is called before the Write of a frame of that size, unless it is an answer. It returns when the reader is not far behind.
	AwaitRoom(bytes int)
	// AwaitRead is called after the Write of a frame of that size. It returns when the frame need not be counted any more (TSK28), and reports
	// whether the reader has taken it.
	AwaitRead(bytes int) (taken bool)
}

// Inline is an Outlet whose queues may be read by the caller of Receive. AnswersInline is called before the Write of an answer that
// comes from inside Receive itself, so that it does not wait for its own caller.
type Inline interface {
	AnswersInline(about rpc.ID)
}

// Attended is an Outlet that knows whether somebody reads what it writes. Without it, everything that is written counts as
// read. The question of a task stays with a stream only as long as that is read: otherwise it may be asked on another one.
type Attended interface {
	// Attended reports whether somebody reads the stream that frames about the request go on now, and returns a channel that is
	// closed when that may have changed.
	Attended(about rpc.ID) (read bool, changed <-chan struct{})
	// Ask writes a question as Write does, and returns the stream that has it. If the question can not be kept until its client reads it, unkept is
	// called with the reason, maybe before Ask returns; it does not block.
	Ask(about rpc.ID, frame []byte, unkept func(error)) (Carrier, error)
}

// Carrier is the stream that has a question.
type Carrier interface {
	// Attended reports whether somebody reads the stream, and returns a channel that is closed when that may have changed.
	Attended() (read bool, changed <-chan struct{})
	// Close is called when the question is over. A client that resumes the stream does not get the question any more.
	Close()
	// Withdraw writes the notification that nobody waits for the answer, after Close: on the stream that frames about the request, or the session, go on
	// now. A cancellation of the request does not drop the notification (CAN19).
	Withdraw(frame []byte) error
}

// Unread is an Outlet that knows how its client reads, so that writes to a client that does not read can be ended while others wait for the
// bytes that its answers hold (TSK28).
type Unread interface {
	// Stalled returns how many bytes of frames above 4 KiB are being written of which nothing was read for that long, and whether
	// they are given up already.
	Stalled(wait time.Duration) (bytes int64, ending bool)
	// GiveUp ends these writes. It does not wait for that.
	GiveUp(wait time.Duration)
}

// Ender is an Outlet whose connection or session can be ended from here. End does not wait for the end; what is in flight then is
// cancelled with cause.
type Ender interface {
	End(cause *inflight.Cause)
}

// Tracked is an Outlet that ends its exchange, with e.Cancel, when the client is gone. InFlight is called before the exchange is served.
type Tracked interface {
	InFlight(e *inflight.Entry)
}

// Costly is an Outlet whose transport holds memory for each request until it is answered: a goroutine, buffers of its connection, the
// body. RequestBytes is about how many bytes that is, which count with the request (TSK28). A batch counts as one request. Pings
// and requests to cancel tasks do not count, so that they pass when others are refused.
type Costly interface {
	RequestBytes() int64
}

// Idler is an Outlet whose transport ends sessions that are not used. One with an unfinished task that would end with it is in use (Session.EndsTasks).
// TasksOver is called when the last such task is over.
type Idler interface{ TasksOver() }

// Receipt says what was done with a frame that a session received.
type Receipt struct {
	Kind   rpc.Kind
	ID     rpc.ID // of a request or an answer
	Method string
	// Answered says that a last frame about ID comes through the Outlet, or came already.
	Answered bool
	// Refused is why the frame was answered with an error or ignored at once; nil when it was accepted. For an answer it says that nobody asked for it. An
	// array is refused if none of its messages was accepted or answered.
	Refused *rpc.Error

	recordings []*recording // of answers to tasks' questions
}

// Result is how an exchange ended.
type Result struct {
	// Err is the JSON-RPC error that was answered, nil for a result or no answer.
	Err *rpc.Error
	// Status is the HTTP status that the revision has for Err; 0 if it has none.
	Status int
	// Silent says that there was no answer, because the message was a notification or the client is gone.
	Silent bool
}

// Routed is one frame of which the revision and method are known. It aliases the frame.
type Routed struct {
	Kind   rpc.Kind
	ID     rpc.ID
	Method string
	// Revision is the stateless revision that the message is written in; nil: the message is a session's.
	Revision *wire.Revision
	// Handshake says that the message is the request that begins a session.
	Handshake bool
	// Name is what the name header has to repeat (EXT14); Named says that the method has one.
	Name  string
	Named bool
	// Tool is the tool that is called, with Arguments, nil for none; both for headers that repeat arguments.
	Tool      *Tool
	Arguments []byte
	// Status is the HTTP status for the error that Route returned; 0 if the revision has none for it.
	Status int
	// Header is set by the transport to the header of the HTTP request, for Call.Header; it is not changed afterwards.
	Header Header

	server   *Server
	size     int  // of the frame, in bytes
	reserved bool // see Reserved; in any revision
	msg      rpc.Message
	revision *revision
	method   *wire.Method
	params   wire.Params
	read     paramsRead
}

// Route finds the revision and method of a frame. hint is the revision in the transport's header, "" for none: it counts for messages that
// do not name their revision. An error is the answer to a request; a notification or an answer with one is dropped.
func (s *Server) Route(frame []byte, hint string) (to Routed, err *rpc.Error) {
	at := peerState{session: s.handshake(), ready: true, hint: hint, headers: true}
	rd, ok := s.readings.Get().(*reading)
	if !ok {
		rd = &reading{params: new(wire.Params)}
	}
	*rd = reading{s: s, peer: at, frame: frame, params: rd.params}
	defer rd.release(&s.readings)
	msg, err := rpc.ParseInto(frame, s.cfg.limits, rd)
	to.Kind, to.ID, to.msg, to.server, to.size = msg.Kind, msg.ID, msg, s, len(frame)
	if err != nil {
		to.Method = string(msg.Method)
		if msg.WantsReply() {
			s.observeUnrouted(&to, err)
		}
		return to, err
	}
	v, refused := rd.route(&msg)
	to.params, to.read = *rd.params, rd.paramsRead
	to.Method = v.name(&msg)
	to.Handshake = msg.Kind == rpc.KindRequest && v.method != nil && v.method.Op == wire.OpInitialize
	to.reserved = msg.Kind == rpc.KindRequest && v.method != nil && reserved(v.method)
	if v.revision != nil && !v.revision.Handshake {
		to.revision, to.Revision, to.method = v.revision, v.revision.Revision, v.method
		if refused == nil && msg.Kind == rpc.KindRequest {
			refused = rd.validate(&v, &msg)
		}
	}
	if refused != nil {
		to.Status = refused.status
		if msg.Kind == rpc.KindRequest {
			s.observeUnrouted(&to, refused.err)
		}
		return to, refused.err
	}
	to.name(s)
	return to, nil
}

// name fills in the values of the body that headers repeat (EXT14).
func (to *Routed) name(s *Server) {
	if to.method == nil {
		return
	}
	to.Named = to.method.Header != ""
	switch {
	case to.method.Op == wire.OpCallTool:
		to.Name, to.Tool, to.Arguments = to.params.Name, s.tools.get(to.params.Name), to.params.Arguments
	case to.Named:
		to.Name = member(to.msg.Params, to.method.Header)
	}
}
