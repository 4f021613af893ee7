package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// measure runs the garbage collector until what is dead is gone.
func measure() (goroutines int, heap uint64) {
	var m runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return runtime.NumGoroutine(), m.HeapAlloc
}

// leavesNothing runs round again and again: goroutines go back to what they were after the first one, and the heap does
// not grow with every one. How much runs at once varies, and so does what the Go runtime keeps of it; what a round leaves
// behind is left by each.
func leavesNothing(t *testing.T, round func()) {
	t.Helper()
	round() // grows maps, pools and buffers
	goroutines, heap := measure()
	var grown []uint64
	for range 4 {
		round()
		after, now := measure()
		if after > goroutines {
			t.Errorf("%d goroutines, %d before", after, goroutines)
		}
		grown = append(grown, max(now, heap)-heap)
		heap = now
	}
	if slices.Min(grown) > 512<<10 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
}

// Under the race detector this takes 1.2 GB, nearly all of it the detector's own: 110 KiB for each goroutine that runs.
func TestCAN03TenThousandCancelledLeaveNothing(t *testing.T) {
	const calls = 10_000
	h := newHold()
	c := newFixture(t, []Tool{tool("hang", h.handler())}).dial(t.Context())
	c.initialize(`{}`)
	round := func() {
		for i := range calls {
			c.call(fmt.Sprint(i), "hang", `{}`)
		}
		for range calls {
			<-h.began
		}
		if got := len(c.inFlight("hang")); got != calls {
			t.Fatalf("%d in flight", got)
		}
		for i := range calls {
			c.cancel(fmt.Sprint(i))
		}
		for range calls {
			<-h.ended
		}
		for live := int64(2); c.srv.onlyPeer().live.n.Load() > live; {
			c.fence() // until the last goroutine is gone
		}
		if got := c.fence(); len(got) != 0 {
			t.Fatalf("%d answered", len(got))
		}
	}
	leavesNothing(t, round)
	if n := c.srv.tracker.Len(); n != 0 {
		t.Errorf("%d in the tracker", n)
	}
}

func (s *Server) onlyPeer() *peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.peers {
		return p
	}
	return nil
}

func TestCAN03TheConnectionsEndCancelsWhatIsInFlight(t *testing.T) {
	h := newHold()
	c := newFixture(t, []Tool{tool("hang", h.handler())}).dial(t.Context())
	c.initialize(`{}`)
	c.call("1", "hang", `{}`)
	<-h.began
	c.close()
	if cause := <-h.ended; cause.Source != inflight.SourceDisconnect {
		t.Error(cause)
	}
}

func TestCAN21ShutdownCancelsWaitsAndCloses(t *testing.T) {
	for name, stop := range map[string]func(srv *Server, cancel context.CancelFunc){
		"context":  func(_ *Server, cancel context.CancelFunc) { cancel() },
		"Shutdown": func(srv *Server, _ context.CancelFunc) { _ = srv.Shutdown(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var source inflight.Source
				c := newFixture(t, []Tool{tool("slow", plain(func(ctx context.Context, _ *Call) (*echoOutput, error) {
					<-ctx.Done()
					var cause *inflight.Cause
					if errors.As(context.Cause(ctx), &cause) {
						source = cause.Source
					}
					time.Sleep(2 * time.Second) // cleaning up
					return &echoOutput{Text: "late"}, nil
				}))}).dial(ctx)
				c.initialize(`{}`)
				c.call("1", "slow", `{}`)
				synctest.Wait()
				start := time.Now()
				go stop(c.srv, cancel)
				time.Sleep(time.Second)
				c.call("2", "slow", `{}`)
				c.next().wantError(t, -32600, "shutting down")
				<-c.read // closed by the server
				if source != inflight.SourceShutdown || time.Since(start) != 2*time.Second {
					t.Errorf("cause %v after %v", source, time.Since(start))
				}
				for frame := range c.frames {
					t.Error(frame)
				}
				c.close()
			})
		})
	}
}

func TestCAN21GraceIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		freed := make(chan struct{})
		forced := make(chan struct{})
		f := newFixture(t, []Tool{
			tool("deaf", plain(func(context.Context, *Call) (*echoOutput, error) { <-freed; return &echoOutput{}, nil })),
			tool("post", plain(func(ctx context.Context, _ *Call) (*echoOutput, error) {
				<-ctx.Done()
				close(forced)
				return nil, ctx.Err()
			}),
				func(t *Tool) { t.Cancel.Uncancellable = true }),
		}, WithGrace(3*time.Second))
		near, far := rpc.Pipe()
		served := make(chan error, 1)
		go func() { served <- f.srv.Serve(ctx, far) }()
		c := newClient(t, near)
		c.initialize(`{}`)
		c.call("1", "deaf", `{}`)
		c.call("2", "post", `{}`)
		synctest.Wait()
		start := time.Now()
		cancel()
		err := <-served
		if took := time.Since(start); took != 3*time.Second || !errors.Is(err, ErrGrace) || !errors.Is(err, context.Canceled) {
			t.Errorf("%v after %v", err, took)
		}
		<-forced // not before the grace period was over
		close(freed)
		near.Close()
		<-c.read
	})
}

func TestCAN21UncancellableCallsMayFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c := newFixture(t, []Tool{tool("post", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			time.Sleep(time.Second)
			_, asked := call.CancelRequested()
			return &echoOutput{Text: fmt.Sprint(asked, ctx.Err())}, nil
		}), func(t *Tool) { t.Cancel.Uncancellable = true })}).dial(ctx)
		c.initialize(`{}`)
		c.call("1", "post", `{}`)
		synctest.Wait()
		cancel()
		if m, _ := c.answer("1"); m.str("result", "structuredContent", "text") != "true <nil>" {
			t.Error(m.raw)
		}
		c.close()
	})
}

func TestRunServesUntilTheEnd(t *testing.T) {
	f := newFixture(t, []Tool{tool("job", structured(echo), withTask(TaskOptional))})
	near, far := rpc.Pipe()
	ran := make(chan error, 1)
	go func() { ran <- f.srv.Run(t.Context(), far) }()
	c := newClient(t, near)
	c.initialize(`{}`)
	near.Close()
	<-c.read
	if err := <-ran; err != nil {
		t.Error(err)
	}
	_, another := rpc.Pipe() // a client that is there
	for range 50 {           // whatever else is true
		for name, conn := range map[string]rpc.Conn{"there": another, "gone": far} {
			if err := f.srv.Serve(t.Context(), conn); !errors.Is(err, ErrShutdown) {
				t.Fatalf("served after the end: %v, its client is %s", err, name)
			}
		}
	}
}

// TestCAN03AClientThatTakesNothingAnyMoreIsGone: it may still hold its end of the input open.
func TestCAN03AClientThatTakesNothingAnyMoreIsGone(t *testing.T) {
	h := newHold()
	f := newFixture(t, []Tool{tool("hang", h.handler())})
	up, fromClient := io.Pipe()
	fromServer, down := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- f.srv.Serve(t.Context(), rpc.Lines(up, down, closers{up, down}, rpc.LineOptions{}))
	}()
	client := rpc.Lines(fromServer, fromClient, closers{fromServer, fromClient}, rpc.LineOptions{})
	frames := []string{
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hang","arguments":{}}}`,
	}
	for i, frame := range frames {
		if err := client.WriteFrame([]byte(frame)); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			continue
		}
		if _, err := client.ReadFrame(nil); err != nil {
			t.Fatal(err)
		}
	}
	<-h.began
	fromServer.Close()
	if err := client.WriteFrame([]byte(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)); err != nil {
		t.Fatal(err)
	}
	if cause := <-h.ended; cause == nil || cause.Source != inflight.SourceDisconnect {
		t.Errorf("cause %v", cause)
	}
	if err := <-served; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("served: %v", err)
	}
}

// A call that goes on sees why the server stops, whichever of Run's context and its shutdown reaches it first; the log says it once.
func TestCAN13TheReasonOfAShutdownReachesACallThatGoesOn(t *testing.T) {
	for range 50 { // which one is first differs
		var log syncBuffer
		ctx, stop := context.WithCancelCause(t.Context())
		began := make(chan struct{})
		f := newFixture(t, []Tool{tool("post", plain(func(_ context.Context, call *Call) (*echoOutput, error) {
			close(began)
			<-call.s.Done()
			reason, asked := call.CancelRequested()
			for ; !asked; reason, asked = call.CancelRequested() {
				runtime.Gosched()
			}
			return &echoOutput{Text: reason}, nil
		}), func(t *Tool) { t.Cancel.Uncancellable = true })}, WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		near, far := rpc.Pipe()
		ran := make(chan error, 1)
		go func() { ran <- f.srv.Run(ctx, far) }()
		c := newClient(t, near)
		c.initialize(`{}`)
		c.call("1", "post", `{}`)
		<-began
		stop(errors.New("a deploy"))
		if m, _ := c.answer("1"); m.str("result", "structuredContent", "text") != "a deploy" {
			t.Error(m.raw)
		}
		if err := <-ran; err != nil {
			t.Error(err)
		}
		if n := strings.Count(log.String(), `reason="a deploy"`); n != 1 || strings.Contains(log.String(), `reason=""`) {
			t.Errorf("logged %d times: %s", n, log.String())
		}
		if <-c.read; t.Failed() {
			return
		}
	}
}

// What runs on other connections and exchanges hears it, too, though it may end before the tracker does: here while a subscription waits for its client.
func TestCAN13TheReasonOfAShutdownReachesWhatOthersRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, taken := newHold(), newHold()
		d := customDefinition(func(_ context.Context, _ *Call, in *echoInput) (*echoOutput, error) { return &echoOutput{in.Text}, nil },
			func(ctx context.Context, _ *Notice, _ *echoInput) error { return taken.run(ctx, nil) })
		d.Tools = append(d.Tools, tool("hang", h.handler()))
		f := dual(t, d)
		to, err := f.srv.Route([]byte(frame(5, "subscriptions/listen", nothing, `"notifications":{"toolsListChanged":true}`)), "")
		if err != nil {
			t.Fatal(err)
		}
		out := held{read: make(chan struct{})}
		go f.srv.Exchange(t.Context(), &to, out)
		go f.exchange(t.Context(), seenRows("a"))
		other := f.dial(t.Context())
		other.initialize(`{}`)
		other.call("1", "hang", `{}`)
		<-h.began
		<-taken.began

		ctx, stop := context.WithCancelCause(t.Context())
		near, far := rpc.Pipe()
		ran := make(chan error, 1)
		go func() { ran <- f.srv.Run(ctx, far) }()
		c := newClient(t, near)
		stop(errors.New("a deploy"))
		for what, ended := range map[string]<-chan *inflight.Cause{"call": h.ended, "notification": taken.ended} {
			if cause := <-ended; cause == nil || cause.Source != inflight.SourceShutdown || cause.Reason != "a deploy" {
				t.Errorf("%s: ended with %v", what, cause)
			}
		}
		close(out.read)
		if err := <-ran; err != nil {
			t.Error(err)
		}
		<-c.read
	})
}

func TestCAN13TheReasonOfAShutdownReachesATask(t *testing.T) {
	ctx, stop := context.WithCancelCause(as(t, "me"))
	began, ended := make(chan struct{}), make(chan *inflight.Cause, 1)
	f := newFixture(t, []Tool{tool("job", plain(func(ctx context.Context, _ *Call) (*echoOutput, error) {
		close(began)
		<-ctx.Done()
		cause, _ := errors.AsType[*inflight.Cause](context.Cause(ctx))
		ended <- cause
		return nil, cause
	}), withTask(TaskOptional))})
	near, far := rpc.Pipe()
	ran := make(chan error, 1)
	go func() { ran <- f.srv.Run(ctx, far) }()
	c := newClient(t, near)
	c.initialize(`{}`)
	c.start("1", "job", "")
	<-began
	stop(errors.New("a deploy"))
	if cause := <-ended; cause == nil || cause.Source != inflight.SourceShutdown || cause.Reason != "a deploy" {
		t.Errorf("ended with %v", cause)
	}
	if err := <-ran; err != nil {
		t.Error(err)
	}
	<-c.read
}
