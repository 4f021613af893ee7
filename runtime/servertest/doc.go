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
//	see what clients see            c.Tools() and Golden; c.Logs(), c.Notices(method), c.AwaitNotice(method)
//	any other request               Request[Out](c, "prompts/get", params), c.BeginRequest for subscriptions
//	every revision                  for _, v := range Revisions(srv), a server each: Start(t, srv, WithRevision(v))
//	what a revision has             c.HasTasks(), c.HasElicitation()
//	an old client                   WithRevision("2025-11-25"), WithCapabilities(nil), WithoutTasks()
//	several clients, other callers  c.Join(WithPrincipal("bob"))
//	the client leaves; shutdown     c.Close(); srv.Shutdown(ctx), after which calls are ErrClosed
//
// # One test for every revision
//
// An answer to a question is given by the question's name, and is sent in the way that the revision has: as the answer to a request, with
// the call that comes again, on the stream of a task, or with tasks/update. A call whose answer is a task is followed to its result: tools
// that are always tasks, and in 2026-07-28 those that may be. AsTask and Inline choose.
//
// # What fails a test by itself
//
// Whatever the server may not say: an answer to a cancelled call after the server has read the cancellation (p.Cancel returns then), two
// answers to one request, progress that has no request, goes back, or comes after the end, a question that the client did not declare or
// that no Answer was given for, a method that the revision does not have, and anything that is no message. The end of the test is the
// end of the client: until then all is read, and after a failure the conversation is printed.
//
// # Time
//
// In a bubble of testing/synctest a handler that sleeps for hours takes none, and what can not go on is a deadlock that synctest reports, or
// fails the test after a day of the bubble's.
// Make the server in the bubble. synctest.Wait() after Begin returns when the handler has begun and waits for something. Without a
// bubble waiting ends after WithPatience.
//
// At the end of the test the server is shut down. A handler that does not return then fails the test.
//
// # Where the wire is
//
// The package lives on the runtime alone. Methods, capabilities and rules of a revision come from the server's own (wire.Revision). What
// that does not say, the client's half of the wire, is in one file, dialect.go; package client brings it for all later, and dialect.go goes
// then. There are two dialects, with and without a handshake; a revision of one's own that keeps their names needs no change.
// In a session the name of a question is not on the wire: the server tells it through the context of the connection
// (runtime/internal/questionname).
//
// For a test of the wire itself, of bytes that no client would send, write frames to rpc.Pipe.
package servertest
