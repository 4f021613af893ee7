// Package streamhttp serves a server.Server over Streamable HTTP: one http.Handler, one endpoint, every revision. Each request is
// routed by itself (REV02). It is for those who serve (the next section), and for those who change the transport (all that follows).
//
// # For those who serve
//
//   - Handler makes the http.Handler of a server, an Endpoint; Server is an http.Server with limits that fit it; Listen takes unix sockets, too;
//     Listener wraps a net.Listener of your own; Endpoint.Shutdown ends the streams; Health and Ready answer probes.
//   - WithHosts and WithCORS allow names and web pages beside those of this machine; WithTrustedProxies accepts X-Forwarded headers;
//     WithLogger sets the logger.
//   - WithMaxBody, WithMaxSessions, WithMaxExchanges, WithIdleTimeout, WithReplay and others are its limits.
//   - WithMiddleware adds a check of tokens, for example, which passes the identity on with server.WithPrincipal.
//   - WithoutSessions, or seal keys in the server, are for several processes: README.md has a page about all of this.
//
// What follows is for those who change this package. Ids such as CAN18 are rules; testdata/traceability/ledger.tsv lists them.
//
// # Map
//
//   - handler.go: Handler, Endpoint, what the HTTP methods do; options.go: its options; serve.go: an http.Server with fitting limits
//   - guard.go: Host and Origin; proxy.go: which proxies may replace Host; cors.go: what pages of other origins may do;
//     accept.go: Content-Type and Accept; body.go: the body; arrival.go: one that does not arrive; refuse.go: what is answered when one of these is wrong;
//     malformed.go: the same for requests that net/http can not read
//   - route.go: which revision a message is of, and whether its headers match its body (EXT14); header.go: encoded values;
//     param.go: tool parameters in headers
//   - exchange.go: revisions without handshake: one POST is one exchange, which ends with the response
//   - converse.go: revisions with handshake: a message of a session; sessionlife.go: sessions begin, idle, give way and end; roster.go: which
//     sessions there are, whose, and which gives way; shutdown.go: the end of all
//   - adopt.go: sessions that another process opened; sessionless.go: messages without a session
//   - sessionstreams.go: which stream of a session a message goes to; replay.go: what is kept for clients that resume a stream, and its limits;
//     order.go: in which order it gives way
//   - stream.go: the messages of one response of a session, kept for a client that lost its connection; giveway.go: which of these messages give way
//     where a limit is reached; streamreader.go: who reads a stream; pump.go: writing what a reader takes
//   - sessionoutlet.go: what the server writes to a session; carrier.go: which stream has a question; queue.go: how the server waits for readers;
//     silence.go: messages that are dropped because their request or question is over; batch.go: the requests of a batch;
//     answer.go: an answer of an exchange that is written as it is made
//   - pool.go: memory that requests need for a short time, and reuse
//   - table.go: maps of a session that take little while they are empty; list.go: lists that any element can leave
//   - event.go: server-sent events; downlink.go: writing before a deadline; flush.go: where nothing can be streamed; pace.go: whether the client reads;
//     deadlines.go: which body or wait takes too long
//   - listen.go: TCP and unix sockets; probe.go: health and readiness
//
// # Words of this package
//
//	exchange     one message of a stateless revision, which is one without a handshake, and its response
//	session      one client of a revision with a handshake. To adopt one is to resume what another process opened
//	sessionless  of a message: of a revision with a handshake, but without a session; of a session: made for one such message, and ended with its response
//	stream       the server's messages in one response of a session, in order; they are kept for a client that resumes it
//	frame        the bytes of one message, or of an array of messages
//	event        a frame in a stream, with its number there; on the wire a server-sent event
//	reader       the HTTP request that writes a stream: the one that opened it, or one that resumes it. It takes events, and then writes them
//	unread       of an event: no reader has taken it; of bytes (WithReplayTotal): an attached reader has not written them
//	listener     the stream of a GET: it gets the messages that belong to no request. Also a net.Listener (malformed.go)
//	priming      of a stream: its first event, which has an id to resume after and no message
//	attached     of a client or reader: it reads the stream now
//	backlog      messages of a session that no listener has taken
//	replay       sending again what a lost connection may not have delivered
//	to give way  to be dropped for something newer, where a limit is reached: a session, a stream, a message. To give up a response is to end it because its
//	             client does not read. To lose a question is to drop it while somebody waits for the answer: a handler gets an error, a task asks again
//	question     a request of the server to the client, for example an elicitation. It is withdrawn when nobody waits for the answer any more
//	in files     of an answer: in temporary files (server.LongAnswer), because it has data of a server.Opener. All others are in memory
//	carrier      the stream that has a question (server.Carrier)
//	downlink     the writer of one HTTP response
//	pace         the progress of a write, which shows whether the client reads
//	batch        the requests of one array of messages, which one array answers
//	tenant       whose sessions count together: a principal, or callers without an identity
//	roster       all sessions, by tenant
//	refusal      an HTTP status and a JSON-RPC error, for a request that is not served
//	probe        a request for health or readiness
//
// # Decisions
//
// What is to be sent decides whether a response streams. An answer that comes before anything else is plain JSON.
// Notifications, questions, keep-alives and, with a handshake, one second without an answer make it a stream. A stream with
// a handshake begins with an event that has an id, so a client that loses it can resume it: the request goes on (CAN18), and
// its messages are kept within WithReplay. A response that never became a stream can not be resumed, so it is dropped; hence
// the one second.
//
// Kept messages are not always replayed. When the client cancels a request, its messages are dropped from the streams, read or not
// (silence.go): of a batch, those about that one request. A question leaves its stream when it is over: answered, withdrawn, or asked on
// another stream. Dropped events keep their numbers, so the ids of others do not change, and a client can resume after the id of a dropped
// one. The withdrawal of a question stays, because the client may have read the question: if its stream is cancelled before a reader took
// it, a listener gets it.
//
// A session keeps four times WithReplay, and 256 streams that are over. Beyond that give way, one by one until it is enough and the search was worth its cost (round.done): streams that were written to
// their end, notifications, answers with their streams, withdrawals, and at last questions, since a handler waits for each. It does not matter who reads: what
// an attached reader has written gives way like what waits for a client that is away, because the connection may be lost already. The order is the same
// in one stream (WithReplay) and across all sessions (WithReplayTotal). The stream of a request in flight stays, empty if need be, because its client comes
// back for the answer. In place of an answer that gave way it gets an error: the id after which it resumes has the id of the request if that is short, so
// nothing has to be remembered for it. It gets no listener, which would have it wait for ever. A batch is left out: the ids of its events name no request,
// so a client that resumes the stream of one that gave way, or that another process has, gets a listener.
//
// In place of an answer in memory that is larger than what a session keeps (four times WithReplay), an error is kept once nobody reads the stream, so that
// the request of a client that comes back ends; in place of an array of answers, an error for each. Any other message of that size is dropped. So no large
// message costs the others of the stream, whose requests may be in flight. Questions that stay where the notifications after them gave way move to the places
// of these, with their numbers, so that the stream does not grow. If a question is dropped before it was written, its handler gets an error at once (CAN30);
// a task's question is asked again when somebody reads. An array of answers of a batch in flight is replaced by errors before these are forgotten.
//
// The stream of a GET begins with a priming event, too. The specification asks for that event in the answer to a POST
// (basic/transports#sending-messages-to-the-server). Of a GET it says that a server sends a retry field before it closes the connection, as for a POST
// (#listening-for-messages-from-the-server), and the priming event has this field. Without the event, messages would be lost that were written to a
// connection which is lost before the client knew an id. A GET that resumes a stream has none: its client knows an id.
//
// A response to a request is complete or broken. If it ends without the answer, because its client closed its side of the connection, or because its
// session ended and the handler of the call did not return within the grace period, this package panics with http.ErrAbortHandler, which ends the
// connection, or the stream of HTTP/2: a client that has closed only its writing side would take an empty 200 for an answer. Only streams of a session
// whose request was cancelled, also by the end of the session, or which the client is to resume, are complete without an answer. Middleware that recovers from panics has to pass http.ErrAbortHandler on.
// Where middleware hides the http.ResponseWriter, nothing can be flushed (flush.go): answers that come alone are served, with no keep-alives before them;
// whatever needs a stream gets 500, and without a session its call is cancelled, with that as the cause (CAN13).
//
// An answer with data of an Opener is in files, and has one event like any other. It stays in the stream until it was written to its end once: a
// client that loses its connection before that gets the answer again, from its beginning, when it resumes after the priming event or a later one. The
// answer is not kept longer: it would take disk space for every client that read it and never resumes. It is removed with its session, and after five
// seconds in which its client reads nothing while others wait for that space. A cancellation ends its response in the middle of the frame; an array that
// is being written is written to its end, because what is left of its batch follows.
//
// The end of a session cancels what is in flight in it, also when its client ends it (DELETE): streams that have begun end in order, without the
// answer, as soon as their calls have ended, and a client that resumes one gets 404, because the session is gone.
//
// Without a handshake nothing is kept for the client: the end of its HTTP request cancels the call (CAN18), with cause disconnect. Watching
// for that costs more than decoding a small call (six allocations of about twenty, with a context of our own below the
// request's), so it begins after five milliseconds, when most calls are over. Keep-alive comments find clients that left while
// another request of theirs was waiting on the connection, which net/http does not report.
//
// The status depends on what became of a request, never on when: unknown and malformed requests have the status of their refusal, and whatever a
// handler answers has 200, also a JSON-RPC error, since the method exists and was served. A refusal that may be retried has 429 or 503 as long as the
// response has not begun.
//
// A malformed answer of a client ends its question (CAN30), unless it is refused before it is parsed as a message: in a body that is too large (413), or
// in an array where the revision has no batches (400). The client sees the status, and can send another answer, or an error, until the question times out.
// A body that is too large is not read for its id: it is refused at once, by its Content-Length, and a proxy may refuse it in this server's place.
//
// The error for a capability that the client lacks has status 400 (LET20). If a tool has a question that fails without a capability, or names one
// among its clientCapabilities in the manifest, and the client did not declare it, the response to a call begins only when the call is over:
// progress and log messages come right before the answer, and there are no keep-alives. Opening the stream at once would make the status wrong;
// asking the handler beforehand whether it will ask is not possible. All other calls stream at once: if the manifest says nothing, the refusal of
// a handler's custom request that comes after progress is in a response with status 200.
//
// Messages that belong to no request wait for a listener, a GET: each goes to one listener, the newest, and those that
// its reader did not take go to another one. Over HTTP/2 a few connections open any number of requests, so listeners and the bodies that are being
// read are bounded here, and not only where connections are accepted. Ids of events name the stream and the event's number there; they are valid in
// one session.
//
// In a session the goroutines of handlers append and the goroutine of the HTTP request writes, so a client that does not read
// holds up nobody until a stream has a megabyte of unread messages. In an exchange there is nobody else to hold up, so its
// handler writes itself.
//
// Every write has a deadline, which the goroutine that writes sets, and which is brought forward when the client has read nothing for a while and others
// wait (pace.go). Every body has one, too; that is set on the connection only when it has expired, since most never do (deadlines.go). Those of http.Server
// are for whole requests, and are removed when one arrives: its WriteTimeout would end streams and long calls, and its ReadTimeout would look like the
// client's disconnect. The former begins anew when the handler returns, for what net/http writes then.
// What a handler has not read of a body, net/http awaits without a limit, before the response or after it. So the wait ends half a second after the
// handler; a refusal by this package is sent at once, and ends its connection. Server does the same for
// handlers around the endpoint. A response of theirs that is longer than net/http's buffer of 2 KiB still waits for the body: within WithMiddleware as long as
// WithBodyTimeout, outside for ever.
//
// A batch of 2025-03-26 is one POST and one response: messages of its requests stream, and one array answers them all. A request that is
// cancelled before the array is sent has no answer in it (batch.go). An array without answers gets 202 if one of its messages was accepted, else 400 with what
// was wrong, as a message that comes alone does. What may be a request or an answer (rpc.Message.Unclear) gets its error within the array. Streams of revisions before 2025-11-25 do not begin with a priming event:
// clients of that time take it for a message. A client that leaves before an event was sent as a whole knows no id and can not come back:
// nothing is kept for it, and its requests are served. The HTTP+SSE transport of
// 2024-11-05 is not served; a client that tries it gets an error that says so. With Streamable HTTP a client may use that revision.
//
// With seal keys the id of a session is the outcome of its handshake, sealed for its principal, so a process that does not have the
// session makes it anew from the id, in full: the next question, cancellation or GET that comes to the same process finds it. A process
// that ends such a session for idleness, or because it gave way, only forgets it; DELETE ends it, and the process remembers that. The
// streams and questions of the other process are not there. Ids of events and of questions begin at random numbers, so those of one
// process mean nothing to another. An answer to a question that this process has not asked in the session is refused with 400, so that its client does not
// believe that it has arrived; one that comes again, or late, is acknowledged. The answer to a task's question is acknowledged when the store has recorded it,
// and is refused with 503 if the store does not take it (DUR01). A GET that resumes the stream of a request which this process has not
// opened gets an error for the request, as above.
// Without the operator's keys the id of a session is valid in one process only, and is random.
//
// A message without a session is served by a session that has no id, and that ends with the response. The end of the client's HTTP request ends
// that session, too: the call goes on (CAN18) only for clients that can resume.
//
// A session belongs to the principal that opened it: for another one it does not exist. Everything else belongs to each request: its header,
// its token, and the values of its context, so middleware may put other values there with every request.
//
// What a call takes beside a handler of net/http that writes its reply by hand is in testdata/bench/README.md. Half of what a session adds is the
// way to the handler's goroutine and back.
//
// A header that is not ASCII, or does not decode, is answered with the code of a header mismatch. One with a control character, and whatever else makes a
// request that net/http can not read, is refused by net/http itself, in plain text, before there is a request: connections of a Listener, which Listen
// returns, write a JSON-RPC error instead (malformed.go). net/http does not tell control characters from most other errors in headers, so all of
// these have the code of a mismatch; an error that it names has that of an invalid request. Requests for other paths than the endpoint's get the
// same, because the path was not read. net/http's text remains where its ListenAndServe makes the listener, and over TLS that this process ends:
// net/http looks for the connection of crypto/tls itself, for the handshake and HTTP/2, and what is below that is encrypted. HTTP/2 ends a stream
// with such a header by PROTOCOL_ERROR, as RFC 9113 has it. To "Expect: anything" net/http answers 417 without a text.
//
// Host and Origin are checked always. A public server names its hosts once (WithHosts); a forgotten check would hand every
// local server to every web page.
//
// # Rejected
//
//   - The Last-Event-ID as the only state, with messages read back from a store: sessions hold handlers that run,
//     so their streams are bound to a process anyway.
//   - Sealed ids that are renewed while a session is used: clients keep the one that they got first.
//   - The header Forwarded (RFC 7239) beside X-Forwarded-Host: a proxy that sets the one passes on what a client wrote into the other.
//   - One message to all listeners: the protocol forbids it.
//   - 409 for a second GET: a client that lost its connection knows that before the server does.
//   - 404 for an unknown Last-Event-ID: it would tell the client that its session is gone. 204 for a stream of which nothing is left, and
//     400 for one that is not known: the specification has an event stream or 405 for a GET, so this one gets a new listener (LET13), or an event stream
//     that ends the request.
//   - CORS by middleware around the handler: it would have to know the headers of every revision, and stand outside the check of tokens,
//     but inside that of hosts.
//   - A goroutine that writes for every response: the one of the request is there already.
//   - Listeners in the limit of bodies (WithMaxBodyTotal): they stay, so clients that only listen would keep others from sending. They have a limit
//     of their own (WithMaxStreams).
package streamhttp
