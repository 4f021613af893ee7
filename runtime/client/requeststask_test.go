package client_test

import (
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// A call that has become a task is listed with the progress of the task, and as waiting while a question of it is open (CAN28, PRO03).
func TestPRO03RequestsShowTheProgressAndTheQuestionsOfATask(t *testing.T) {
	for _, withProgress := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			u := newUser()
			s, p := meetOffering(t, "2025-11-25", taskOffers, u.handlers(false))
			p.offerTask(s)
			var opts []client.CallOption
			if withProgress {
				opts = append(opts, client.OnProgress(func(client.Progress) {}))
			}
			done := start(t.Context(), s, "x", opts...)
			call := p.expect("tools/call")
			p.answer(call, `{"task":`+taskWorks+`}`)
			synctest.Wait()
			listed := func() client.Request {
				synctest.Wait()
				all := s.Requests()
				if len(all) != 1 || all[0].Task != "t1" {
					t.Fatalf("%+v", all)
				}
				return all[0]
			}
			if r := listed(); r.Waiting || r.Progress != (client.Progress{}) {
				t.Errorf("at first: %+v", r)
			}
			progress := func(n string) {
				p.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%s,"total":10,"message":"p"}}`, call.ID, n)
			}
			progress("3")
			progress("2") // which is dropped
			if r := listed(); r.Waiting || r.Progress != (client.Progress{Progress: 3, Total: 10, Message: "p"}) {
				t.Errorf("with progress: %+v", r)
			}
			p.send("%s", form(1, "open"))
			if r := listed(); !r.Waiting || r.Progress.Progress != 3 {
				t.Errorf("with an open question: %+v", r)
			}
			go p.each(func(message) {})
			_ = s.Abort()
			<-done
		})
	}
}
