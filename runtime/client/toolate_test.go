package client_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// tooLate are ways in which a question of 2026-07-28 ends before its answer comes.
var tooLate = map[string]func(t *testing.T, s *client.Session, p *peer, asked <-chan string){
	"the task is over": func(t *testing.T, s *client.Session, p *peer, asked <-chan string) {
		resume(t, s)
		p.answer(p.expect("tasks/get"), asks("2026-07-28", ""))
		<-asked
		p.answer(p.expect("tasks/get"), taskIs("complete", "completed", `,"result":{"content":[]}`))
	},
	"nobody follows the task": func(t *testing.T, s *client.Session, p *peer, asked <-chan string) {
		x := resume(t, s)
		p.answer(p.expect("tasks/get"), asks("2026-07-28", ""))
		<-asked
		x.Detach()
	},
	"its time has passed": func(t *testing.T, s *client.Session, p *peer, asked <-chan string) {
		resume(t, s)
		p.answer(p.expect("tasks/get"), asks("2026-07-28", `,"pollIntervalMs":3600000`))
		<-asked
		sleep(t.Context(), 20*time.Minute)
	},
	"the call is given up": func(t *testing.T, s *client.Session, p *peer, asked <-chan string) {
		ctx, cancel := context.WithCancel(t.Context())
		done := start(ctx, s, "x")
		p.answer(p.expect("tools/call"), `{"resultType":"input_required","inputRequests":{"k":`+goodForm+`}}`)
		<-asked
		cancel()
		<-done
	},
}

// Whoever answers too late learns that, once.
func TestCAN31WhoeverAnswersTooLateLearnsThat(t *testing.T) {
	for why, ends := range tooLate {
		synctest.Test(t, func(t *testing.T) {
			u := newUser()
			s, p := meetOffering(t, "2026-07-28", taskOffers, u.handlers(true))
			ends(t, s, p, u.asked)
			synctest.Wait()
			if len(u.answered) > 0 || len(u.gone) != 1 {
				t.Errorf("%s: %d receipts before there is an answer, %d gone", why, len(u.answered), len(u.gone))
			}
			u.answers <- struct{}{}
			synctest.Wait()
			if len(u.answered) != 1 || (<-u.answered).err == nil {
				t.Errorf("%s: %d receipts", why, len(u.answered))
			}
		})
	}
}
