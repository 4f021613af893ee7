package streamhttp

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// orphanage counts how often somebody looks for tasks that nobody runs.
type orphanage struct {
	task.Store
	looks atomic.Int32
}

func (*orphanage) Durable() bool { return true }

func (o *orphanage) Orphans(ctx context.Context, limit int) ([]string, error) {
	o.looks.Add(1)
	return o.Store.Orphans(ctx, limit)
}

// DUR01, DUR04: a server takes up tasks of processes that are gone when it has its Handler, without waiting for a request, and not before.
func TestDUR04ATaskNeedsNoRequestToGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &orphanage{Store: task.NewMemory()}
		tools := (&fixture{t: t}).tools()
		tools[0].Task.Support = server.TaskOptional
		srv := newServer(t, tools, server.WithTaskStore(store))
		time.Sleep(time.Hour)
		before := store.looks.Load()
		h := Handler(srv)
		time.Sleep(time.Millisecond) // of the bubble's clock
		synctest.Wait()
		if after := store.looks.Load(); before != 0 || after != 1 {
			t.Errorf("%d looks before there is a Handler, %d when there is one, want 0 and 1", before, after)
		}
		_ = h.Shutdown(t.Context())
		_ = srv.Shutdown(t.Context())
	})
}
