package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

func TestCAN01NotificationEndsTheContext(t *testing.T) {
	h := newHold()
	c := newFixture(t, []Tool{tool("hang", h.handler())}).dial(t.Context())
	c.initialize(`{}`)
	c.call("1", "hang", `{}`)
	<-h.began
	c.cancel("1")
	if cause := <-h.ended; cause.Source != inflight.SourcePeer {
		t.Error(cause)
	}
}

func TestCAN02NothingIsWrittenForACancelledRequest(t *testing.T) {
	for name, ending := range map[string]func(ctx context.Context, call *Call) (*echoOutput, error){
		"a result":   func(context.Context, *Call) (*echoOutput, error) { return &echoOutput{Text: "late"}, nil },
		"an error":   func(context.Context, *Call) (*echoOutput, error) { return nil, errors.New("late") },
		"its cause":  func(ctx context.Context, _ *Call) (*echoOutput, error) { return nil, context.Cause(ctx) },
		"a panic":    func(context.Context, *Call) (*echoOutput, error) { panic("late") },
		"bad output": func(context.Context, *Call) (*echoOutput, error) { return nil, nil },
		"progress":   func(ctx context.Context, call *Call) (*echoOutput, error) { return nil, late(call) },
		"a question": func(ctx context.Context, call *Call) (*echoOutput, error) { return nil, ask(call) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newFixture(t, []Tool{tool("late", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
					<-ctx.Done()
					return ending(ctx, call)
				}))}).dial(t.Context())
				c.initialize(`{"elicitation":{}}`)
				c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"late","_meta":{"progressToken":"p"}}}`)
				synctest.Wait()
				c.cancel("1")
				synctest.Wait() // until nothing moves any more
				for len(c.frames) > 0 {
					t.Errorf("written: %s", c.next().raw)
				}
				c.close()
			})
		})
	}
}

func late(call *Call) error {
	call.Progress(context.Background(), 1, 0, "late")
	return nil
}

func ask(call *Call) error {
	_, err := Ask(context.Background(), call, confirmQuestion(), "late")
	return err
}

// slowConn holds the frames that contain a text until it is freed: their writers have permission, and the connection has
// not accepted them yet.
type slowConn struct {
	rpc.Conn
	text []byte
	held chan struct{} // a frame is held
	free chan struct{}
}

func (c *slowConn) WriteFrame(frame []byte) error {
	if bytes.Contains(frame, c.text) {
		c.held <- struct{}{}
		<-c.free
	}
	return c.Conn.WriteFrame(frame)
}

// A peer that sees the answer to what it sent after the cancellation knows that the cancellation was read.
func TestCAN02NothingFollowsTheProofThatTheCancellationWasRead(t *testing.T) {
	for text, proof := range map[string]string{
		`"result":{"content"`:      `{"jsonrpc":"2.0","id":2,"method":"ping"}`,
		`"notifications/progress"`: `{"jsonrpc":"2.0","id":2,"method":"ping"}`,
		`"structuredContent"`:      `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
	} {
		f := newFixture(t, []Tool{tool("work", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			call.Progress(ctx, 1, 0, "")
			return &echoOutput{}, nil
		}))})
		near, far := rpc.Pipe()
		slow := &slowConn{Conn: far, text: []byte(text), held: make(chan struct{}, 1), free: make(chan struct{})}
		c := f.connect(t.Context(), near, slow)
		c.initialize(`{}`)
		c.send(withToken)
		<-slow.held
		c.cancel("1")
		c.send(proof)
		for !blocked("(*peer).drainAfterCancel") && len(c.frames) == 0 {
			runtime.Gosched() // the proof has to wait
		}
		close(slow.free)
		var order []string
		for !slices.Contains(order, "2") {
			order = append(order, string(c.next().ID))
		}
		late := c.fence()
		for f.srv.onlyPeer().live.n.Load() > 1 { // until the call is gone
			late = append(late, c.fence()...)
		}
		if len(late) != 0 {
			t.Errorf("%s: after the proof came %s", text, late[0].raw)
		}
		c.close()
	}
}

func TestCAN04BadCancellationsAreIgnored(t *testing.T) {
	h := newHold()
	c := newFixture(t, []Tool{tool("hang", h.handler())}).dial(t.Context())
	c.initialize(`{}`)
	c.call("1", "hang", `{}`)
	<-h.began
	for _, params := range []string{
		`{"requestId":77}`, `{"requestId":"nobody"}`, `{}`, `{"requestId":null}`, `{"requestId":true}`, `{"requestId":{}}`,
		`{"requestId":[1]}`, `{"requestId":1.5}`, `{"requestId":1e-1}`, `[1]`, `null`, `5`, `"1"`,
	} {
		c.sendf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":%s}`, params)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled"}`)
	if got := c.fence(); len(got) != 0 {
		t.Errorf("answered: %v", got)
	}
	if len(h.ended) != 0 {
		t.Error("cancelled by a malformed notification")
	}
	h.free()
	c.answer("1")
	c.cancel("1") // finished
	if got := c.fence(); len(got) != 0 {
		t.Error(got)
	}
}

func TestCAN05IDsCompareByTypeAndValue(t *testing.T) {
	h := newHold()
	c := newFixture(t, []Tool{tool("hang", h.handler())}).dial(t.Context())
	c.initialize(`{}`)
	ids := []string{`1`, `"1"`, `9007199254740993`, `9007199254740992`, `18446744073709551617`, `18446744073709551616`, `-1`, `0`, `""`, `"a"`}
	for _, id := range ids {
		c.call(id, "hang", `{}`)
		<-h.began
	}
	for i, id := range ids {
		c.cancel(id)
		<-h.ended
		if left := len(c.inFlight("hang")); left != len(ids)-i-1 {
			t.Fatalf("after cancelling %s: %d in flight", id, left)
		}
	}
	for _, id := range []string{`1.5`, `1e-3`, `null`, `true`, `{}`, `[1]`} {
		c.call(id, "hang", `{}`)
		m := c.next()
		m.wantError(t, -32600, "id")
		if len(m.ID) != 0 {
			t.Errorf("the answer to an unreadable id has none: %s", m.raw)
		}
	}
	c.call(`"\u0041"`, "hang", `{}`) // the same string as "A"
	<-h.began
	c.cancel(`"A"`)
	<-h.ended
}

func TestCAN06PeersCancelOnlyTheirOwn(t *testing.T) {
	h := newHold()
	f := newFixture(t, []Tool{tool("hang", h.handler())})
	a, b := f.dial(WithPrincipal(t.Context(), "same")), f.dial(WithPrincipal(t.Context(), "same"))
	a.initialize(`{}`)
	b.initialize(`{}`)
	a.call("1", "hang", `{}`)
	<-h.began
	b.cancel("1")
	b.fence()
	if len(h.ended) != 0 {
		t.Error("a stranger's cancellation had an effect")
	}
	a.cancel("1")
	<-h.ended
}

func TestCAN06DirectionsAreApart(t *testing.T) {
	c := newFixture(t, []Tool{tool("ask", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		_, err := Ask(ctx, call, confirmQuestion(), "")
		return &echoOutput{Text: "answered"}, err
	}))}).dial(t.Context())
	c.initialize(`{"elicitation":{}}`)
	c.call(`"x"`, "ask", `{}`)
	q := c.next()
	c.cancel(string(q.ID)) // the server's own id: not ours to cancel
	c.sendf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"overwrite":true}}}`, q.ID)
	if m, _ := c.answer(`"x"`); m.str("result", "structuredContent", "text") != "answered" {
		t.Error(m.raw)
	}
}

func TestCAN07InitializeCanNotBeCancelled(t *testing.T) {
	c := newFixture(t, []Tool{tool("echo", structured(echo))}).dial(t.Context())
	c.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	c.cancel("1")
	if m, _ := c.answer("1"); m.Error != nil {
		t.Error(m.raw)
	}
	c.call("2", "echo", `{"text":"on"}`)
	c.answer("2")
}

func TestCAN08DuplicateIDIsRefusedAndTheFirstStaysCancellable(t *testing.T) {
	h := newHold()
	c := newFixture(t, []Tool{tool("hang", h.handler())}).dial(t.Context())
	c.initialize(`{}`)
	c.call("1", "hang", `{}`)
	<-h.began
	c.request("1", "ping", `{}`).wantError(t, -32600, "in flight")
	c.call("1", "hang", `{}`)
	c.next().wantError(t, -32600)
	c.cancel("1")
	<-h.ended
	c.request("1", "ping", `{}`).wantResult(t, `{}`)
}

func TestCAN09RequestAndCancelBackToBack(t *testing.T) {
	const pairs = 10_000
	h := newHold()
	var mu sync.Mutex
	lost := 0
	c := newFixture(t, []Tool{tool("hang", plain(func(ctx context.Context, _ *Call) (*echoOutput, error) {
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute):
			mu.Lock()
			lost++
			mu.Unlock()
		}
		return &echoOutput{}, nil
	}))}).dial(t.Context())
	c.initialize(`{}`)
	for i := range pairs {
		id := fmt.Sprint(i)
		c.call(id, "hang", `{}`)
		c.cancel(id)
	}
	if got := c.fence(); len(got) != 0 {
		t.Errorf("%d answered, the first: %s", len(got), got[0].raw)
	}
	h.free()
	c.close() // waits for every handler
	if lost != 0 {
		t.Errorf("%d cancellations lost", lost)
	}
	if c.srv.tracker.Len() != 0 {
		t.Error("the tracker is not empty")
	}
}

func TestCAN10CancelledWithAnIDIsAnUnknownMethod(t *testing.T) {
	h := newHold()
	c := newFixture(t, []Tool{tool("hang", h.handler())}).dial(t.Context())
	c.initialize(`{}`)
	c.call("1", "hang", `{}`)
	<-h.began
	c.request("2", "notifications/cancelled", `{"requestId":1}`).wantError(t, -32601)
	if len(h.ended) != 0 {
		t.Error("cancelled by a request")
	}
	c.cancel("1")
	<-h.ended
}

func TestCAN12FirstToRetireWins(t *testing.T) {
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			c := newFixture(t, []Tool{tool("edge", plain(func(context.Context, *Call) (*echoOutput, error) {
				time.Sleep(time.Second) // returns when the timeout passes and the cancellation arrives
				return &echoOutput{}, nil
			}), func(t *Tool) { t.Cancel.Timeout = time.Second })}).dial(t.Context())
			c.initialize(`{}`)
			c.call("1", "edge", `{}`)
			time.Sleep(time.Second)
			c.cancel("1")
			answers := len(c.fence())
			synctest.Wait()
			if answers += len(c.frames); answers > 1 {
				t.Errorf("%d answers", answers)
			}
			c.close()
		})
	}
}

func TestCAN13CauseReachesTheHandlerAndTheLog(t *testing.T) {
	var log syncBuffer
	h := newHold()
	c := newFixture(t, []Tool{tool("hang", h.handler())}, WithLogger(slog.New(slog.NewJSONHandler(&log, nil)))).dial(WithPrincipal(t.Context(), "me"))
	c.initialize(`{}`)
	c.call(`"r1"`, "hang", `{}`)
	<-h.began
	c.cancel(`"r1"`)
	cause := <-h.ended
	if cause.Source != inflight.SourcePeer || cause.Reason != "changed my mind" || !errors.Is(cause, context.Canceled) {
		t.Error(cause)
	}
	c.fence()
	c.srv.records.Flush(t.Context())
	for _, part := range []string{`"id":"\"r1\""`, `"method":"tools/call"`, `"tool":"hang"`, `"source":"peer"`, `"reason":"changed my mind"`, `"principal":"me"`} {
		if !strings.Contains(log.String(), part) {
			t.Errorf("%s is not in the log: %s", part, log.String())
		}
	}
}

func TestCAN14UncancellableToolsRecordTheWish(t *testing.T) {
	asked := make(chan string)
	c := newFixture(t, []Tool{tool("post", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		asked <- ""
		<-asked
		reason, ok := call.CancelRequested()
		if !ok || ctx.Err() != nil {
			reason = fmt.Sprint("asked ", ok, " err ", ctx.Err())
		}
		return &echoOutput{Text: reason}, nil
	}), func(t *Tool) { t.Cancel.Uncancellable = true })}).dial(t.Context())
	c.initialize(`{}`)
	c.call("1", "post", `{}`)
	<-asked
	c.cancel("1")
	c.fence()
	asked <- ""
	if m, _ := c.answer("1"); m.str("result", "structuredContent", "text") != "changed my mind" {
		t.Error(m.raw)
	}
}

func TestCAN19QuestionsAreCancelledWithTheCall(t *testing.T) {
	ended := make(chan error, 1)
	c := newFixture(t, []Tool{tool("ask", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		_, err := Ask(ctx, call, confirmQuestion(), "")
		ended <- err
		return nil, err
	}))}).dial(t.Context())
	c.initialize(`{"elicitation":{}}`)
	c.call("77", "ask", `{}`) // not the id of the question: they are of two directions
	q := c.next()
	c.cancel("77")
	var cause *inflight.Cause
	if err := <-ended; !errors.As(err, &cause) || cause.Source != inflight.SourcePeer {
		t.Error(err)
	}
	m := c.next()
	if m.Method != "notifications/cancelled" || m.field("params", "requestId") != string(q.ID) {
		t.Error(m.raw)
	}
	c.sendf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"decline"}}`, q.ID) // too late, dropped
	if got := c.fence(); len(got) != 0 {
		t.Error(got)
	}
}

func TestCAN20TimeoutIsCountedPerCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHold()
		c := newFixture(t, []Tool{tool("hang", h.handler(), func(t *Tool) { t.Cancel.Timeout = 5 * time.Second })}).dial(t.Context())
		c.initialize(`{}`)
		c.call("1", "hang", `{}`)
		start := time.Now()
		time.Sleep(3 * time.Second)
		c.call("2", "hang", `{}`)
		cause := <-h.ended
		if took := time.Since(start); took != 5*time.Second || cause.Source != inflight.SourceTimeout || !errors.Is(cause, context.DeadlineExceeded) {
			t.Errorf("%v after %v", cause, took)
		}
		m, _ := c.answer("1")
		m.wantResult(t, `{"content":[{"type":"text","text":"hang timed out after 5s"}],"isError":true}`)
		c.answer("2")
		if took := time.Since(start); took != 8*time.Second {
			t.Errorf("the second took until %v", took)
		}
		synctest.Wait()
		if len(c.frames) != 0 {
			t.Error("a timed-out call was answered twice")
		}
		c.close()
	})
}

func TestCAN20TimeoutAnswersAHandlerThatDoesNotListen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		freed := make(chan struct{})
		c := newFixture(t, []Tool{tool("deaf", plain(func(context.Context, *Call) (*echoOutput, error) {
			<-freed
			return &echoOutput{}, nil
		}), func(t *Tool) { t.Cancel.Timeout = time.Second })}).dial(t.Context())
		c.initialize(`{}`)
		c.call("1", "deaf", `{}`)
		c.answer("1")
		close(freed)
		synctest.Wait()
		if got := c.fence(); len(got) != 0 {
			t.Error(got)
		}
		c.close()
	})
}

func TestCAN22InFlightIsListed(t *testing.T) {
	h := newHold()
	c := newFixture(t, []Tool{tool("hang", h.handler(), func(t *Tool) { t.Cancel.Uncancellable = true })}).dial(WithPrincipal(t.Context(), "me"))
	c.initialize(`{}`)
	c.call("7", "hang", `{}`)
	<-h.began
	c.cancel("7")
	c.fence()
	list := c.inFlight("hang")
	if len(list) != 1 || list[0].ID.String() != "7" || list[0].Method != "tools/call" || list[0].Principal != "me" || list[0].Recorded == nil || list[0].Age < 0 {
		t.Errorf("%+v", list)
	}
	h.free()
	c.answer("7")
	if got := c.inFlight("hang"); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestCAN24BatchesAreRefused(t *testing.T) {
	c := newFixture(t, []Tool{tool("echo", structured(echo))}).dial(t.Context())
	c.initialize(`{}`)
	c.send(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]`)
	c.next().wantError(t, -32600, "batch")
	c.send(`[]`)
	c.next().wantError(t, -32600)
	if got := c.fence(); len(got) != 0 {
		t.Error(got)
	}
}

func TestCAN25PartialResultsGoToTheHook(t *testing.T) {
	got := make(chan Partial, 1)
	began := make(chan struct{})
	c := newFixture(t, []Tool{tool("half", plain(func(ctx context.Context, _ *Call) (*echoOutput, error) {
		close(began)
		<-ctx.Done()
		return &echoOutput{Text: "half"}, fmt.Errorf("stopped: %w", context.Cause(ctx))
	}))}, WithPartialResults(func(p Partial) { got <- p })).dial(t.Context())
	c.initialize(`{}`)
	c.call("1", "half", `{}`)
	<-began
	c.cancel("1")
	p := <-got
	if out, ok := p.Result.(*echoOutput); !ok || out.Text != "half" || p.Tool != "half" || !errors.Is(p.Err, context.Canceled) {
		t.Errorf("%+v", p)
	}
	if left := c.fence(); len(left) != 0 {
		t.Error(left)
	}
}

// syncBuffer is a log that several goroutines write.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// take empties the log, and returns what was in it.
func (s *syncBuffer) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.b.Reset()
	return s.b.String()
}
