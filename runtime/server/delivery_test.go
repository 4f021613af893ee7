package server

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// waitersThatCanNotBeAsked are clients of whom a question of asker can not be asked.
var waitersThatCanNotBeAsked = map[string]func(c *client){
	"no elicitation":  func(c *client) { c.initialize(`{}`) },
	"pages only":      func(c *client) { c.initialize(`{"elicitation":{"url":{}}}`) },
	"not initialized": func(c *client) { c.request(`"init"`, "initialize", handshakeOf(`{"elicitation":{}}`)) },
}

func handshakeOf(capabilities string) string {
	return `{"protocolVersion":"2025-11-25","capabilities":` + capabilities + `,"clientInfo":{"name":"c","version":"1"}}`
}

// waitedFor is a task of a session, which asks, and a waiter that has requested its result after that handshake.
func waitedFor(t *testing.T, handshake func(*client)) (f *fixture, session, waiter *client, id string) {
	f = newFixture(t, []Tool{asker(confirmQuestion())})
	session, waiter = f.dialTasks("me"), f.dial(WithPrincipal(t.Context(), "me"))
	handshake(waiter)
	id = session.start("1", "ask", "")
	waiter.sendf(`{"jsonrpc":"2.0","id":1,"method":"tasks/result","params":%s}`, taskID(id))
	return f, session, waiter, id
}

// A request for the result keeps no question from the session that created the task if its own client can not be asked.
func TestTSK19AWaiterThatCanNotBeAskedKeepsNoQuestion(t *testing.T) {
	for name, handshake := range waitersThatCanNotBeAsked {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, session, waiter, _ := waitedFor(t, handshake)
				synctest.Wait()
				session.reply(session.nextRequest(), accepted)
				if m, before := waiter.answer("1"); m.str("result", "structuredContent", "text") != "accept true true" || len(before) > 0 {
					t.Error(m.raw, before)
				}
				session.close()
				waiter.close()
				_ = f.srv.Shutdown(context.Background())
			})
		})
	}
}

// The waiter is gone or not: the first client that can be asked, and has the result requested, gets the question.
func TestTSK19AQuestionGoesToTheFirstWaiterThatCanBeAsked(t *testing.T) {
	for name, handshake := range waitersThatCanNotBeAsked {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, session, waiter, id := waitedFor(t, handshake)
				session.nextRequest()
				session.close()
				synctest.Wait()
				asked := waiter
				if name == "not initialized" { // it can be asked as soon as it is
					waiter.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
				} else {
					asked = f.dialTasks("me")
					asked.sendf(`{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":%s}`, taskID(id))
				}
				asked.reply(asked.nextRequest(), accepted)
				if m, _ := waiter.answer("1"); m.str("result", "structuredContent", "text") != "accept true true" {
					t.Error(m.raw)
				}
				waiter.close()
				asked.close()
				_ = f.srv.Shutdown(context.Background())
			})
		})
	}
}

// The completion of a page goes to the client that was sent there, which asked for the result, and not to the one that created the task.
func TestTSK13LET21ThePageOfATaskIsDoneForTheClientThatWasSentThere(t *testing.T) {
	page := ClientRequest[noInput, noInput]{Op: wire.OpElicit, Codecs: rawCodec(`{"mode":"url","message":"?","url":"https://example.com","elicitationId":"e-1"}`)}
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, []Tool{tool("login", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			_, err := Send(ctx, call, &page, "page", &noInput{})
			return &echoOutput{"done"}, errors.Join(err, call.ElicitationComplete(ctx, "e-1"))
		}), withTask(TaskOptional))})
		session, waiter := f.dial(WithPrincipal(t.Context(), "me")), f.dial(WithPrincipal(t.Context(), "me"))
		for _, c := range []*client{session, waiter} {
			c.initialize(`{"elicitation":{"url":{}}}`)
		}
		id := session.start("1", "login", "")
		waiter.sendf(`{"jsonrpc":"2.0","id":1,"method":"tasks/result","params":%s}`, taskID(id))
		waiter.reply(waiter.nextRequest(), `{"action":"accept"}`)
		want := `{"_meta":{"io.modelcontextprotocol/related-task":` + taskID(id) + `},"elicitationId":"e-1"}`
		if m := waiter.next(); m.Method != "notifications/elicitation/complete" || string(m.Params) != want {
			t.Error(m.raw)
		}
		if m, _ := waiter.answer("1"); m.str("result", "structuredContent", "text") != "done" {
			t.Error(m.raw)
		}
		for _, m := range session.fence() {
			if m.Method == "notifications/elicitation/complete" {
				t.Errorf("told, and was not sent there: %s", m.raw)
			}
		}
		session.close()
		waiter.close()
		_ = f.srv.Shutdown(context.Background())
	})
}
