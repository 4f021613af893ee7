// Package streamhttp serves a server.Server over Streamable HTTP: one http.Handler, one endpoint, every revision. Each request is
// routed by itself (REV02). It is for those who serve (the next section), and for those who change the transport (all that follows).
//
// # For those who serve
//
//   - Handler makes the http.Handler of a server; Server is an http.Server with limits that fit it; Listen takes unix sockets, too;
//     Listener is for one's own listener;
//     Endpoint.Shutdown ends its streams; Health and Ready answer probes.
//   - WithHosts and WithCORS allow names and web pages beside those of this machine; WithTrustedProxies believes what proxies say of them;
//     WithLogger says where to log.
//   - WithMaxBody, WithMaxSessions, WithMaxExchanges, WithIdleTimeout, WithReplay and others are its limits.
//   - WithMiddleware takes what checks tokens and hands the identity on with server.WithPrincipal.
//   - WithoutSessions, or seal keys in the server, are for several processes: README.md has a page about all of this.
//
// What follows is for those who change this package. Ids such as CAN18 are rules; testdata/traceability/ledger.tsv lists them.
//
// # Map
//
//   - handler.go: Handler, Endpoint, what the HTTP methods do; options.go: its options; serve.go: an http.Server with fitting limits
//   - guard.go: Host and Origin; proxy.go: whose word for them counts; cors.go: what pages may do;
//     accept.go: Content-Type and Accept; body.go: the body; refuse.go: what is answered when
//     one of them is wrong; malformed.go: the same for what net/http can not read
//   - route.go: which revision a message is of, and whether its headers say what it says (EXT14); header.go: encoded values;
//     param.go: tool parameters in headers
//   - exchange.go: revisions without handshake: one POST, one exchange; its end is its response's end
//   - converse.go: revisions with handshake: a message of a session; sessionlife.go: sessions begin, rest, give way and end; roster.go: who
//     has one, and which gives way; shutdown.go: the end of all
//   - adopt.go: sessions that another process opened; sessionless.go: messages without a session
//   - sessionstreams.go: which stream of a session a message goes to; replay.go: what is kept for clients that come back, and its limits
//   - stream.go: the messages of one response of a session, kept for a client that lost its connection; pump.go: their way to it
//   - sessionoutlet.go: what the server writes to a session; carrier.go: which stream has a question; queue.go: whether the client reads it;
//     silence.go: what is dropped of what is cancelled, or over; streamreader.go: who reads a stream; together.go: the requests of a batch; answer.go: an answer that is written as it is made
//   - pool.go: what requests need for a moment
//   - event.go: server-sent events; downlink.go: writing before a deadline; pace.go: whether the client reads
//   - listen.go: TCP and unix sockets; probe.go: health and readiness
//
// # Words of this package
//
//	exchange     one message of a stateless revision and its response
//	session      one client of a revision with a handshake. To adopt it is to go on with one that another process opened
//	sessionless  a message of such a revision without a session, and the session that serves it and ends with its response
//	stream       what the server says in one response of a session, in order; its messages wait for a client that comes back
//	reader       the HTTP request that writes a stream: the one that opened it, or one that resumes it
//	listener     a GET: it reads what belongs to no request. Also a net.Listener (malformed.go)
//	backlog      messages of a session that no listener has taken
//	replay       sending again what a lost connection may not have delivered
//	to give way  to be dropped for something newer, where a limit is met: a session, a stream, a message
//	carrier      the stream that has a question (server.Carrier)
//	downlink     the writer of one response
//	pace         how a write goes on: whether the client reads
//	together     the requests of a batch, which one array answers
//	tenant       whose sessions count together: a principal, or callers without an identity
//	roster       all sessions, by tenant
//	refusal      what is answered in place of a response: a status and an error
//	probe        a request for health or readiness
//
// # Decisions
//
// The response tells whether to stream. An answer that comes before anything else is plain JSON. Notifications, questions,
// keep-alives and, with a handshake, one second without an answer make it a stream. A stream with a handshake begins with an
// event that has an id, so a client that loses it can come back: the request goes on (CAN18), its messages wait within
// WithReplay. A response that never became a stream can not be asked for, so it is dropped; hence the one second.
//
// What is kept is not always said again. When the client cancels a request, what streams have of it is dropped, read or not (silence.go): of
// a batch, what is about that one of its requests. A question leaves its stream when it is over: answered, withdrawn, or asked on another
// stream. Events that are dropped keep their numbers, so ids of others stay as they were, and an id of a dropped one is good to go
// on after it. The withdrawal of a question stays, because the client may have read the question: where its stream is cancelled before a
// reader took it, a listener gets it.
//
// The stream of a GET begins with such an event, too. The page asks for it where a POST is answered (basic/transports#sending-messages-to-the-server);
// of a GET it says that a server which closes the connection first sends a retry field, as it does there
// (#listening-for-messages-from-the-server), and this event has it. What was written to a connection that is lost before
// the client knew an id would be lost with it otherwise. A GET that goes on with a stream has none: its client knows an id.
//
// A response to a request is whole or broken. Where it ends without the answer because its client closed its side of the connection, or the
// session ended under it, the handler panics with http.ErrAbortHandler, which ends the connection, or the stream of HTTP/2: a client that has
// closed only its writing side would take an empty 200 for an answer. Whole without an answer are only streams of requests of a session that
// were cancelled, and those that the client comes back to. Middleware that recovers from panics has to pass that one on.
//
// An answer with data of an Opener is in a file, and has one event like any other. It stays in the stream until it was written to its end
// once, so a client that loses its connection within it gets it again, from its beginning, by its priming event or what came after that. It is not
// kept beyond that: it would take room of the disk for every client that read it and does not come back. It goes with its session, and after five
// seconds in which nobody takes anything of it while others wait for that room. A cancellation ends its response within the frame.
//
// The end of a session cancels what is in flight in it, also when its client ends it (DELETE): streams that have begun end in order, without the
// answer, and a client that comes back to one is told that the session is gone.
//
// Without a handshake nothing waits: the end of the client's request cancels the call (CAN18), with cause disconnect. To watch for
// that costs more than to decode a small call (six allocations of about twenty, with a context of our own below the request's), so
// it begins after five milliseconds, when most calls are over. Keep-alive comments find clients that left while another request of
// theirs was waiting on the connection, which net/http does not tell.
//
// The status says what became of a request, and never when: what is unknown or malformed has the status of its refusal, and whatever an author's
// code answers has 200, also with a code of JSON-RPC, since the method is there and was served. What may be tried again has 429 or 503 as long as the
// response has not begun.
//
// The error for a capability that the client lacks has status 400 (LET20). A call of a tool with a question that fails without the
// capability, or with that in its clientCapabilities in the manifest, does not begin its response until it is over, if its client did not declare
// that: progress and log messages come right before the answer, and there are no keep-alives. Opening the stream at once would make the status
// wrong; asking the handler beforehand whether it will ask is not possible. All other calls stream at once: where the manifest says nothing, the
// refusal of a request of the handler's own that comes after progress is in a response with status 200.
//
// Messages that belong to no request wait for a listener, a GET: each goes to one of them, the newest, and those that
// it did not take go to the next. Over HTTP/2 a few connections open any number of requests, so listeners and the requests whose body
// arrives are bounded here, and not only where connections come in. Ids of events name stream and place; they are good for one session.
//
// In a session the goroutines of handlers append and the goroutine of the HTTP request writes, so a client that does not read
// holds up nobody until a stream has a megabyte of unread messages. In an exchange there is nobody else to hold up, so its
// handler writes itself.
//
// Every write has a deadline, which is brought forward when the client has read nothing for a while and others wait (pace.go). Every body
// has one, too. Both are set for each request, because those of http.Server are for whole connections: its WriteTimeout would end streams,
// its ReadTimeout would be taken for the client's disconnect.
//
// A batch of 2025-03-26 is one POST and one response: what its requests say streams, and one array answers them all. What is cancelled
// leaves the array until that is sent (together.go). Streams of revisions
// before 2025-11-25 do not begin with an event that only has an id: clients of that time take it for a message. The HTTP+SSE transport of
// 2024-11-05 is not served; who tries it is told so, and a client that speaks Streamable HTTP may ask for that revision.
//
// With seal keys the id of a session is what was agreed on, sealed for its principal, so a process that does not have the session makes it
// anew from the id, in full: the next question, cancellation or GET that comes to the same process finds it. Such a session is never lost
// by idling or by giving way, so both only let it go; DELETE ends it, and the process remembers that. What would need the other
// process (its streams, its questions) is not there. Ids of events and of questions begin at random places, so what a client says to
// the one process means nothing to the other. Without keys of the operator's an id would be good for one process anyway, and is random.
//
// A message without a session is served by a session that nobody can name, and that ends with the response. The end of the client's request
// ends it, too: CAN18 is about clients that can come back.
//
// A session belongs to the principal that opened it: for another one it does not exist. Everything else is each request's own: its header,
// its token, and the values of its context, so middleware may renew what it puts there.
//
// Measured on two busy cores with BenchmarkCall, beside a handler of net/http that writes its reply by hand (BenchmarkCallFloor): one
// call at a time takes 28 to 31 µs without a session and 32 to 36 µs with one, where the other takes 21 to 26; 46 and 43 allocations
// beside 28. Half of a session's difference is the way to the handler's goroutine and back.
//
// A header that is not ASCII, or does not decode, is a mismatch with its code. One with a control character, and whatever else makes a
// request that net/http can not read, is refused by net/http itself, in plain text, before there is a request: connections of a Listener,
// which Listen returns, write a JSON-RPC error instead (malformed.go). net/http tells control characters from nothing else that is wrong in
// a head, so all of that has the code of a mismatch; what it does name has that of an invalid request. Paths beside the endpoint get the
// same: whose the request is was not read. It is net/http's text that stays where its ListenAndServe makes the listener, and over TLS that
// this process ends: net/http looks for the connection of crypto/tls itself, for the handshake and HTTP/2, and what is below that is
// encrypted. HTTP/2 ends a stream with such a header by PROTOCOL_ERROR, as RFC 9113 has it. Of "Expect: anything" net/http says 417 with no text.
//
// Host and Origin are checked always. A public server names its hosts once (WithHosts); a forgotten check would hand every
// local server to every web page.
//
// # Rejected
//
//   - The SSE id of the last event as the only state, with messages read back from a store: sessions hold handlers that run,
//     so their streams are bound to a process anyway.
//   - Sealed ids that are renewed while a session is used: clients keep the one that they got first.
//   - The word of RFC 7239 (Forwarded) beside X-Forwarded-Host: a proxy that writes the one passes on what a client wrote into the other.
//   - One message to all listeners: the protocol forbids it.
//   - 409 for a second GET: a client that lost its connection knows that before its server does.
//   - An error in the place of an answer that gave way: what is kept for each would have to be bounded, too, and the request may have been
//     served. The log says that a client missed something, and a comment at the beginning of its stream does.
//   - 404 for an unknown Last-Event-ID: it would tell the client that its session is gone. 204 for a stream of which nothing is left, and
//     400 for one that is not known: the page has an event stream or 405, so such a GET is a new listener (LET13).
//   - CORS by middleware around the handler: it would have to know the headers of every revision, and stand outside the check of tokens,
//     but inside that of hosts.
//   - A goroutine that writes for every response: the one of the request is there already.
//   - Listeners in the budget of bodies: they stay, so clients that only listen would keep others from sending. They have a limit of
//     their own.
package streamhttp
