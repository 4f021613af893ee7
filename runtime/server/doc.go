// Package server serves generated tools: requests, cancellation, progress, tasks and questions, over any rpc.Conn.
//
// Generated code hands a Definition to New: tools (a Handler made by Bind, a CancelPolicy, a TaskPolicy each) and one
// Wire per protocol revision. The wire supplies every name and every message form; the runtime knows operations
// (REV04). What it says itself is the text block of a result (appendText) and the name and version of the server
// (serverInfo), which are the same in every revision.
//
// # Way of a request
//
//	read loop    ReadFrame → rpc.Parse → method of the peer's wire → params → tool and policy → tracker   conn, dispatch
//	goroutine    decode, validate → handler → encode, check → answer in a pooled buffer                   toolcall, bind
//	respond      gate → entry.Retire → WriteFrame: the one place that writes answers                      dispatch
//
// Whatever has to happen in order happens in the read loop: the handshake, registration before dispatch (CAN09),
// cancellation, and handing answers to who asked. Refusals are written there too, so a peer that floods and does not
// read slows only itself down.
//
// # Where to look
//
//	wire, value, compile   what generated code supplies, and what New makes of it
//	tool, bind, toolcall   a tool, its handler behind decoder and encoder, and what its errors become
//	server, options        New and the limits; principal
//	peer, conn, request    one connection, its loop and its end; one request in flight and its memory
//	dispatch, notify       what a frame leads to; what ends without an answer
//	initialize, list, capability
//	call, notes, progress  what a handler holds
//	question, elicit       asking the user; the request that does it
//	taskmethod, taskrun    requests about tasks; running one
//	deliver, status        questions of a task on their way to a client; status notifications
//
// # Silence after cancellation
//
// Retiring an entry decides who may write, but between the permission and the write a cancellation can be read. A
// peer that then sees an answer to something it sent later has proof that the server read its cancellation, and a
// result after that breaks CAN02. So writers hold peer.gate shared over permission and write, and whoever writes for a
// request that was read after a cancellation takes it once before (peer.settle). The read loop itself never waits.
//
// # Ends
//
// End of input cancels with cause disconnect; the end of Serve's context and Shutdown cancel with cause shutdown.
// Calls that can not be cancelled may finish within the grace period. Requests that end so are not answered: the
// connection is about to close. A timeout is answered at once, as a result with isError, because the peer still waits
// and the handler may not listen. Tasks belong to the engine and go on without their connection.
//
// # Tasks and questions
//
// An inline question is a request on the call's connection. A task's question is journaled by the engine, and
// delivered by whoever has a client at hand: open requests for the result first, else the session that created the
// task. The engine's claims keep them from asking twice. A JSON-RPC error from the client, and an answer that breaks
// the schema, are answers too: they are journaled, so that a later run sees the same. Nothing of a task is on the
// wire before the answer that tells its id: the engine starts it after that was written.
//
// Bad arguments of a call that asks for a task are -32602 with every violation in its message. VAL02's result with
// isError is for inline calls: a client that waits for a task can not read one.
//
// # Rejected
//
//   - Workers that are used again: measured, no difference to a goroutine per request once its stack is grown at the
//     start (growStack), and idle goroutines would be there for leak checks to trip over.
//   - A lock around permission and write instead of the gate: it keeps the connection from committing writes in groups.
//   - A progress rate by distance alone: short calls that report three steps would send two. The burst is within the
//     rate's window.
//   - Status notifications in the goroutine that changed the task: a client that does not read would hold up the
//     engine's timers. The outbox keeps the newest state per task instead.
//   - Answering a timed-out call with a JSON-RPC error: there is no code for it, and the model that chose the tool
//     should see it.
package server
