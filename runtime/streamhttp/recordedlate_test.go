package streamhttp

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// countingStore takes long to record answers, and counts those that it has recorded.
type countingStore struct {
	task.Store
	takes    time.Duration
	recorded atomic.Int32
}

func (s *countingStore) Answer(ctx context.Context, owner, id string, answers []task.Answer) (task.Task, error) {
	time.Sleep(s.takes) // of the bubble's clock
	t, err := s.Store.Answer(ctx, owner, id, answers)
	if err == nil {
		s.recorded.Add(1)
	}
	return t, err
}

// A client does not wait as long for a receipt as a slow store may take: it sends the answer again until it is recorded, and the server records it once (DUR01).
func TestDUR01CAN30AnAnswerThatTakesLongToRecordIsRecordedOnce(t *testing.T) {
	for _, takes := range []time.Duration{time.Second, 25 * time.Second, 100 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			store := &countingStore{Store: task.NewMemory(), takes: takes}
			f := newAskingBubble(t, server.WithTaskStore(store))
			asked, heard := 0, make(chan error, 10)
			endpoint := client.HTTP(f.ts.URL)
			endpoint.Client = f.ts.Client()
			s, err := client.Connect(t.Context(), endpoint, client.WithRevision("2025-11-25"), client.WithHandlers(client.Handlers{
				Elicit: func(context.Context, *client.Question) (*client.Answer, error) {
					asked++
					return &client.Answer{Action: client.Accepted, Content: map[string]string{"text": "yes"}}, nil
				},
				Answered: func(_ *client.Question, err error) { heard <- err },
			}))
			if err != nil {
				t.Fatal(err)
			}
			id := f.create(f.initialize()) // in another session of the same caller
			x, err := s.Resume(t.Context(), client.Ref{Version: 1, Endpoint: s.Endpoint(), Revision: s.Revision(), Tool: "ask", ID: id})
			if err != nil {
				t.Fatal(err)
			}
			r, err := x.Result(t.Context())
			synctest.Wait()
			if err != nil || r.IsError || asked != 1 || store.recorded.Load() != 1 {
				t.Errorf("%v: %s, %v; asked %d times, recorded %d times", takes, r.Raw, err, asked, store.recorded.Load())
			}
			if err := <-heard; err != nil && takes < time.Minute || len(heard) > 0 { // later the end of the task may come between two attempts
				t.Errorf("%v: %v, and %d more", takes, err, len(heard))
			}
			_ = s.Close()
		})
	}
}
