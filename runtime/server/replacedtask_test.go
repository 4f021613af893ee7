package server

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// A request that became a task is cancelled by tasks/cancel only (CAN11), but one whose answer middleware replaces tells of no task: it is a cancelled
// request as any other, and not answered (CAN02).
func TestCAN02CAN11ACancelledCallIsAnsweredOnlyWithItsTask(t *testing.T) {
	const plain = `{"resultType":"complete","content":[],"structuredContent":{"text":"own"}}`
	for name, answer := range map[string]func(*MessageResult) (*MessageResult, error){
		"the task": func(r *MessageResult) (*MessageResult, error) { return r, nil },
		"an error": func(*MessageResult) (*MessageResult, error) { return nil, errors.New("quota") },
		"a result": func(*MessageResult) (*MessageResult, error) { return ResultOf([]byte(plain)), nil },
		"no JSON":  func(*MessageResult) (*MessageResult, error) { return ResultOf([]byte(`{`)), nil },
		"a panic":  func(*MessageResult) (*MessageResult, error) { panic("defect") },
		"its own task": func(r *MessageResult) (*MessageResult, error) {
			return ResultOf(append([]byte(nil), read(r)...)), nil
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			cancelled := make(chan struct{})
			f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo), withTask(TaskOptional))}}, wrapping("tools/call",
				func(ctx context.Context, next Handle, m *Message) (*MessageResult, error) {
					result, err := next(ctx, m)
					if err != nil {
						return nil, err
					}
					<-cancelled
					return answer(result)
				}))
			c := f.dialTasks("")
			c.sendf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"},"task":{}}}`)
			c.send(frame(2, "tools/call", withTasks, callParams("echo", `{"text":"x"}`)))
			synctest.Wait()
			c.cancel("1")
			c.cancel("2")
			c.fence()
			close(cancelled)
			synctest.Wait()
			answers := 0
			for _, m := range c.fence() {
				if m.Method == "" {
					answers++
				}
			}
			want := 0
			if name == "the task" || name == "its own task" {
				want = 2
			}
			if answers != want {
				t.Errorf("%s: %d answers, want %d", name, answers, want)
			}
		})
	}
}
