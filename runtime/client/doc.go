// Package client calls an MCP server: over the standard streams of a child process, Streamable HTTP, or a connection within the process, in every
// revision of the protocol. It keeps the rules of the calling side, so that a host need not. The next section is for callers, all that
// follows for those who change this package.
//
//	s, err := client.Connect(ctx, client.Command("my-server", "--stdio"))
//	if err != nil { … }
//	defer s.Close()
//	result, err := s.CallTool(ctx, "get_quote", map[string]string{"symbol": "ACME"})
//
// # For callers
//
//   - Connect opens a Session: it finds the newest revision that both sides support. Close ends the session, Abort does so without waiting for the
//     server. Done and Err say that it has ended, and why.
//   - CallTool, ListTools, GetPrompt, ReadResource, Complete and others are requests. Each has a timeout and a hard maximum (WithTimeout,
//     Timeout). A request is given up when its context ends, or by CancelRequest with an id that Requests lists.
//   - Start is CallTool for tools that may be tasks: an Execution has Result, Updates, Cancel, Detach and Ref. Resume follows a task that another
//     process has started, GetTask reads its state once, and Resumable says before a call whether another process could follow it.
//   - Describe returns a server's description of itself and its tools.
//   - Hub has sessions with several servers, and restarts child processes that have ended.
//   - Asking is for an http.Client that has to ask a person before it sends a request, for example to log in: it pauses the clock of the call meanwhile.
//   - Handlers answer the server's questions and receive its notifications. One handler serves every revision, however a question is sent.
//   - A generated client calls tools through Tool: inputs are validated before they are sent, outputs before they are returned. Expect compares the
//     server's tools with those that the client was generated from.
//   - Errors are *Cause, *Error, *TransportError, *StatusError, *TaskError, *ExpiredError, *ProtocolError, *VersionError,
//     *NotOfferedError, *NotResumableError and *RefError, and of generated clients *ToolError and *ValidationError, for errors.As.
//
// What follows is for those who change this package. Ids such as CAN15 are rules; testdata/traceability/ledger.tsv lists them.
//
// # Map
//
//   - session.go: Session and Transport, its beginning and end; options.go, handlers.go, errors.go: what callers see
//   - negotiate.go: which revision is used; declaration.go: what both sides declare
//   - call.go: one request, from its parameters to its end; calllimit.go: how long it may take; input.go: the rounds of a call whose results ask for
//     input; inputagain.go: sending such a round again; inputanswer.go: the answers to questions of results and tasks; cancel.go: giving up; late.go:
//     answers that come after that
//   - toolcall.go, tools.go: calls of tools, as tasks or not; tool.go, expect.go, definition.go: what generated clients call, and what they know
//     of a server
//   - execution.go, task.go: a call that is a task; follower.go: what all executions of a task share; left.go: tasks that nobody follows any more;
//     follow.go: reading a task's state; taskresult.go: repeating the request for its result; taskquestion.go: answering its questions;
//     taskclock.go: how long a call may wait for it; taskprogress.go: its progress; taskerror.go: how it fails; ref.go: naming it for another
//     process; resumable.go: whether another process could follow it
//   - methods.go, list.go, describe.go, cache.go: the requests, lists with their pages, and how long they are cached; content.go: the content of results;
//     text.go: text that can not be sent
//   - receive.go: messages from the server; events.go: notifications, queued for handlers
//   - question.go: the server's questions; answer.go: a handler's answer, as the revision writes it; form.go, sampling.go and sampled.go: what
//     questions and their answers must look like
//   - asked.go: a question that is a request, and its receipt; dialog.go: asking a handler, and the question's end; asker.go: its askers;
//     answers.go: what becomes of its answer; again.go: sending the answer again; askedtwice.go: the same question, asked again by the server
//   - receiver.go: questions asked as tasks, which this side runs; untaken.go: results that the server is to fetch
//   - listen.go: subscriptions; wishes.go: what the host has asked the server to send, which a new session asks for again
//   - hub.go: several servers; hubkeep.go: restarting them
//   - connlink.go: messages over a connection; process*.go: a child process
//   - http.go: Streamable HTTP; httpsession.go: its sessions; httpexchange.go: one request and its response; httpresume.go: its stream of events, and resuming that; httpgiveup.go: giving one up; httpasking.go: one that
//     waits for a person; sideclock.go: the clock of a call that waits for another request; httpheader.go: headers of the host, and headers that repeat params; httpredirect.go: redirects; httpdial.go: connections;
//     sse.go: server-sent events
//   - internal/address: addresses without the parts that may be secret
//   - internal/dialects: the revisions, generated
//
// # Words of this package
//
//	host              the program that uses this package
//	session           a Session; an HTTP session is the server's, known by an id, and is renewed when the server has ended it
//	call, round       what a caller waits for, and one request of it; a result that asks for input is followed by another round
//	to give up        to end a request without its answer; the server is then told to cancel it
//	clock             what counts the time of a call against its timeout and its maximum
//	entry             a request in the tracker (package inflight), which decides who ends it: a round, or a request of the server
//	dialect           a protocol revision as a client needs it: names of methods, and where values are in messages
//	handshake         initialize, which begins a session in revisions before 2026-07-28; the others are stateless
//	link              what sends and receives a session's messages; it is shared if all messages from the server come on one stream
//	values, slot      the values of a message; one of them, whatever its name in the revision
//	incoming          a message that a server may send unasked: a request, an input request or a notification
//	question          a server's request for input of the user, of a model, or of roots: as a request, or in a result or the state of a task
//	origin          what waits for the answer to a request of the server: its session, calls and task, which hear it if the answer is not taken
//	asker             a call that may have asked a question that is a request; its clock is paused until the question is answered
//	dialog            one time that a handler is asked a question, under one id or several; a question that was taken back gets another one later
//	to take back      to end a question's dialog without an answer, because nobody follows its task any more; the question waits until somebody does
//	to withdraw       to cancel a question, which only the server does
//	recipient         a request that gets the answer to a question; one answer has several if the server asks the same question under several ids
//	life              a context that ends with what a question belongs to: the request on whose stream it came, or its task, else the session
//	execution         a call that is a task, or may become one
//	to follow         to read a task's state until the task is over, and to answer its questions; to detach is to stop that
//	follower          what a session knows of a task, for all executions of it; its following is the time in which it reads the task's state
//	left              a task that nobody follows any more is left, and so are its questions
//	state             of a session: the fields that its mutex guards; of a task: a TaskState, as the server reports it
//	to leave open     not to answer a question of a task that this session only resumed, or started with LeaveOpen: another host may answer it
//	receiver          the specification's word for the side that runs a task: here this side, for a question that the server asks as one
//	late, early       an answer that comes after its request was given up; one that comes before that was recorded
//	offered           declared by the server, in its capabilities
//	noise             text that a server wrote and that was no message
//
// # Data flow
//
// A call becomes rounds, mostly one. A round is an entry of inflight.Tracker, Outgoing, whose Values is the round: so an answer, progress
// and a cancellation find it by its id. The caller waits for the entry; the link knows nothing of answers. The first to
// end the entry decides (CAN12): an answer, CancelRequest, the caller's context, its timeout, the end of the session. All ends but
// an answer come through Session.giveUp, the one place that tells the server, so it is told once, and only of requests that were sent. It is told by Close, too:
// the end of an HTTP stream cancels nothing before 2026-07-28 (CAN18), and when a pipe ends, a server may go on with what it has read (CAN26). Abort tells it nothing.
//
// A request of the server is an entry, Incoming, with the handler's context. The same handlers answer questions that are part of a result.
// A question belongs to the request on whose stream it came. Where all messages come on one stream, it belongs to the call of a tool, a prompt or a resource
// that is in flight: the clock of the call is paused while a person thinks (CAN28), and when the call is over, so is the question (CAN31). If several
// are in flight, the clocks of all are paused; then, and if none is, the question belongs to the session: servers ask for the roots when they begin. A question
// that ends without its handler's answer is answered by this side, once, unless the server has withdrawn it, or it is left open.
// A server that loses a stream asks again: by the same request when the stream is resumed, by a new one when its task has another stream. Nobody is
// asked again if the server has withdrawn the question and is known not to have the answer, which goes to the new request then; in doubt the user is asked.
//
// # Decisions
//
// A revision is data (wire.Dialect): names of methods, where values are in messages, how a request is given up. Nothing here compares
// versions.
//
// A frame that can not be written at once is written by another goroutine: else its caller could not give up while a server does not read. A request
// that is given up while it waits to be written is not sent at all; any other is followed by its cancellation.
//
// Over HTTP the notification that cancels a request is an HTTP request of its own, on another connection. It waits until the first one was sent and a
// moment more, so that a server does not see it first and ignore it; then the stream is closed, after a minute at most, or when too many are open. New
// requests wait while too many of these notifications are being sent, or too many streams are being closed, but never for streams that a server leaves
// open. They wait for answers to the notifications, too, as long as some come: a server that is slower than its client would be left with ever more
// connections. A server that answers none stops nothing.
//
// A server may have its client poll: its streams end at once, and it says how long to wait (retry). So a stream that was opened again counts as no failure,
// and the call's own time decides. Only a server that can not be reached is given up sooner. The server is told when a call is given up whose stream is lost.
//
// A message over the limit is thrown away where it ends, on a stream of events, too, if it is no more than some times as large: what follows may be the answer.
//
// A session that the server does not know any more is replaced by a new one, once for all requests that find out, and
// these are sent again: a 404 to the POST of a request says that it was not served. A 404 to the GET that resumes the request's stream does not say that,
// nor does one to the answer to a question of the request: then the request fails, because it may have been served, and the next request finds out.
// A new session whose callers have all given up before it had begun is deleted as soon as its id is known, for which Close waits, too.
// A call that is sent again in a new session may ask again what the user has answered in the old one, and the user is asked again: the server has
// forgotten the old call, and the question may be about something else in the same words.
//
// The function of OnProgress is called by the goroutine that waits for the call. So it needs no lock, its reports come in order, and none comes after the
// call has returned (PRO01). If the caller is slow, newer progress replaces older; progress that goes back is dropped (PRO02). A call that waits
// for the task that it has become keeps to that. An Execution may have no caller that waits, so a goroutine of the session passes its progress on.
// Result, Cancel, Detach and Close wait only a moment for that goroutine: the caller's function may itself wait for one of them, in ways that nothing here can see.
//
// A task is followed by a goroutine of the session: it reads the state at the server's interval and a little more, at once after a
// notification, and trusts only what it reads. A session has one such goroutine for each task, however often the task was called or resumed: two would
// ask each question twice. In revision 2025-11-25 the request for the result blocks until the task is over. It is sent when the task asks something
// or is over, unless it was cancelled, because the questions come on its stream. It can be repeated, and is when nothing comes of it for a while: its stream may be lost
// unnoticed, or be resumed at a server that has restarted and takes the GET for a new listener. When nobody follows the task any more, the goroutine ends.
// The follower stays, because a server may send a question only once: a question that is open then, or comes meanwhile, is asked when somebody follows
// the task again, and an answer that was given is still sent.
//
// Over HTTP a server withdraws a question when it loses the stream, and asks it again soon after. So a person's answer that was given, but has not arrived
// when the question is withdrawn, is kept for ten seconds, for the same question of the same task in the same HTTP session. Any other answer that is kept
// goes only to its own request, should that come again: whoever else asks the same asks something new, for example whether to delete another file (askedtwice.go).
//
// An answer that the server refuses for good ends what waits for it: a call fails, and a task is followed no more. That is not done if an earlier
// attempt to send it may have arrived, because the server may refuse the second one for that; nor if several calls may have asked, because only one has. A task
// is also followed no more if its answer could not be delivered, and it still waits for input: it has no timeout, and may wait for ever.
// A 404 to an answer is such a refusal, too, if the session turns out to go on: a replica of the server may not know it.
//
// A task that is followed no more because of an error is not cancelled: the error mostly says nothing of the task, but that a token has expired while a
// person thought, or that a gateway answers in the server's place. A state that makes no sense is read again first. Whoever has the task's Ref can resume it,
// and is asked again. The task of a call is cancelled, because nobody has its Ref.
//
// A session that has only resumed a task leaves open what it can not answer (Handlers.LeftOpen). The session that started the task cancels it instead:
// without an answer it would wait for ever.
//
// A question that a server asks as a task runs on the task engine that servers use (TSK26), one for each session. It outlives the call during
// which it came, because the server knows its id; the call's clock is paused all the same.
//
// A request that asks for a task can not be cancelled before its answer names the task: then the task is cancelled, by tasks/cancel
// (CAN11). Close waits a second for such answers. Where the server decides which call becomes a task, the request is cancelled, also by Close, and
// a task that a late answer names is cancelled all the same. Over HTTP the stream is read for a moment more, because closing it is the
// cancellation, and a stream that was closed names no task: a quarter of a second for an answer that is on its way, a second for one that
// has begun. On a shared stream Close waits for that quarter. A task that a server creates later than that, without looking whether the client is there, goes on
// until its ttl: this side never learns its id.
//
// Close must find each call that is a task or may become one. So such a call is always in Session.calls, in lateAnswers or in Session.awaited, and is put into
// the next before it leaves the one before; and once Close has begun, no request that may become a task is sent (state.closing). Those of Start that have
// become tasks are in none: their callers have the Refs.
//
// A request that was given up may be answered all the same. On a shared stream an error without an id could be for such a request, so it ends no other
// request while there is one. 1024 requests that were given up are remembered, then the oldest is forgotten; if that one asked for a task, the log says
// that the task may go on.
//
// An address may have a key in it, so errors and logs have it without user, query and fragment, as a Ref has. Servers repeat the query of a
// request in their pages, so it is cut out of what is shown of these: as a whole, and each value alone, decoded, and as HTML or JSON escapes it.
//
// A server's text is shown in errors on one line, except results, with its control characters escaped, and cut (rpc.Printable).
//
// A child process leads a process group, which is killed when the child has ended: processes that it started would hold its streams open. Windows has
// no such groups without a job object, which would end processes that a server means to leave behind; there the streams are abandoned. When this process
// is killed, its children see the end of their input, and one that ignores that goes on.
//
// A tool call always has a progress token, because only progress that the server sends can extend the timeout (CAN16).
//
// # Rejected
//
//   - A map of pending calls beside the tracker: two places to decide who ends a request.
//   - Sending a cancellation for a discovery (server/discover) that nobody answers: a server that wants the handshake may take anything else for an error.
//   - Following redirects: arguments and credentials would go to an address that the caller has not chosen.
//   - Pdeathsig, by which Linux ends a child whose parent was killed. The signal comes with the end of the thread that started the child, so
//     each would need a thread that lives as long; it comes to the child alone, not to processes that it started; and it comes at once, together
//     with the end of the input, so servers that end in order when their input ends would be cut short for the sake of those that ignore it.
//   - Ending the session for a line that is no message: servers print banners. Such lines are quoted in the error if Connect fails.
package client
