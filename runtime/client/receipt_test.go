package client_test

import (
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// An answer that is under way when its task ends is neither withdrawn nor lost: its receipt says what became of it.
func TestEXT22TheReceiptOfAnAnswerOutlivesItsTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		received := make(chan error, 10)
		s, p := meetOffering(t, "2026-07-28", taskOffers, client.WithHandlers(client.Handlers{Elicit: accept, Answered: func(_ *client.Question, err error) {
			received <- err
		}}))
		x := resume(t, s)
		p.answer(p.expect("tasks/get"), taskIs("complete", "input_required", `,"inputRequests":{"good":`+goodForm+`}`))
		m := p.expect("tasks/update")
		p.answer(p.expect("tasks/get"), taskIs("complete", "completed", `,"result":{"content":[]}`))
		if _, err := x.Result(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(received) > 0 {
			t.Fatalf("there is a receipt already: %v", <-received)
		}
		p.answer(m, `{"resultType":"complete"}`)
		if err := <-received; err != nil {
			t.Error(err)
		}
	})
}
