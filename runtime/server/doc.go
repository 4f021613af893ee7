// Package server serves generated tools and methods: requests, cancellation, progress, tasks, questions and
// subscriptions, in every revision, over any rpc.Conn or for a transport that brings messages.
//
// Its readers are those who write handlers (the next section), those who generate code (Definition, package wire), and those who change this
// package (all that follows; begin with "Where to look"; "Words of this package" says what names and terms mean).
//
// # For those who write handlers
//
//   - Call is one run of a tool: Progress, SetStatus (of a task), Log, Do, TaskID. Generated methods ask the user through it and return an Answer;
//     Named distinguishes several askings of one question.
//   - Call also says who calls: Principal, Client (name, version, capabilities), Revision, Session, Meta (trace context, for example) and, over
//     HTTP, Header. The handler's context has the values of the request's context.
//   - Asking fails with ErrAsked (return it: the handler runs again with the answer), ErrUnsupported, ErrQuestionTimeout, *AnswerError,
//     *QuestionError, task.ErrWithdrawn (the context of the asking ended before the call's), or the cause of the context.
//   - An error that a handler returns becomes a tool error, a *ToolError one with data and blocks, an *rpc.Error a JSON-RPC error. Call.Content,
//     Call.Summary and Call.ResultMeta add to a result.
//   - A handler that changes its goroutine, for example by runtime.LockOSThread, undoes that: the goroutine may serve the next request.
//   - The cause of a context that ended is an *inflight.Cause: its Source tells a cancellation by the client from a timeout, a
//     disconnect and a shutdown.
//   - WithPrincipal puts the caller's identity into a context, and PrincipalFrom reads it. WithQuotaKey distinguishes callers without an identity.
//   - Options of the generated New begin with With: WithLogger, WithLimits, WithTaskLimits, WithRates, WithGrace, WithSealKeys and others.
//   - WithMiddleware wraps every request and notification, in both directions, WithToolMiddleware every run of a tool, with its
//     typed input and output.
//   - WithObserver gets events with their times and causes; WithCallLog writes a line for each request, package metrics counts them for
//     Prometheus.
//   - Package servertest calls a server's tools in tests, and answers what they ask.
//   - Server.Run serves one connection, Server.Shutdown ends what runs, Server.SetToolEnabled hides and shows a tool.
//   - Server.AddTool, AddPrompt, AddResource and AddResourceTemplate add while the server runs. WithToolFilter shows tools to some callers only,
//     WithPromptFilter and WithResourceFilter prompts and resources.
//   - Server.Sessions are the connected clients: outside of calls, they can be sent log messages and asked questions.
//
// Other types are for generated code and for transports. Ids such as CAN02 are those of rules; testdata/traceability/ledger.tsv lists the rules.
//
// # Where to look
//
//	which revision and method a message is of         route.go
//	whether a request is served, and how              admit.go; refusal.go: the error if not, and where its params are wrong
//	limits on requests in flight                      register.go; account.go: whose they are
//	how inputs and answers are read                   decode.go; numbers, strings, objects: package check
//	memory for unread answers                         reservation.go: one answer; budget.go: all; grant.go, shortage.go: waiters; sizecache.go: expected sizes
//	how many outputs are made at once                 encoders.go
//	callers that do not read, outputs of unknown size reputation.go; probe.go
//	how a request is served and answered              workers.go: the goroutines; serve.go, toolcall.go, methodcall.go; request.go: its memory, large
//	                                                  buffers, and the goroutines of a peer
//	one run of a handler, from input to output        run.go
//	whether a message may still be written, and how   write.go (subject.writeNow); of a task: tasklife.go, too
//	the journal of a call that runs again             journal.go, taskjournal.go, step.go, steprun.go; seal.go: sealed for the client, sealfile.go: a key that is kept
//	whether a question can be asked, where it goes    question.go → elicit.go (a request) or inputrequired.go (a result that asks)
//	which client gets a task's question               deliver.go, claim.go
//	where a task's question becomes an answer         taskanswer.go: by tasks/update, and by a request to the client
//	what older revisions get, and batches             adapt.go, batch.go; batches.go: which requests are in one
//	how a task begins, runs and is read               taskmethod.go, taskrun.go; tooloftask.go: which tool it runs; status.go: its changes
//	what subscriptions send                           listen.go, watch.go, change.go; follower.go: who is notified; newest.go: their queue
//
//	what New makes of generated revisions             compile.go
//	New and its limits                                server.go, options.go; rates.go: how often a caller may ask
//	receiving and sending messages                    transport.go, conn.go, exchange.go (of stateless revisions);
//	                                                  endsignals.go: when Run ends
//	clients and their sessions                        session.go, peer.go; resume.go: a session that another process goes on with; ping.go: whether a
//	                                                  client is still there
//	what each side declares                           initialize.go, list.go, capability.go, ability.go, meta.go
//	the client's notifications and answers            notify.go
//	when an answer to a task's question is recorded   recording.go
//	middleware                                        middleware.go, pass.go; messageresult.go, ownresult.go: what it reads and answers
//	events for observers and the log of calls         observer.go
//	handlers behind decoders and encoders             tool.go, bind.go, method.go; codes.go: what their errors become
//	what a handler gets                               call.go, progress.go, log.go, withhold.go; caller.go: who calls
//	what a handler adds to its result or error        added.go, block.go, toolerror.go; metakey.go: which keys of _meta it may set
//	data that is opened when it is sent               opener.go, placeholder.go; spool.go: files for it; fileroom.go: the files' space; longanswer.go:
//	                                                  answers from files
//	how many files may be open                        budget.go; descriptors_unix.go, descriptors_other.go: how many the process may have
//	requests, forms and pages that a handler writes   clientrequest.go, form.go, pages.go; contradiction.go: those that no client could answer
//	custom notifications                              custom.go: of the server; notice.go: of clients
//	how many runs of a tool there are                 toolslots.go
//	clients outside of calls                          clientsession.go
//	what clients list and name                        registry.go, entry.go, addentry.go, addargument.go, addtool.go, definition.go, misplaced.go,
//	                                                  schematarget.go; filter.go: who is shown what
//	what registries hold                              prompt.go, resource.go, tree.go, completion.go
//	the server's own log                              logqueue.go
//
// # Words of this package
//
//	question          a request to the client: an elicitation, a sampling request, a request for roots, or a custom one; custom means defined by the manifest,
//	                  not by the protocol
//	answer            a response, with a result or an error: the server's to a request, or the client's to a question
//	stateless         of a revision without a handshake: each message names the revision and the client's capabilities itself
//	session           what the client and the server agreed on by a handshake; a stateless revision has none
//	peer              one space of request ids: a connection, a session, or an exchange, which is one message of a stateless revision
//	sessionless       a peer for one message that a client without a session sent in a revision with a handshake
//	outlet            the side of a transport to which messages to a peer are written. Optional methods are interfaces, in transport.go if no file is named:
//	                  Queued has queues, Attended knows whether somebody reads, Costly says what memory a request takes, Streamed writes an answer in
//	                  pieces (placeholder.go), Copier copies an answer from files (longanswer.go), Refuser hears before Write that a frame is an error, Holder holds
//	                  the response back until it has the answer (withhold.go), Unread says what is not read, Ender ends the connection or session,
//	                  Tracked ends its exchange when the client is gone
//	entry             a request in the tracker (package inflight). To retire it is to get the sole right to answer it
//	gate              a peer's lock, which writers hold shared from the permission to write until they have written
//	subject           what a message is about: a request, a task or a question. Once its context or taskLife has ended, nothing is written about it
//	outgoing          the message itself
//	live, writing     counts of the goroutines of a peer, and of those that only write
//	kind, fault       how a tool call ended, in whatever form a revision says it; a handler's error with its kind (codes.go)
//	unkept            of a question: the transport could not keep it until its client reads it
//	parked            of a task: it has no run until one of its questions is answered (package task)
//	run               one execution of a handler; a call whose client is asked may have several, which its journal connects
//	journal           what a call has asked and done under names, so that its next run gets the same outcomes. To record is to write there
//	local, earlier    of a task's run: what it has of the request that created the task, in another process only what is stored; what inline runs of the call recorded before
//	step, instance    a name in the journal: of Do, or of one of several questions that Named tells apart
//	asking            a question on its way to a client; its contexts are those of what it belongs to (parent), of whoever waits for the answer (waiter), and
//	                  of the claim on it (claimed). The Method of a task.Question is the journal's name (askMethod and the like), the protocol's only for custom
//	                  requests
//	delivery          what puts the questions of a task to one client, over one stream; a claim says which delivery has a question
//	Carrier           the stream that has a question
//	stream            of a task: an open request for its result that somebody reads
//	offer             a question of a task that is sent on the session's own stream, while no stream in the above sense is open
//	ability           a set of capabilities of a client, as bits: p.can and r.can are those that it declared
//	listen            an open subscription (subscriptions/listen); a follower is a listen or a session that is notified of changes
//	principal, owner  the identity of a caller (WithPrincipal), "" if it is anonymous; whose a task is: a principal's, or what stands for one (peer.go)
//	account           what one Requestor (a caller: those with one identity, or with one quota key, or all others together) uses of the limits that all share.
//	                  A budget is such a limit with queues of waiters, a share is what a caller, or one of its connections or sessions, holds of it (its
//	                  fair share: what it may hold)
//	reservation       what one answer takes of the budgets: Server.unread (answers), coming (outputs that are larger than expected, or
//	                  of tasks), opened (answers whose openers are read) and files (temporary files with that data). Server.bytes is the limit of
//	                  requests in flight
//	engine, store     of package task: what runs tasks, and what keeps them
//	spool             an answer in a temporary file
//	page              of a list, or of the web, which a question sends the user to
//	probe             a run of a handler while the size of its outputs is unknown
//	slot              a permission: to run a tool with MaxConcurrent, to probe, or to encode an output
//	trailer           a message that follows the answer to a request
//	tree              a file system whose files are resources
//	reputation        whether a caller read its last large answers. A caller that did not is given up on: its answers, or its connection, end
//	placeholder       where the data of an Opener belongs in an answer
//	registry entry    a tool, prompt or resource that is listed
//	inline            of a call: answered with its result, not with a task; of an Outlet (Inline): told when the read loop itself answers
//	body              the part of a request's memory that its handler does not need: decoded params, and the answer; meanwhile others may use it (lendBody)
//	retry             the request that repeats a call with the answers to its questions (requestState, inputResponses)
//	frame             the bytes of one message, or of a batch
//	reading           the state of reading the params of one message, while its frame is parsed
//	withheld          messages of a handler that are sent with its answer at the earliest
//	hint              the revision that a transport's header names
//
// # Definition
//
// Generated code hands a Definition to New: tools (a Handler made by Bind, a CancelPolicy, a TaskPolicy each) and one
// wire.Revision per protocol revision. The revision supplies every name and every message form; the runtime knows only operations
// (wire.Op, REV04). A method of prompts, resources or completions has an operation of its own (OpGetPrompt) if the registries serve it, OpMethod if a
// handler of the application does, and OpEmptyList if a handler serves only another method of the capability, so that there is a list.
// What the runtime writes itself is the same in every revision that has it: the text block of a result (appendText), the name and version of the server
// (serverInfo), and the data of three errors: runtime/wire/names_test.go lists each such name with its reason.
//
// # Life of a request
//
//	read loop    frame → rpc.Parse → route → admit → register                                route, admit, register
//	goroutine    decode, validate → handler → encode, check → answer in a pooled buffer      serve, toolcall, methodcall, run
//	write        gate → entry.Retire → Outlet: the one place that writes,                    write
//	             with the exceptions named at writeNow
//
// What has to happen in order happens in the read loop, which for a session is the transport that calls Session.Receive: the handshake,
// registration (CAN09), cancellation, and delivery of the client's answers. Refusals are written there, too, so a peer that floods and does not
// read slows only itself down.
//
// Middleware is around the goroutine's part: before it, the server admits the request, and after it, the server decides whether the answer may be
// written. The request's memory is not reused before middleware has returned and no call of next runs any more: so calls of next are counted (passes).
// Around the handshake and the client's notifications middleware runs while the read loop waits; a cancellation takes effect before. What the server sends
// passes middleware before the gate. While middleware runs, none of the server's locks is held but those that order one call's progress and the
// states of tasks.
//
// # Transports
//
// A peer is one space of request ids: a connection (Serve), a session that a transport feeds (Session), or one message of a stateless
// revision (Exchange, on the caller's goroutine). Frames go to an Outlet together with the id of the request that they belong
// to: a connection ignores the id, HTTP has a stream for each. Route tells a transport the revision and method of a message; Exchange serves what
// Route read.
//
// # Revisions side by side
//
// Each message is routed by itself (REV02): a message that names a stateless revision in its _meta, or whose transport's header does, is
// served in that revision, however its JSON is spelt (LET14). So is a request before the handshake whose method that revision has, but for initialize and ping,
// and a notification that only such a revision has. Any other belongs to the session. Both are registered in
// one tracker, so ids are one space on one connection. Engine, handlers and Call are the same for both.
//
// Handlers and manifests use the newest revision's types; what an older one lacks is omitted for its clients, or replaced by what they
// know (adapt.go): a link among the contents of a result becomes its title and address as text, a sound a text that says what is
// missing, titled choices of a form a list of values and one of titles. A question that the revision has no way to put is ErrUnsupported. A tool that
// only runs as a task is not listed where there are no tasks, and the error of a call says why.
//
// In 2025-03-26 an array of messages is a batch (batch.go): each is served, tracked and cancelled by itself, and the answers are written
// together when the last one is there. Until then they count for the client, and their requests can be cancelled. An answer that does not fit
// into the client's account is written before the others, in an array of its own; so are answers in files while other answers wait for
// space. A batch has at most a thousand messages, and no handshake among them.
//
// # What answers cost
//
// An answer of more than 4 KiB counts in a budget until it is written. How large it gets is known when it is encoded: until then
// it counts as many bytes as the last answers that its caller got from the tool (answerSizes), and if those were small, none. For handlers of large
// outputs these bytes are reserved before the handler starts. Few outputs are encoded at once (Server.encoding), so few turn out to be large at once.
// An output that is larger than expected waits in a budget of its own (Server.coming), and keeps its caller from starting more. While an output
// waits only for bytes that other callers hold, nothing large begins, except for callers of a better reputation (grant.go). Outlets keep no large
// frame: Write, or AwaitRead if they are Queued, returns when the peer has read enough of it.
//
// A large answer has two buffers: that of the output, which is checked where it was encoded, and that of the answer, which a connection of
// lines writes from there (rpc.Lending). The decoder that has checked the output knows where the escapes of its long strings are, so the text between
// them is copied as it is (check.Decoder.MarkEscapes). The buffers are used again; up to 8 MB of them wait for the next answer and count nowhere
// (request.go).
//
// A caller has a fair share of the budget (budget.go): up to a third of what is left then. So a caller that does not read holds up its
// own calls, and k of these callers, even one after the other, leave (3/4)^k of the budget; a caller that holds nothing is answered as long as its
// answer fits. Each connection, session, or caller without either has a queue of its own. What is given back goes first to callers that have
// read a large answer lately, then to unknown ones, the oldest queue and the newest that has had nothing by turns, and last to those
// that were given up on within a minute (reputation.go): so a caller that reads waits for few of those that do not, however many they are. While
// a caller waits, the answers of peers that have read nothing for five seconds are given up (shortage.go), after one second if waiters need much more
// than there is: those of the same caller if its own share is used up, else the largest.
//
// How large the results of a handler are is unknown until it has answered once: few runs of such handlers begin at once (probe.go), and
// twice as many with each second, until one answers. The contents of resources count as soon as they are read. A handler whose results were small and then all
// become large at once may still have as many of them in memory as it has runs: MaxConcurrent bounds those of a tool.
//
// Connections, sessions and exchanges of one principal share an account (account.go). However many a principal opens, something of the limits of
// requests in flight, their bytes and the unread answers is left for others. Callers with neither an identity nor a quota key have one
// account together. What a message decodes to counts as bytes in flight, too, while it is decoded and until the request is over, or the run of the
// task (decode.go). Beyond half of that limit inputs are decoded one at a time, so that inputs which are decoded together are not all
// refused for what each of them took in part.
//
// # What is kept of a peer, and what bounds it
//
// Whatever is kept of a message after it was handled is cut, refused or counted in the account of its principal (TSK28):
//
//	message, params, HTTP header    counted from 4 KiB on until the request is released; of a notification nothing stays
//	what a transport holds for it   counted with it (Costly); buffers of earlier messages are released when many are in flight
//	URIs of subscriptions           64 KiB each, 10,000 a session; counted with what their entries take until unsubscribed or gone
//	URIs and task ids of a listen   as those, counted with its request
//	reason of a cancellation        cut to 4 KiB
//	answers to questions            counted from 4 KiB on from arrival until they are read, then for the life of the call; a task's in
//	                                the quota of its store
//	ids, progress tokens            4 KiB each; counted with the message; those of tasks: as many as there may be tasks
//	clientInfo                      name, title and version, cut to 128 bytes each
//	versions, levels                not kept; capabilities become a set of bits, 64 declarations of up to 4 KiB are remembered
//	requestState, inputResponses    counted with the message, and once more for what is read of them; a requestState has at most 1 MiB
//	arguments, Meta, journals       in the quota of the store, arguments once more while the task runs; status messages are cut to 4 KiB; of
//	                                a task's HTTP header at most 4 KiB or nothing
//	notifications for handlers      counted as requests, with what they decode to, until they are taken
//	answers with data of Openers    in files, which count until the client has taken them, gives them up or is given up; what they have in
//	                                memory counts as other answers do until a file has it
//	names in errors                 cut to 128 bytes
//	log records                     4,096, or 4 MiB, of those that wait
//
// TestTSK28WhatIsKeptOfAPeerIsCountedOrBounded compares reachable memory with the accounts.
//
// # Silence after cancellation
//
// Retiring an entry decides who may write, but between that permission and the write a cancellation can be read. If the client then gets
// an answer to something it sent later, it knows that the server read its cancellation, and a result after that breaks CAN02. So
// writers hold peer.gate shared from the permission until they have written, and the first one to write after a cancellation was read first takes the
// gate exclusively once (peer.drainAfterCancel), whatever it writes: even the result of a call may prove that an answer was read which came after the
// cancellation.
// The read loop itself never waits to cancel. Where a peer has a stream per request, writers wait until the client
// has read before they take the gate and after they release it (Queued): a response that nobody reads holds up no other one. What is queued of a
// request, or kept for a client that comes back, is dropped when that request is cancelled. A connection has one stream: a client that
// does not read it holds up its own answers.
//
// One function does that for every kind of message about a request, a task or a question: subject.write (CAN29, write.go), with the
// exceptions named at writeNow. A task has a gate of its own (tasklife.go), because its messages travel on more than one connection: its taskLife
// ends before an answer or a notification says that the task is over (Server.silenceIfOver). On one connection the state of a task never goes back:
// peer.taskState is held from reading the state until it is written (TSK07). A request that timed out stays in flight until the client is told, so
// that a cancellation which is read before still prevents the answer.
//
// From the creation of a task on, only tasks/cancel counts (CAN11): the request that created it is protected, and its answer tells the task's id even if
// a cancellation of the request was read before. If that answer is replaced, by middleware or an error, the protection ends (inflight.Entry.Unprotect):
// a cancellation that was recorded meanwhile counts, and nothing is written. The task goes on in either case.
//
// # Ends
//
// End of input is not a dead peer: what was read is answered within the grace period, while questions to the client and subscriptions
// end at once, because nothing can answer or end them any more (CAN26). What is in flight after that, or when the output is closed too,
// is cancelled with cause disconnect; the end of Serve's context and Shutdown cancel with cause shutdown.
// A client that does not answer a ping is a disconnect, too (WithPing).
// Calls that can not be cancelled run on after a disconnect, and may finish within the grace period of a shutdown (CAN14). Requests that a disconnect
// or shutdown ends are not answered: the connection is about to close.
//
// When the server ends a subscription, it says so twice, because two pages of the protocol require it: with the subscription's result, which says that the
// end is in order, and then with notifications/cancelled as the last message of its stream (LET21); over HTTP the response ends with the result, and
// so does the stream. In this order a client that knows one of the two understands it: one that takes the cancellation for the end would drop a result
// after it, and one that waits for the result ignores a cancellation of what is over.
//
// A timeout is answered at once, as a result with isError, or for a prompt or resource an error, because the peer still waits and the handler may
// ignore its context. Tasks belong to the engine and go on without their connection, if their owner can come back:
// an identity, the peer on standard input and output, anonymous callers of stateless revisions. Tasks of a connection or
// session without an identity are discarded with it (TSK28).
//
// # Tasks and questions
//
// A question reaches the client in four ways. Inline with a session it is a request on the call's stream.
//
// Inline without a session it ends the call: the answer lists all questions that the handler's goroutines have open (those that join within
// WithGather), and carries the journal of the call, sealed; the client calls again with answers, and the handler runs again. So an inline handler must
// do nothing that must not repeat before its last question, except within Call.Do. After a wrong answer of the user the question is asked again, with a
// message that says what was wrong, because an error would end what the user has half done. A wrong answer of a program, to a request
// without a message, refuses the retry with what was wrong: asked again, the program would answer the same. The requestState that it sent stays good
// for a right answer; steps that the refused run did are not in it.
//
// A task's question is in the engine's journal. With a session it travels on an open request for the result, else on the session that created the task;
// one stream that somebody reads, of a client that can be asked, has it at a time, so that no client is asked twice: whoever was asked first keeps the
// question while that stream is read, and a later request for the result, on another connection, gets only questions that no such stream has. Without a
// session it is part of the task. Its answer is validated as it arrives: by the handler's own check if the run is in this process, else against the form that was sent; what a
// form can not say is the handler's error then. A JSON-RPC error from the client, and a response to a request that breaks the question's schema, are
// answers, too: they are recorded, so that a later run sees the same. Nothing of a task is on the wire before the answer with its id: the engine starts
// the task after that was written.
//
// A task may be read through any revision. What differs is the view: the status of a result with isError, where its questions are, and the form of its
// requests to the client and of its result (readerparams.go).
//
// Bad arguments of a call that asks for a task are -32602 with every violation in its data. VAL02's result with
// isError is for inline calls, and for revisions where the server decides that there is a task: a client that asked for
// one can not read a result.
//
// # Rejected
//
//   - A timeout and questions in the definition of what is added while the server runs: lists would show members that the protocol does not have, and
//     the handler can use context.WithTimeout and Ask. Tasks are the exception, since execution.taskSupport is the protocol's: AddTool reads it.
//   - More workers that wait for requests than one of each connection (workers.go): that one saves a tenth of a call, a second one measured nothing. Sessions
//     over HTTP have none: they are many, mostly idle, and a stack that has been grown takes 8 KiB.
//   - A lock around permission and write instead of the gate: it keeps the connection from committing writes in groups.
//   - A progress rate that is only a least interval between notifications: of a short call with three steps it would send two. The burst is within
//     the rate (progress.go).
//   - Status notifications in the goroutine that changed the task: a client that does not read would hold up the
//     engine's timers. A queue keeps the newest state of each task instead (newest.go).
//   - A requestState that is a name of what the server keeps: any replica must take the retry, and nobody says when to forget what is kept.
//   - Ending a run at its first question: handlers that ask twice at once would take two rounds. Waiting until all
//     goroutines of a handler are blocked would be exact, but a handler's goroutines can not be counted.
//   - Panicking out of a handler that asked: deferred functions run, but so does recover in code that is not ours. The
//     handler gets an error, and a context that has ended.
//   - A goroutine for each exchange: the transport has one already, which waits.
//   - Sending changes from the goroutine that made them: a client that does not read would hold them up. Subscriptions keep the newest
//     of each kind and send themselves.
//   - Answering a timed-out call of a tool with a JSON-RPC error: there is no code for it, and the model that chose the tool
//     should see it. A prompt or resource has no result that could say it: there it is an internal error, whose text does.
package server
