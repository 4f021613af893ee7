package server

import (
	"bytes"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// reluctant is an Outlet that does not take the first questions.
type reluctant struct {
	*inbox
	refuse atomic.Int32 // how many questions more it does not take
	tries  atomic.Int32
}

func (o *reluctant) Write(about rpc.ID, last bool, frame []byte) error {
	if bytes.Contains(frame, []byte(`"`+elicit+`"`)) {
		o.tries.Add(1)
		if o.refuse.Add(-1) >= 0 {
			return errors.New("between two connections")
		}
	}
	return o.inbox.Write(about, last, frame)
}

// answered is the answer to the request.
func (in *inbox) answered(t *testing.T, id string) message {
	t.Helper()
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, m := range in.frames {
		if m.Method == "" && string(m.ID) == id {
			return m
		}
	}
	t.Fatalf("request %s is not answered", id)
	return message{}
}

// A question of a task that the transport did not take is written again, a bounded number of times, on the stream of a result and on the session's.
func TestTSK19AQuestionThatWasNotWrittenIsWrittenAgain(t *testing.T) {
	for _, row := range []struct {
		refuse  int32
		result  bool // a request for the result is open
		arrives bool
	}{{1, true, true}, {3, true, true}, {3, false, true}, {1 << 20, true, false}, {1 << 20, false, false}} {
		t.Run(fmt.Sprintf("%d %v", row.refuse, row.result), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := dual(t, Definition{Tools: []Tool{asker(confirmQuestion())}})
				out := &reluctant{inbox: newInbox(t)}
				out.refuse.Store(row.refuse)
				ss := f.srv.NewSession(t.Context(), out)
				receive := func(frame string) { ss.Receive(t.Context(), []byte(frame)) }
				receive(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}`)
				receive(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
				receive(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{},"task":{}}}`)
				synctest.Wait()
				if row.result {
					created := out.answered(t, "1")
					receive(`{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":` + taskID(created.str("result", "task", "taskId")) + `}`)
				}
				time.Sleep(10 * time.Second)
				synctest.Wait()
				asked := 0
				for _, m := range out.frames {
					if m.Method == elicit {
						asked++
						receive(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + accepted + `}`)
					}
				}
				if tries := out.tries.Load(); (asked == 1) != row.arrives || asked > 1 || tries > 10 {
					t.Errorf("asked %d times, in %d tries", asked, tries)
				}
				synctest.Wait()
				if asked == 1 && row.result {
					if m := out.answered(t, "2"); m.Error != nil {
						t.Error(m.raw)
					}
				}
				_ = ss.Close(&inflight.Cause{Source: inflight.SourceDisconnect})
				_ = f.srv.Shutdown(t.Context())
			})
		})
	}
}
