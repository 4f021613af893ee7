// Package client calls an MCP server: over the streams of a child process, Streamable HTTP, or a connection within the process, in every
// revision of the protocol. It holds the rules of the calling side, so that a host need not. It is for those who call (the next section), and
// for those who change this package (all that follows).
//
//	s, err := client.Connect(ctx, client.Command("my-server", "--stdio"))
//	if err != nil { … }
//	defer s.Close()
//	result, err := s.CallTool(ctx, "get_quote", map[string]string{"symbol": "ACME"})
//
// # For those who call
//
//   - Connect opens a Session: it finds the revision that both sides speak. Close ends it, and Abort at once; Done and Err tell that it has
//     ended.
//   - CallTool, ListTools, GetPrompt, ReadResource, Complete and others are requests. Each has a timeout and a hard maximum (WithTimeout,
//     Timeout). The end of its context gives it up; so does CancelRequest, by an id that Requests lists.
//   - Start is CallTool for tools that may be tasks: an Execution has Result, Updates, Cancel, Detach and Ref; Resume follows one that another
//     process has made, GetTask looks at it once, and Resumable tells before a call whether that could be done.
//   - Describe is all that a server says of itself and its tools.
//   - Hub holds sessions with several servers, and starts child processes again that ended.
//   - Handlers answer what the server asks and hear what it tells. One handler serves every revision, however the question comes.
//   - A generated client calls by Tool: inputs are checked before they are sent, outputs before they are returned. Expect compares what the
//     server says of its tools with what the client was generated from.
//   - Errors are *Cause, *Error, *TransportError, *StatusError, *TaskError, *ExpiredError, *ProtocolError, *VersionError,
//     *NotOfferedError, *NotResumableError and *RefError, and of generated clients *ToolError and *ValidationError, for errors.As.
//
// What follows is for those who change this package. Ids such as CAN15 are rules; testdata/traceability/ledger.tsv lists them.
//
// # Map
//
//   - session.go: Session and Transport, its beginning and end; options.go, handlers.go, errors.go: what callers see
//   - negotiate.go: which revision is spoken, and what both sides declare
//   - call.go: one request, from its parameters to its end; input.go: the rounds of a call whose results ask for input; cancel.go: giving up;
//     late.go: answers that come afterwards
//   - toolcall.go, tools.go: calls of tools, as tasks or not; tool.go, expect.go, definition.go: what generated clients call, and what they know
//     of a server; execution.go, task.go: a call that is a task, taskclock.go: how long it may take, taskerror.go: how it fails; follow.go: reading its state and answering what it
//     asks; ref.go: naming it for another process, resumable.go: whether one could follow it
//   - methods.go, list.go, describe.go, cache.go: the requests, lists with their pages, and how long they are kept
//   - receive.go: what comes from the server; events.go: notifications on their way to handlers
//   - question.go: what a server asks; asked.go: a question that comes as a request, from that to its end; asker.go: the calls that may have
//     asked, whose clocks stand meanwhile; answer.go: what a handler says, as the revision writes it; form.go and sampling.go: what questions and
//     their answers have to look like
//   - receiver.go: questions in the form of tasks, which this side runs
//   - listen.go: subscriptions
//   - hub.go: several servers; hubkeep.go: starting them again
//   - connlink.go: messages over a connection; process.go: a child process
//   - http.go: Streamable HTTP, its sessions; httpexchange.go: one request and its response; httpgiveup.go:
//     giving one up; httpasking.go: one that waits for a person; httpheader.go: what headers repeat; httpdial.go: connections; sse.go: events
//   - internal/dialects: the revisions, generated
//
// # Words of this package
//
//	call, round       what a caller waits for, and one request of it; a result that asks for input is followed by another round
//	entry             a round in the tracker (package inflight), which decides who ends it
//	dialect           a protocol revision as a client needs it: names of methods, and where values stand in messages
//	link              what carries a session's messages; it is shared if all of them come on one stream
//	values, slot      the values of a message; the name of one of them, whatever the revision calls it
//	incoming          what a server may send by itself: a request, an input request or a notification
//	question          what a server asks, by a request or in a result; its holders are the calls whose clocks stand until it is answered
//	execution         a call that is a task; to follow it is to read its state until it is over, to detach from it is to stop that
//	receiver          this side as the one that runs a task: a question that the server asks in the form of one
//	late, early       an answer that comes after its request was given up; one that comes before that was noted
//	offered           what the server has declared, in its capabilities
//	noise             what a server wrote that was no message
//
// # Data flow
//
// A call becomes rounds, mostly one. A round is an entry of inflight.Tracker, Outgoing, whose Values is the round: so an answer, progress
// and a cancellation find it by its id. The caller waits for the entry; the link, which carries messages, knows nothing of answers. Whoever
// ends the entry first decides (CAN12): an answer, CancelRequest, the caller's context, its timeout, the end of the session. All ends but
// the first come through Session.onCancel, the one place that tells the server, so it is told once, and only of what was sent.
//
// What the server asks is an entry, Incoming, with the handler's context. The same handlers answer questions that are part of a result.
// A question belongs to the request on whose stream it came. Where all messages come on one stream, it belongs to all calls in flight,
// since one of them asked: their clocks stand while a person thinks (CAN28), and when the last of them is over, so is the question (CAN31).
//
// # Decisions
//
// A revision is data (wire.Dialect): names of methods, where values stand in messages, how a request is given up. Nothing here compares
// versions.
//
// One goroutine writes. A caller that wrote itself could not give up while a server does not read. A request that waits to be written is
// taken back silently; any other is followed by its cancellation.
//
// Over HTTP a notification that gives up a request is another request, on another connection. It waits until the first one was sent and a
// moment more, so that a server does not see it first and ignore it; the stream is closed behind it. A session that the server does not
// know any more is made anew, once for all who find out, and their requests are sent again: a 404 says that they were not served.
//
// Progress is handed on by the goroutine of the caller, between two waits. So it needs no lock, comes in order, and none comes after the
// call has returned (PRO01). What a caller has no time for gives way to what is newer.
//
// A task is followed by a goroutine of the session: it reads the state at the server's interval and a little more, looks at once after a
// notification, and never believes one. In a revision whose result is asked for by a request that blocks, that request is opened when the
// task asks something or is over, because the questions come on its stream.
//
// A question that a server asks in the form of a task runs on the engine of servers (TSK26), one for each session. It outlives the call in
// whose time it came, because the server has a name for it; the call's clock stands all the same.
//
// A request that asks for a task can not be taken back before its answer names the task: then the task is cancelled, by the request that is
// for that alone (CAN11). Close waits a second for such answers. Where the server decides what becomes a task, the request is taken back, and
// a task that a late answer names is cancelled all the same. Over HTTP the stream is listened to for a moment more, because to close it is the
// cancellation, and a stream that was closed names no task: a quarter of a second for an answer that is on its way, a second for one that
// has begun. A task that a server makes later than that, without looking whether anybody is there, goes on until its ttl: nothing has named it.
//
// What is given up may be answered all the same. On a shared stream an error without an id could mean such a request, so it then meets no
// other. 1024 requests that were given up are remembered, the oldest gives way, and if that one asked for a task, the log says
// that its task may go on.
//
// What a server says is shown in errors on one line, but for results, with its control characters written out, and cut (rpc.Shown).
//
// A child process leads a process group, which is killed when it has ended: what it started would hold its streams open. Windows has no such
// groups without a job object, which would end processes that a server means to leave behind; there the streams are given up. When this process
// is killed, its children see the end of their input, and one that ignores that lives on.
//
// A tool call always carries a progress token, because progress that the server does not send can not extend the timeout (CAN16).
//
// # Rejected
//
//   - A map of pending calls beside the tracker: two places to decide who ends a request.
//   - Sending a cancellation for a discovery that nobody answers: a server of sessions may take anything but initialize for an error.
//   - Following redirects: arguments and credentials would go where nobody has looked.
//   - Pdeathsig, by which Linux ends a child whose parent was killed. The signal comes with the end of the thread that started the child, so
//     each would need a thread that lives as long; it comes to the child alone, not to what that has started; and it comes at once, together
//     with the end of the input, so servers that use that to end in order would be cut short for the sake of those that ignore it.
//   - Ending the session for a line that is no message: servers print banners. It is quoted if the session does not come to be.
package client
