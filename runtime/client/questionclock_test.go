package client_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// about leaves a moment for a server that waits for further questions before it asks.
func about(took, want time.Duration) bool { return took >= want && took < want+time.Second }

// The clock of a call stands while its question is open (CAN28); the question has a limit of its own, after which the server is answered.
func TestCAN28TheTimeOfAPersonCountsInNoTimeout(t *testing.T) {
	each(t, func(t *testing.T, revision string) {
		if !modern(revision) {
			return
		}
		synctest.Test(t, func(t *testing.T) {
			srv := newServer(t, []server.Tool{tool("ask", ask)})
			slow := func(d time.Duration) func(ctx context.Context, q *client.Question) (*client.Answer, error) {
				return func(ctx context.Context, q *client.Question) (*client.Answer, error) {
					select {
					case <-time.After(d):
						return accept(ctx, q)
					case <-ctx.Done():
						return nil, ctx.Err()
					}
				}
			}
			s := dial(t, srv, client.WithRevision(revision), client.WithTimeout(time.Second, 2*time.Second), elicits(slow(5*time.Minute)))
			began := time.Now()
			if r, err := s.CallTool(t.Context(), "ask", nil); err != nil || !about(time.Since(began), 5*time.Minute) {
				t.Errorf("%v, %v after %v", r, err, time.Since(began))
			}
		})
	})
}

func TestCAN28AQuestionHasALimitOfItsOwn(t *testing.T) {
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		synctest.Test(t, func(t *testing.T) {
			var gone error
			ended := make(chan error, 1)
			s := dial(t, newServer(t, []server.Tool{tool("ask", ask)}), client.WithRevision(revision), client.WithTimeout(time.Second, 0), client.WithQuestionTimeout(time.Minute),
				client.WithHandlers(client.Handlers{
					Elicit: func(ctx context.Context, _ *client.Question) (*client.Answer, error) {
						<-ctx.Done()
						ended <- context.Cause(ctx)
						return accept(ctx, nil)
					},
					QuestionGone: func(_ *client.Question, cause error) { gone = cause },
				}))
			began := time.Now()
			r, err := s.CallTool(t.Context(), "ask", nil)
			var cause *client.Cause
			if cause := <-ended; !errors.Is(cause, context.DeadlineExceeded) {
				t.Errorf("the handler's context ended with %v", cause)
			}
			switch {
			case !about(time.Since(began), time.Minute):
				t.Errorf("%s: after %v", revision, time.Since(began))
			case revision == "2025-11-25" && err != nil:
				t.Error(err)
			case revision == "2025-11-25":
				has(t, string(r.Raw), "cancel false") // the server was told that the user gave no answer
			case !errors.As(err, &cause) || cause.Source != inflight.SourceTimeout:
				t.Errorf("%s: %v", revision, err)
			}
			synctest.Wait()
			if !errors.Is(gone, context.DeadlineExceeded) {
				t.Errorf("%s: gone because of %v", revision, gone)
			}
		})
	}
}
