package client_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// record is a log that a test reads.
type record struct {
	mu sync.Mutex
	strings.Builder
}

func (l *record) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Builder.Write(p)
}

func (l *record) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Builder.String()
}

func (l *record) option() client.Option {
	return client.WithLogger(slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug})))
}

// end is a way in which a caller gives up.
type end struct {
	source inflight.Source
	is     error
	opts   []client.CallOption
	do     func(s *client.Session, cancel context.CancelFunc)
}

var ends = map[string]end{
	"CancelRequest": {source: inflight.SourceCaller, is: context.Canceled, do: func(s *client.Session, _ context.CancelFunc) {
		if err := s.CancelRequest(s.Requests()[0].ID, "the user said so"); err != nil {
			panic(err)
		}
	}},
	"context": {source: inflight.SourceParent, is: context.Canceled, do: func(_ *client.Session, cancel context.CancelFunc) { cancel() }},
	"timeout": {source: inflight.SourceTimeout, is: context.DeadlineExceeded, opts: []client.CallOption{client.Timeout(time.Second, 0)},
		do: func(*client.Session, context.CancelFunc) { <-time.After(time.Second) }},
}

// The caller returns at once, the server is told once, and what it says afterwards reaches nobody.
func TestCAN15ACancelledCallReturnsAtOnce(t *testing.T) {
	for name, e := range ends {
		each(t, func(t *testing.T, revision string) {
			synctest.Test(t, func(t *testing.T) {
				var l record
				s, p := meet(t, revision, l.option())
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				done := start(ctx, s, "slow", e.opts...)
				m := p.expect("tools/call")
				began := time.Now()
				e.do(s, cancel)
				r := <-done
				var cause *client.Cause
				if !errors.As(r.err, &cause) || cause.Source != e.source || !errors.Is(r.err, e.is) {
					t.Errorf("%s: %v", name, r.err)
				}
				if waited := time.Since(began); waited > time.Second {
					t.Errorf("%s: returned after %v", name, waited)
				}
				told := p.expect("notifications/cancelled")
				has(t, told.raw, `"requestId":`+string(m.ID))
				if told.ID != nil {
					t.Error(told.raw)
				}
				if e.source == inflight.SourceCaller {
					has(t, told.raw, `"reason":"the user said so"`)
				}
				p.answer(m, complete(revision, "late"))
				next := start(t.Context(), s, "next")
				m2 := p.expect("tools/call")
				if string(m2.ID) == string(m.ID) {
					t.Error("an id was used twice")
				}
				p.answer(m2, complete(revision, "in time"))
				if r := <-next; r.err != nil || !strings.Contains(string(r.Raw), "in time") {
					t.Errorf("the next call: %s, %v", r.Raw, r.err)
				}
				synctest.Wait() // what ended the request may log that after its caller has gone on
				has(t, l.String(), "level=DEBUG", "a late answer was dropped", "request ended")
				if n := len(s.Requests()) + client.InFlight(s); n != 0 {
					t.Errorf("%d requests are left", n)
				}
			})
		})
	}
}

// watch says when it begins, and why its context has ended.
func watch(ended chan<- error) run {
	return func(ctx context.Context, _ *server.Call, _ *input) (*output, error) {
		ended <- nil
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return nil, context.Cause(ctx)
	}
}

func TestCAN17TheServersHandlerEnds(t *testing.T) {
	each(t, func(t *testing.T, revision string) {
		ended := make(chan error, 1)
		s := dial(t, newServer(t, []server.Tool{tool("hang", watch(ended))}), client.WithRevision(revision))
		ctx, cancel := context.WithCancel(t.Context())
		done := start(ctx, s, "hang")
		<-ended // begun
		cancel()
		if r := <-done; !errors.Is(r.err, context.Canceled) {
			t.Error(r.err)
		}
		var cause *client.Cause
		if err := <-ended; !errors.As(err, &cause) || cause.Source != inflight.SourcePeer {
			t.Errorf("the handler's context ended with %v", err)
		}
	})
}

func TestCAN07InitializeIsNeverCancelled(t *testing.T) {
	ours, theirs := rpc.Pipe()
	p := &peer{t: t, conn: theirs}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := client.Connect(ctx, client.Conn(ours), client.WithRevision("2025-11-25"))
		done <- err
	}()
	p.expect("initialize")
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if frame, err := theirs.ReadFrame(nil); err == nil {
		t.Errorf("the client sent %s", frame)
	}
}

func TestCAN04CancellingWhatIsOverOrUnknownIsIgnored(t *testing.T) {
	s, p := meet(t, "2025-11-25")
	done := start(t.Context(), s, "x")
	m := p.expect("tools/call")
	id, _ := rpc.ParseID(m.ID)
	p.answer(m, `{"content":[]}`)
	<-done
	for _, id := range []rpc.ID{id, rpc.IntID(99), rpc.StringID("x")} {
		if err := s.CancelRequest(id, ""); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	done = start(t.Context(), s, "x")
	p.answer(p.expect("tools/call"), `{"content":[]}`) // and no notification before
	<-done
}

func TestCAN22RequestsInFlightAreListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meet(t, "2025-11-25")
		first := start(t.Context(), s, "first", client.OnProgress(func(client.Progress) {}))
		m := p.expect("tools/call")
		<-time.After(3 * time.Second)
		second := start(t.Context(), s, "second")
		m2 := p.expect("tools/call")
		p.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":2,"total":5,"message":"half"}}`, m.ID)
		synctest.Wait()
		all := s.Requests()
		if len(all) != 2 || all[0].Tool != "first" || all[0].Method != "tools/call" || all[0].Age != 3*time.Second || all[0].ID.String() != string(m.ID) ||
			all[0].Progress != (client.Progress{Progress: 2, Total: 5, Message: "half"}) || all[1].Tool != "second" || all[1].Age != 0 {
			t.Errorf("%+v", all)
		}
		p.answer(m, `{"content":[]}`)
		p.answer(m2, `{"content":[]}`)
		<-first
		<-second
	})
}

// A server that does not read must not hold up a caller that gives up.
func TestCAN15AServerThatDoesNotRead(t *testing.T) {
	s, p := meet(t, "2025-11-25")
	ctx, cancel := context.WithCancel(t.Context())
	var all []<-chan result
	large := map[string]string{"text": strings.Repeat("x", 1<<20)}
	for range 5 {
		done := make(chan result, 1)
		go func() {
			r, err := s.CallTool(ctx, "x", large)
			done <- result{r, err}
		}()
		all = append(all, done)
	}
	for len(s.Requests()) < len(all) {
		<-time.After(time.Millisecond)
	}
	cancel()
	for _, done := range all {
		if r := <-done; !errors.Is(r.err, context.Canceled) {
			t.Error(r.err)
		}
	}
	// Cancellations are for requests that were sent, and behind them.
	sent := map[string]bool{}
	done := start(t.Context(), s, "last")
	for {
		m := p.next()
		if m.Method == "notifications/cancelled" {
			_, id, _ := strings.Cut(string(m.Params), `"requestId":`)
			if id = strings.TrimRight(id, "}"); !sent[id] {
				t.Errorf("%s was cancelled and never sent", id)
			}
			continue
		}
		if strings.Contains(string(m.Params), `"last"`) {
			p.answer(m, `{"content":[]}`)
			break
		}
		sent[string(m.ID)] = true
	}
	if r := <-done; r.err != nil {
		t.Error(r.err)
	}
}

// A notification that was given up before there was room for it was not sent, and its sender is told.
func TestCAN15ANotificationThatIsGivenUpIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := meet(t, "2025-11-25", client.WithHandlers(client.Handlers{Roots: func(context.Context, *client.Question) ([]client.Root, error) { return nil, nil }}))
		calls, giveUp := context.WithCancel(t.Context())
		for range 3 {
			go s.CallTool(calls, "x", map[string]string{"text": strings.Repeat("x", 1<<20)})
		}
		synctest.Wait() // the server does not read
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.RootsChanged(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v", err)
		}
		giveUp()
	})
}

func TestCAN16ATimeoutAndAHardMaximum(t *testing.T) {
	for _, c := range []struct {
		name  string
		opts  []client.CallOption
		after time.Duration // 0: it succeeds
	}{
		{name: "progress extends the timeout"},
		{name: "never the maximum", opts: []client.CallOption{client.Timeout(time.Minute, 150*time.Second)}, after: 150 * time.Second},
		{name: "a shorter timeout than the time between reports", opts: []client.CallOption{client.Timeout(30*time.Second, 0)}, after: 30 * time.Second},
		{name: "no bounds", opts: []client.CallOption{client.Timeout(0, 0)}},
	} {
		each(t, func(t *testing.T, revision string) {
			synctest.Test(t, func(t *testing.T) {
				s := dial(t, newServer(t, tools()), client.WithRevision(revision))
				began := time.Now()
				r, err := s.CallTool(t.Context(), "count", map[string]string{"text": "x"}, c.opts...)
				took := time.Since(began)
				var cause *client.Cause
				switch {
				case c.after == 0 && (err != nil || took != 200*time.Second):
					t.Errorf("%s: %v after %v", c.name, err, took)
				case c.after > 0 && (!errors.As(err, &cause) || cause.Source != inflight.SourceTimeout || took != c.after):
					t.Errorf("%s: %v, %v after %v", c.name, r, err, took)
				}
			})
		})
	}
}

func TestCAN16TheDefaultTimeouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meet(t, "2025-11-25")
		began := time.Now()
		done := start(t.Context(), s, "x")
		p.expect("tools/call")
		<-done
		if took := time.Since(began); took != time.Minute {
			t.Errorf("without progress: %v", took)
		}
		p.expect("notifications/cancelled")
		began = time.Now()
		done = start(t.Context(), s, "x")
		m := p.expect("tools/call")
		var r result
		for n := 0; r.err == nil; n++ {
			p.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, m.ID, n)
			select {
			case r = <-done:
			case <-time.After(50 * time.Second):
			}
		}
		if took := time.Since(began); took != 10*time.Minute {
			t.Errorf("with progress: %v", took)
		}
	})
}

// Progress reaches the caller in order, while the call runs and never afterwards.
func TestPRO01ProgressReachesTheCaller(t *testing.T) {
	each(t, func(t *testing.T, revision string) {
		synctest.Test(t, func(t *testing.T) {
			s := dial(t, newServer(t, tools()), client.WithRevision(revision))
			var got []float64
			_, err := s.CallTool(t.Context(), "count", map[string]string{"text": "x"}, client.OnProgress(func(p client.Progress) { got = append(got, p.Progress) }))
			if err != nil || len(got) < 4 || got[0] != 1 {
				t.Errorf("%v, %v", got, err)
			}
		})
	})
}

func TestPRO01ProgressOfWhatIsOverReachesNobody(t *testing.T) {
	s, p := meet(t, "2025-11-25")
	done := start(t.Context(), s, "x", client.OnProgress(func(p client.Progress) {
		if p.Progress > 1 {
			t.Errorf("%+v", p)
		}
	}))
	m := p.expect("tools/call")
	has(t, string(m.Params), `"progressToken":`+string(m.ID))
	p.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"%s","progress":7}}`, m.ID) // a string is another token
	p.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, m.ID)
	p.answer(m, `{"content":[]}`)
	p.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":2}}`, m.ID)
	if r := <-done; r.err != nil {
		t.Error(r.err)
	}
	done = start(t.Context(), s, "x", client.OnProgress(func(p client.Progress) { t.Errorf("%+v", p) }))
	m2 := p.expect("tools/call")
	p.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":3}}`, m.ID)
	p.answer(m2, `{"content":[]}`)
	<-done
}

// A server whose progress comes by two streams overtakes itself. What is behind the last report is dropped, and what came before the answer
// reaches a slow caller before it, also if the call becomes a task.
func TestPRO02ProgressThatGoesBackIsDropped(t *testing.T) {
	for answer, states := range map[string][]string{
		`"content":[]`: nil,
		`"task":{"taskId":"t1",` + moments + `,"ttl":null,"status":"working"}`: {"completed"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, p := meetOffering(t, "2025-11-25", taskOffers)
			slow, got := make(chan struct{}), []float64(nil)
			begin := func() <-chan result {
				return start(t.Context(), s, "x", client.OnProgress(func(p client.Progress) { <-slow; got = append(got, p.Progress) }))
			}
			if states != nil {
				p.offerTask(s)
			}
			done := begin()
			m := p.expect("tools/call")
			report := func(values ...float64) {
				for _, v := range values {
					p.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%v}}`, m.ID, v)
				}
				synctest.Wait()
			}
			report(-2, -3, 2, 1, 2, 3)
			p.answer(m, "{"+answer+"}")
			synctest.Wait()
			close(slow)
			synctest.Wait()
			want := []float64{-2, 2, 3}
			for _, status := range states {
				report(1, 4)
				want = append(want, 4)
				state := `{"taskId":"t1",` + moments + `,"ttl":null,"status":"` + status + `"}`
				p.answer(p.expect("tasks/get"), state)
				p.answer(p.expect("tasks/result"), `{"content":[]}`)
			}
			if r := <-done; r.err != nil || !slices.Equal(got, want) {
				t.Errorf("%v, %v", got, r.err)
			}
		})
	}
}
