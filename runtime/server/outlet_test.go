package server

import (
	"bytes"
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// stuckOutlet holds the frames that contain a text until it is freed.
type stuckOutlet struct {
	*inbox
	text []byte
	held chan struct{}
	free chan struct{}
}

func newStuck(t *testing.T, text string) *stuckOutlet {
	return &stuckOutlet{newInbox(t), []byte(text), make(chan struct{}, 1), make(chan struct{})}
}

func (o *stuckOutlet) Write(about rpc.ID, last bool, frame []byte) error {
	if bytes.Contains(frame, o.text) {
		o.held <- struct{}{}
		<-o.free
	}
	return o.inbox.Write(about, last, frame)
}

// begin serves a frame; done is closed when the exchange is over.
func (f *fixture) begin(ctx context.Context, text string, out Outlet) (done chan struct{}) {
	f.t.Helper()
	j, err := f.srv.Route([]byte(text), "")
	if err != nil {
		f.t.Fatal(err)
	}
	done = make(chan struct{})
	go func() {
		f.srv.Exchange(ctx, &j, out)
		close(done)
	}()
	return done
}

// blocked reports whether a goroutine that is in the function waits for something.
func blocked(function string) bool {
	stacks := make([]byte, 1<<20)
	for g := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
		if state, calls, _ := strings.Cut(g, "\n"); strings.Contains(calls, function) && !strings.Contains(state, "[run") {
			return true
		}
	}
	return false
}

// An exchange is over when nothing is being written any more, whoever writes.
func TestCAN03TheExchangeWaitsForItsWriters(t *testing.T) {
	for text, run := range map[string]func(ctx context.Context, call *Call){
		"input_required":         func(ctx context.Context, call *Call) { _, _ = Ask(ctx, call, confirmQuestion(), "") },
		"notifications/progress": func(ctx context.Context, call *Call) { call.Progress(ctx, 1, 0, "") },
		"notifications/message":  func(ctx context.Context, call *Call) { call.LogMessage(ctx, LevelError, "", "x") },
	} {
		out, returns := newStuck(t, text), make(chan struct{})
		var left sync.WaitGroup
		f := dual(t, Definition{Tools: []Tool{tool("leaves", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			left.Go(func() { run(ctx, call) })
			<-out.held // it is writing
			close(returns)
			return &echoOutput{}, nil
		}))}}, WithGather(0))
		done := f.begin(t.Context(), frameWith(1, "tools/call", forms, callParams("leaves", `{}`), `"progressToken":1,"io.modelcontextprotocol/logLevel":"debug"`), out)
		<-returns
		for over := false; !over && !blocked("(*Server).Exchange"); runtime.Gosched() {
			select {
			case <-done:
				over = true
				t.Errorf("%s: over while it is being written", text)
			default:
			}
		}
		close(out.free)
		<-done
		left.Wait()
	}
}

// A handler that returns while a question of it is open has asked all the same.
func TestEXT17AHandlerThatDoesNotWaitForItsQuestion(t *testing.T) {
	var left sync.WaitGroup
	f := dual(t, Definition{Tools: []Tool{tool("hasty", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		left.Go(func() { _, _ = Ask(ctx, call, confirmQuestion(), "") })
		for open := false; !open; runtime.Gosched() {
			t := call.stateless()
			open = t != nil && t.opened() > 0
		}
		return &echoOutput{"done"}, nil
	}))}}, WithGather(time.Hour))
	if m, keys, _ := f.try(t.Context(), forms, "hasty", `{}`, ""); len(keys) != 1 {
		t.Error(m.raw)
	}
	left.Wait()
}

func TestCAN02NothingIsToldAfterTheEndOfASubscription(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}})
	out := newStuck(t, "acknowledged")
	ctx, cancel := context.WithCancel(t.Context())
	done := f.begin(ctx, frame(1, "subscriptions/listen", nothing, `"notifications":{"toolsListChanged":true}`), out)
	<-out.held
	f.srv.SetToolEnabled("echo", false)
	cancel()
	for len(f.srv.InFlight()) > 0 {
		runtime.Gosched()
	}
	close(out.free)
	<-done
	if len(out.frames) != 1 {
		t.Errorf("%v", out.frames)
	}
}

// Letters that stand for bits which belong to no byte are part of the state too.
func TestEXT17EveryLetterOfAStateCounts(t *testing.T) {
	for _, name := range []string{"q", "qq", "qqq"} {
		q := confirmQuestion()
		q.Name = name
		f := dual(t, Definition{Tools: []Tool{asker(q)}}, WithGather(0))
		_, _, state := f.try(t.Context(), forms, "ask", `{}`, "")
		for _, last := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" {
			if changed := state[:len(state)-1] + string(last); changed != state {
				m, _, _ := f.try(t.Context(), forms, "ask", `{}`, answering(changed, `{}`))
				m.wantError(t, -32602, "requestState")
			}
		}
	}
}
