package servertest

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/testdata/orders/orders"
)

// stuck has a handler that ends when the test says so, whatever its context says.
type stuck struct {
	orders.Handlers
	end chan struct{}
}

func (s stuck) BuildReport(context.Context, *server.Call, *orders.BuildReportInput) (*orders.BuildReportOutput, error) {
	<-s.end
	return &orders.BuildReportOutput{Pages: 1}, nil
}

// TestATaskThatNeverEndsFailsTheTest, though its server is never idle in the bubble: the task's lease is renewed.
func TestATaskThatNeverEndsFailsTheTest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := stuck{end: make(chan struct{})}
		srv, err := orders.New(h)
		if err != nil {
			t.Fatal(err)
		}
		r := &recorder{TB: t}
		c := Start(r, srv, WithRevision("2026-07-28"))
		job, err := c.Task("build_report", map[string]string{"title": "Q3"})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := job.Cancel(); err != nil {
			t.Error(err)
		}
		if _, err := job.Result(); err != ErrPatience || !strings.Contains(r.said(), "nothing came within 24h") {
			t.Errorf("got %v and %q", err, r.said())
		}
		close(h.end)
	})
}
