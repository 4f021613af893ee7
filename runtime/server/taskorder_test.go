package server

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// lagging is a store that lets a task end between reading it and returning what was read.
type lagging struct {
	*task.Memory
	end  atomic.Pointer[func()] // ends the task; nil: does nothing
	told atomic.Bool            // the client was notified of the end
}

// Get implements task.Store. It returns when somebody has told of the end, or waits to tell it.
func (s *lagging) Get(ctx context.Context, owner, id string) (task.Task, error) {
	t, err := s.Memory.Get(ctx, owner, id)
	if end := s.end.Swap(nil); end != nil {
		(*end)()
		for now := t; !now.Status.Terminal(); runtime.Gosched() {
			now, _, _ = s.Watch(ctx, owner, id)
		}
		for !s.told.Load() && !blocked("(*request).lockTaskState") {
			runtime.Gosched()
		}
	}
	return t, err
}

// watchedConn notes when the client is notified of a task's end.
type watchedConn struct {
	rpc.Conn
	told *atomic.Bool
}

func (c *watchedConn) WriteFrame(frame []byte) error {
	err := c.Conn.WriteFrame(frame)
	if bytes.Contains(frame, []byte(`"method":"notifications/tasks`)) && bytes.Contains(frame, []byte(`"completed"`)) {
		c.told.Store(true)
	}
	return err
}

// What a client reads of a task on one connection never goes back: a request that was under way when the task ended says so, or
// comes before the notification.
func TestTSK07WhatAClientReadsOfATaskNeverGoesBack(t *testing.T) {
	store := &lagging{Memory: task.NewMemory()}
	for name, revision := range map[string]struct {
		open func(c *client, id string)
		get  func(id string) string
	}{
		"session": {
			open: func(*client, string) {},
			get: func(id string) string {
				return `{"jsonrpc":"2.0","id":5,"method":"tasks/get","params":` + taskID(id) + `}`
			},
		},
		"subscription": {
			open: func(c *client, id string) {
				c.send(frame(4, "subscriptions/listen", withTasks, fmt.Sprintf(`"notifications":{"taskIds":[%q]}`, id)))
				c.until("notifications/subscriptions/acknowledged")
			},
			get: func(id string) string { return frame(5, "tasks/get", withTasks, byID(id)) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 20 {
				h := newHold()
				f := dual(t, Definition{Tools: jobs(h)}, WithTaskStore(store))
				near, far := rpc.Pipe()
				store.told.Store(false)
				c := f.connect(as(t, "me"), near, &watchedConn{far, &store.told})
				c.initialize(`{"elicitation":{}}`)
				t.Cleanup(func() { _ = f.srv.Shutdown(context.Background()) })
				id := c.start("1", "hang", "")
				revision.open(c, id)
				end := h.free
				store.end.Store(&end)
				c.send(revision.get(id))
				m, before := c.answer("5")
				for _, told := range before {
					if told.str("params", "status") == "completed" && m.str("result", "status") == "working" {
						t.Fatalf("after %s\ncame %s", told.raw, m.raw)
					}
				}
			}
		})
	}
}
