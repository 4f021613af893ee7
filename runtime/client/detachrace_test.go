package client_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// asksInTask is a server whose tool ask is a task that asks three times.
func asksInTask(t *testing.T) *server.Server {
	return newServer(t, []server.Tool{asTask(tool("ask", func(ctx context.Context, call *server.Call, in *input) (*output, error) {
		for _, name := range []string{"a", "b", "c"} {
			if _, err := server.Ask(ctx, call, &confirm, "", server.Named(name)); err != nil {
				return nil, err
			}
		}
		return &output{"done"}, nil
	}), server.TaskRequired)})
}

// slowly answers after a moment, unless the question is taken back first, and counts the answers.
func slowly(given *atomic.Int32) func(ctx context.Context, q *client.Question) (*client.Answer, error) {
	return func(ctx context.Context, _ *client.Question) (*client.Answer, error) {
		select {
		case <-time.After(rand.N(30 * time.Millisecond)):
			given.Add(1)
			return &client.Answer{Action: client.Declined}, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// However often a task is left and followed again, also by several at once, it asks whoever follows it, and ends.
func TestTSK27ATaskThatIsLeftAgainAndAgain(t *testing.T) {
	follow := func(t *testing.T, connect func(opts ...client.Option) *client.Session) {
		var given, receipts atomic.Int32
		s := connect(client.WithHandlers(client.Handlers{Elicit: slowly(&given), Answered: func(_ *client.Question, err error) {
			if !errors.Is(err, context.Canceled) { // that of a handler that was told to end, and perhaps answered all the same
				receipts.Add(1)
			}
		}}))
		x, err := s.Start(t.Context(), "ask", nil)
		if err != nil {
			t.Fatal(err)
		}
		ref, _ := x.Ref()
		x.Detach()
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				for range 15 {
					y, err := s.Resume(t.Context(), ref)
					if err != nil {
						t.Error(err)
						return
					}
					time.Sleep(rand.N(20 * time.Millisecond))
					y.Detach()
				}
			})
		}
		all.Wait()
		y, err := s.Resume(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if r, err := y.Result(ctx); err != nil || r.IsError {
			t.Errorf("%v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if receipts.Load() < 3 || receipts.Load() > given.Load() {
			t.Errorf("%d answers, %d receipts", given.Load(), receipts.Load())
		}
	}
	for _, revision := range withTasks {
		for range 20 {
			synctest.Test(t, func(t *testing.T) {
				srv := asksInTask(t)
				follow(t, func(opts ...client.Option) *client.Session {
					return dial(t, srv, append(opts, client.WithRevision(revision))...)
				})
			})
		}
		srv := asksInTask(t)
		me := &client.Endpoint{URL: ofSomebody(t, srv), Header: http.Header{"Authorization": {"Bearer me"}}}
		follow(t, func(opts ...client.Option) *client.Session {
			s, err := client.Connect(t.Context(), me, append(opts, client.WithRevision(revision))...)
			if err != nil {
				t.Fatal(err)
			}
			return s
		})
	}
}

// A server that asks each question once gets one answer to each.
func TestTSK27EachQuestionOfATaskThatIsLeftHasOneAnswer(t *testing.T) {
	const questions = 30
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			var given atomic.Int32
			s, p := meetOffering(t, "2025-11-25", taskOffers, client.WithHandlers(client.Handlers{Elicit: slowly(&given)}))
			answers := make(chan string, 2*questions)
			go p.each(func(m message) {
				switch m.Method {
				case "tasks/get":
					p.answer(m, taskWorks)
				case "":
					answers <- string(m.ID)
				}
			})
			resume(t, s).Detach()
			var all sync.WaitGroup
			all.Go(func() {
				for i := range questions {
					p.send("%s", form(i, "once"))
					time.Sleep(rand.N(5 * time.Millisecond))
				}
			})
			for range 3 {
				all.Go(func() {
					for range 15 {
						y := resume(t, s)
						time.Sleep(rand.N(20 * time.Millisecond))
						y.Detach()
					}
				})
			}
			all.Wait()
			resume(t, s)
			sleep(t.Context(), time.Minute)
			seen := map[string]bool{}
			for len(answers) > 0 {
				id := <-answers
				if seen[id] {
					t.Errorf("%s is answered twice", id)
				}
				seen[id] = true
			}
			if len(seen) != questions || client.InFlight(s) != 0 {
				t.Errorf("%d answered, %d in flight", len(seen), client.InFlight(s))
			}
		})
	}
}
