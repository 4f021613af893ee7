package client_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// Of two questions that are the same and that came while nobody followed their task, none waits any more when both have the answer to one.
func TestTSK27TheSameQuestionTwiceWhileNobodyFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUser()
		s, p := meetOffering(t, "2025-11-25", taskOffers, u.handlers(false))
		x := p.follow(t, s)
		x.Detach()
		p.send("%s", form(7, "same"))
		p.send("%s", form(8, "same"))
		synctest.Wait()
		if n := client.Waiting(s); n != 2 {
			t.Errorf("%d wait", n)
		}
		p.follow(t, s)
		u.answers <- struct{}{}
		ids := []string{string(p.next().ID), string(p.next().ID)}
		synctest.Wait()
		if slices.Sort(ids); !slices.Equal(ids, []string{"7", "8"}) || client.Waiting(s)+client.InFlight(s) != 0 || len(u.asked) != 1 {
			t.Errorf("answered %v, asked %d times; %d wait, %d are in flight", ids, len(u.asked), client.Waiting(s), client.InFlight(s))
		}
	})
}

// The time of a call passes although the answer to its question can not be sent, because the server does not read.
func TestCAN28TheTimePassesWhileAnAnswerWaitsForTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		big := strings.Repeat("x", 900<<10)
		release := make(chan struct{})
		s, p := meetOffering(t, "2025-11-25", offers, client.WithTimeout(time.Second, 0), client.WithHandlers(client.Handlers{
			Sample: func(context.Context, *client.Question) (json.RawMessage, error) {
				<-release
				return json.RawMessage(`{"role":"assistant","model":"m","content":{"type":"text","text":"` + big + big + `"}}`), nil
			},
		}))
		done := start(t.Context(), s, "x")
		p.expect("tools/call")
		p.send(`{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`)
		synctest.Wait()
		for range 8 { // they fill what the server does not read
			go func() { _, _ = s.CallTool(t.Context(), "y", map[string]any{"a": big}) }()
		}
		synctest.Wait()
		close(release)
		select {
		case r := <-done:
			if r.err == nil {
				t.Error("it has a result")
			}
		case <-time.After(time.Hour):
			t.Error("it still waits")
		}
	})
}

// A question whose answer is being sent again, to it and to the same question under another id, is not asked again when the server withdraws one of them.
func TestCAN30TheSameQuestionIsTakenBackWhileItsAnswerIsSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		s, d := dialDeaf(t, func(int) (*http.Response, error) { return status(http.StatusServiceUnavailable), nil },
			elicits(func(ctx context.Context, q *client.Question) (*client.Answer, error) {
				asked.Add(1)
				return accept(ctx, q)
			}))
		x := resume(t, s)
		defer x.Detach()
		for d.answers.Load() == 0 {
			sleep(t.Context(), 10*time.Millisecond)
		}
		synctest.Wait()
		d.say(onceForm("new"))
		synctest.Wait()
		d.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}`)
		sleep(t.Context(), 500*time.Millisecond)
		if n := asked.Load(); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}

// A host is told of the ends of a question in order, however long it takes for one of them.
func TestCAN31TheEndsOfAQuestionAreToldInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var telling, overlaps atomic.Int32
		s, p := meetOffering(t, "2025-11-25", taskOffers, client.WithHandlers(client.Handlers{
			Elicit: func(ctx context.Context, _ *client.Question) (*client.Answer, error) {
				<-ctx.Done()
				return nil, context.Cause(ctx)
			},
			QuestionGone: func(*client.Question, error) {
				if telling.Add(1) > 1 {
					overlaps.Add(1)
				}
				sleep(t.Context(), time.Second)
				telling.Add(-1)
			},
		}))
		x := p.follow(t, s)
		p.send("%s", form(7, "open"))
		synctest.Wait()
		x.Detach()
		p.follow(t, s)
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
		sleep(t.Context(), time.Minute)
		if n := overlaps.Load(); n != 0 {
			t.Errorf("%d are told before the one before them has been", n)
		}
	})
}
