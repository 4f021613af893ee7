package client

import (
	"context"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// Ids of a form are withdrawn while its handler returns, or its time passes: one that is not withdrawn gets an answer, the host hears once of each dialog, and
// all clocks go on.
func TestCAN31IDsOfAFormAreWithdrawnWhileItIsAnswered(t *testing.T) {
	for _, limit := range []time.Duration{0, 30 * time.Microsecond} {
		var asked, heard atomic.Int32
		s, f := alone(Handlers{
			Elicit: func(context.Context, *Question) (*Answer, error) {
				asked.Add(1)
				for range rand.N(100) {
					runtime.Gosched()
				}
				return &Answer{Action: Declined}, nil
			},
			Answered: func(*Question, error) { heard.Add(1) },
		})
		s.cfg.questionTimeout = limit
		sent := make(chan string, 10_000)
		s.link = hears{sent: sent}
		f.followed()
		f.startedHere = true
		for i := range int64(1_000) {
			var entries []*inflight.Entry
			for id := range int64(3) {
				q, e := f.asked(t, 3*i+id, nil)
				q.ask(e, nil)
				entries = append(entries, e)
			}
			var all sync.WaitGroup
			for _, e := range entries[:2] {
				all.Go(func() { e.Cancel(&Cause{Source: inflight.SourcePeer}) })
			}
			last := `"id":` + entries[2].ID().String()
			for got := ""; !strings.Contains(got, last); got = <-sent {
			}
			all.Wait()
		}
		if s.work.Wait(); asked.Load() != heard.Load() || f.stopped.openQuestions != 0 || s.activeQuestions != 0 || s.tracker.Len() != 0 {
			t.Errorf("within %v: asked %d times, heard %d times; %d pause the task, %d are active, %d in flight", limit, asked.Load(), heard.Load(), f.stopped.openQuestions, s.activeQuestions, s.tracker.Len())
		}
		s.cancel(ErrClosed)
	}
}
