package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// The answer that says that the time of a question has passed is sent again also if the request comes again while it is being sent.
func TestCAN30ALateAnswerWhoseRequestComesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s, d := dialDeaf(t, func(attempt int) (*http.Response, error) {
			if attempt == 1 {
				<-release
			}
			if attempt < 4 {
				return status(http.StatusServiceUnavailable), nil
			}
			return nil, nil
		}, client.WithQuestionTimeout(10*time.Second), client.WithTimeout(10*time.Minute, 0), elicits(func(ctx context.Context, _ *client.Question) (*client.Answer, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}))
		done := start(t.Context(), s, "x")
		sleep(t.Context(), 11*time.Second)
		d.say(`{"jsonrpc":"2.0","id":"q",` + goodForm[1:])
		synctest.Wait()
		close(release)
		if r := <-done; r.err != nil || d.answers.Load() != 4 {
			t.Errorf("%v after %d answers", r.err, d.answers.Load())
		}
	})
}

// Nor is a request that comes again refused while the host is told that its time has passed.
func TestCAN30ARequestThatComesAgainWhileTheHostIsToldOfItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s, p := meet(t, "2025-11-25", client.WithQuestionTimeout(time.Minute), client.WithTimeout(time.Hour, 0), client.WithHandlers(client.Handlers{
			Elicit: func(ctx context.Context, _ *client.Question) (*client.Answer, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			},
			QuestionGone: func(*client.Question, error) { <-release },
		}))
		done := start(t.Context(), s, "x")
		m := p.expect("tools/call")
		p.send(`{"jsonrpc":"2.0","id":"q",%s`, goodForm[1:])
		sleep(t.Context(), 2*time.Minute)
		p.send(`{"jsonrpc":"2.0","id":"q",%s`, goodForm[1:])
		synctest.Wait()
		close(release)
		has(t, p.next().raw, `"id":"q"`, `"action":"cancel"`)
		p.answer(m, `{"content":[]}`)
		<-done
	})
}

// A question stays open until its own answer arrives, also if that has arrived under another id.
func TestCAN30EachOfTwoSameQuestionsIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		arrived, failed := map[string]int{}, false
		s, d := dialDeafTo(t, func(_ int, m message) (*http.Response, error) {
			if string(m.ID) == `"q"` && !failed {
				failed = true
				return status(http.StatusServiceUnavailable), nil
			}
			arrived[string(m.ID)]++
			return status(http.StatusAccepted), nil
		}, elicits(accept))
		x := resume(t, s)
		for d.answers.Load() == 0 {
			sleep(t.Context(), 10*time.Millisecond)
		}
		d.say(onceForm("new"))
		sleep(t.Context(), time.Hour)
		if arrived[`"q"`] != 1 || arrived[`"new"`] != 1 {
			t.Errorf("%v", arrived)
		}
		x.Detach()
	})
}

// What a guest leaves open is left open once, however often the request comes.
func TestTSK27AQuestionThatIsLeftOpenAndComesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		open := make(chan opened, 10)
		s, p := meetOffering(t, "2025-11-25", taskOffers, client.WithQuestionTimeout(time.Minute), client.WithHandlers(client.Handlers{
			Elicit: func(ctx context.Context, q *client.Question) (*client.Answer, error) {
				if asked.Add(1); q.Message == "late" {
					<-ctx.Done()
				}
				return nil, context.DeadlineExceeded
			},
			LeftOpen: func(q *client.Question, why error) { open <- opened{q, why} },
		}))
		x := p.follow(t, s)
		for n, question := range []string{form(7, "same"), form(8, "late"), strings.Replace(form(9, "bad"), `{"type":"object","properties":{}}`, "7", 1)} {
			for range 3 {
				p.send("%s", question)
				sleep(t.Context(), 2*time.Minute)
			}
			if synctest.Wait(); len(open) != n+1 || asked.Load() != int32(min(n+1, 2)) {
				t.Errorf("%s: asked %d times, left open %d times", question, asked.Load(), len(open))
			}
		}
		x.Detach()
	})
}

// VAL07: an answer takes the memory of one question, under however many ids that came.
func TestVAL07TheSameQuestionUnderManyIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		s, d := dialDeaf(t, func(int) (*http.Response, error) { return status(http.StatusAccepted), nil }, elicits(func(ctx context.Context, q *client.Question) (*client.Answer, error) {
			if q.Message != "sure?" {
				<-hold
			}
			return accept(ctx, q)
		}))
		x := resume(t, s)
		for d.answers.Load() == 0 {
			sleep(t.Context(), 10*time.Millisecond)
		}
		for i := range 90 {
			d.say(strings.Replace(onceForm(fmt.Sprint("n", i)), "sure?", strings.Repeat("?", 900<<10), 1))
		}
		synctest.Wait()
		close(hold)
		synctest.Wait()
		if number, bytes := client.KeptAnswers(s); number != 2 || bytes > 1<<20 || d.answers.Load() != 91 {
			t.Errorf("%d answers, %d are kept, of %d bytes", d.answers.Load(), number, bytes)
		}
		x.Detach()
	})
}

// VAL07: answers that do not arrive count as open questions until their sending ends, under whichever id.
func TestVAL07OnlySoManyAnswersAreBeingSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var user tallied
		s, d := dialDeaf(t, func(int) (*http.Response, error) { return status(http.StatusServiceUnavailable), nil }, user.handlers())
		x := resume(t, s)
		for i := range 150 {
			text := fmt.Sprint("text", i)
			for _, id := range []string{"a", "b"} {
				for d.answers.Load() == 0 {
					sleep(t.Context(), 10*time.Millisecond)
				}
				d.say(strings.Replace(onceForm(id+text), "sure?", text, 1))
				synctest.Wait()
			}
			d.say(withdrawn("a" + text))
			synctest.Wait()
		}
		if n := user.asked.Load(); n > 100 {
			t.Errorf("asked %d times while no answer has arrived", n)
		}
		x.Detach()
	})
}

// A model is asked as often as a task asks.
func TestCAN30TheSameSampleTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		release := make(chan struct{})
		s, p := meetOffering(t, "2025-11-25", taskOffers, client.WithHandlers(client.Handlers{Sample: func(context.Context, *client.Question) (json.RawMessage, error) {
			asked.Add(1)
			<-release
			return json.RawMessage(`{"role":"assistant","model":"m","content":{"type":"text","text":"t"}}`), nil
		}}))
		x := p.follow(t, s)
		for _, id := range []string{"a", "b"} {
			p.send("%s", strings.Replace(ofTask(wantsSample), `"id":"q"`, `"id":"`+id+`"`, 1))
		}
		synctest.Wait()
		close(release)
		if _, _ = p.next(), p.next(); asked.Load() != 2 {
			t.Errorf("asked %d times", asked.Load())
		}
		x.Detach()
	})
}

// Over a pipe no stream is lost: what a task asks after it has withdrawn a question is another one.
func TestCAN30OverAPipeNoAnswerIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		big := strings.Repeat("x", 900<<10)
		s, p := meetOffering(t, "2025-11-25", taskOffers, elicits(func(context.Context, *client.Question) (*client.Answer, error) {
			asked.Add(1)
			return &client.Answer{Action: client.Accepted, Content: map[string]string{"why": big}}, nil
		}))
		question := func(id int) string {
			return strings.Replace(form(id, "Delete the file?"), `"properties":{}`, `"properties":{"why":{"type":"string"}}`, 1)
		}
		x := p.follow(t, s)
		for range 8 { // they fill what the server does not read
			go func() { _, _ = s.CallTool(t.Context(), "y", map[string]any{"a": big}) }()
		}
		synctest.Wait()
		p.send("%s", question(7))
		synctest.Wait()
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
		synctest.Wait()
		p.send("%s", question(8))
		if synctest.Wait(); asked.Load() != 2 {
			t.Errorf("asked %d times", asked.Load())
		}
		x.Detach()
		_ = s.Abort()
	})
}
