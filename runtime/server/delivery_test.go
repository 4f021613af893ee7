package server

import (
	"context"
	"testing"
	"testing/synctest"
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

// A request for the result keeps no question from the session that created the task if its own client can not be asked.
func TestTSK19AWaiterThatCanNotBeAskedKeepsNoQuestion(t *testing.T) {
	for name, handshake := range waitersThatCanNotBeAsked {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, []Tool{asker(confirmQuestion())})
				session, waiter := f.dialTasks("me"), f.dial(WithPrincipal(t.Context(), "me"))
				handshake(waiter)
				id := session.start("1", "ask", "")
				waiter.sendf(`{"jsonrpc":"2.0","id":1,"method":"tasks/result","params":%s}`, taskID(id))
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
				f := newFixture(t, []Tool{asker(confirmQuestion())})
				session, waiter := f.dialTasks("me"), f.dial(WithPrincipal(t.Context(), "me"))
				handshake(waiter)
				id := session.start("1", "ask", "")
				waiter.sendf(`{"jsonrpc":"2.0","id":1,"method":"tasks/result","params":%s}`, taskID(id))
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
