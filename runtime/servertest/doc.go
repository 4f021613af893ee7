// Package servertest tests servers: it serves one in memory to clients that call its tools by Go types, cancel, answer questions and
// follow tasks, in any revision that the server serves. It is for the tests of those who write handlers.
//
//	func TestQuote(t *testing.T) {
//		srv, err := reports.New(&handlers{})
//		if err != nil {
//			t.Fatal(err)
//		}
//		c := servertest.Start(t, srv)
//		out, err := servertest.Call[reports.GetQuoteOutput](c, "get_quote", &reports.GetQuoteInput{Symbol: "ACME"})
//		…
//	}
//
// The project that mcpkiln init writes has such tests for each of its tools.
//
// # What to call
//
//	call a tool                     Call[Out](c, tool, in), or c.Call(tool, in) for the result with its blocks
//	what it failed with             *ToolError (the model reads it), *rpc.Error (JSON-RPC), by errors.AsType
//	do something meanwhile          p := c.Begin(tool, in), then p.Result(), p.Cancel(reason), p.Progress()
//	answer a question               c.Answer(name, Accept(value)), or Decline(), Dismiss(), Ignore(); c.AnswerFunc to look at it, or wait
//	follow a task                   job := c.Task(tool, in), then job.State(), job.Await(status), job.Result(), job.Cancel()
//	see what clients see            c.Tools() and GoldenTools; c.Logs(), c.Notices(method), c.AwaitNotice(method)
//	any other request               Request[Out](c, "prompts/get", params), c.BeginRequest for subscriptions
//	every revision                  for _, v := range Revisions(srv), a server each: Start(t, srv, WithRevision(v))
//	what a revision has             c.HasTasks(), c.HasElicitation()
//	an old client                   WithRevision("2025-11-25"), WithCapabilities(nil), WithoutTasks()
//	several clients, other callers  c.Join(WithPrincipal("bob")) of the same server
//	the client leaves; shutdown     c.Close(); srv.Shutdown(ctx), after which calls are ErrClosed
//
// # One test for every revision
//
// A test gives the answer to a question by the question's name, and the client sends it in the form that the revision has: as the answer to a request,
// with the call, which is sent again, on the stream of a task, or with tasks/update. A call that is answered with a task is followed to the task's
// result: calls of tools that are always tasks, and in 2026-07-28 of those that may be. AsTask and Inline choose.
//
// # What fails a test by itself
//
// Whatever the server must not send: an answer to a cancelled call after the server has read the cancellation (p.Cancel returns then),
// two answers to one request, progress for no request, progress that does not grow, or comes after the end of its request or task, a question whose
// capability the client did not declare or for which no Answer was given, a method that the revision does not have, and anything that is no
// message. At the end of the test the client reads what the server has written until then, and closes. After a failure it prints the last messages.
//
// # Time
//
// In a bubble of testing/synctest a handler that sleeps for hours takes no time, and a wait that can not end is a deadlock that synctest
// reports, or fails the test after a day of the bubble's time.
//
// At the end of the test the server is shut down. A handler that does not return then fails the test.
//
// # Where the wire is
//
// The package needs only the runtime. Methods, capabilities and rules of a revision come from the server's wire.Revision. The rest of
// what a client writes and reads is in one file, dialect.go. There are two dialects, with and without a handshake; a revision of your own
// that keeps their names needs no change. In a session the name of a question is not on the wire: the server passes it through the context
// of the connection (runtime/internal/questionname).
//
// For a test of the wire itself, of bytes that no client would send, write frames to rpc.Pipe.
package servertest
