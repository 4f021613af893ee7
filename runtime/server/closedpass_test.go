package server

import (
	"context"
	"errors"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// Middleware around the question of a task hears why nobody waits for the answer any more, as the handler does, and not only that its context has ended.
func TestCAN13MiddlewareHearsWhyTheQuestionOfATaskIsOver(t *testing.T) {
	var withdraw context.CancelFunc
	q := confirmQuestion()
	ended := make(chan error, 1)
	f := newFixture(t, []Tool{tool("ask", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		asking, cancel := context.WithCancel(ctx)
		withdraw = cancel
		_, err := Ask(asking, call, q, "")
		return nil, err
	}), withTask(TaskRequired))}, WithMiddleware(func(next Handle) Handle {
		return func(ctx context.Context, m *Message) (*MessageResult, error) {
			result, err := next(ctx, m)
			if m.Method == "elicitation/create" {
				ended <- err
			}
			return result, err
		}
	}))
	c := f.dialTasks("")
	for _, row := range []struct {
		name   string
		end    func(id string)
		source inflight.Source
		is     error
	}{
		{"cancelled", func(id string) { c.sendf(`{"jsonrpc":"2.0","id":3,"method":"tasks/cancel","params":%s}`, taskID(id)) }, inflight.SourcePeer, context.Canceled},
		{"withdrawn", func(string) { withdraw() }, inflight.SourceParent, task.ErrWithdrawn},
	} {
		id := c.start("1", "ask", "")
		c.sendf(`{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":%s}`, taskID(id))
		c.nextRequest()
		row.end(id)
		err := <-ended
		var cause *inflight.Cause
		if !errors.As(err, &cause) || cause.Source != row.source || !errors.Is(err, row.is) || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", row.name, err)
		}
		c.answer("2")
	}
}
