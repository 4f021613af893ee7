package inflight

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

func TestCAN13CauseIsTypedAndStillCanceled(t *testing.T) {
	sources := []Source{SourcePeer, SourceDisconnect, SourceShutdown, SourceParent, SourceTimeout, SourceCompleted}
	for _, source := range sources {
		tr := New(Options{})
		e := register(t, tr, incoming(1, 1), Info{})
		given := &Cause{Source: source, Reason: "because"}
		if e.Cancel(given); e.Cause() != given {
			t.Errorf("%v: Cause() = %v", source, e.Cause())
		}
		child, cancel := context.WithCancel(context.WithValue(e, source, 1))
		for name, ctx := range map[string]context.Context{"entry": e, "child": child} {
			<-ctx.Done()
			var c *Cause
			cause := context.Cause(ctx)
			if !errors.As(cause, &c) || c != given || !errors.Is(cause, context.Canceled) {
				t.Errorf("%v, %s: cause %v", source, name, cause)
			}
			timeout := source == SourceTimeout
			if errors.Is(cause, context.DeadlineExceeded) != timeout || (ctx.Err() == context.DeadlineExceeded) != timeout {
				t.Errorf("%v, %s: Err %v, cause %v", source, name, ctx.Err(), cause)
			}
			if !timeout && ctx.Err() != context.Canceled {
				t.Errorf("%v, %s: Err %v", source, name, ctx.Err())
			}
		}
		cancel()
	}
}

func TestCAN13ParentsCauseIsPassedOn(t *testing.T) {
	broken := errors.New("broken pipe")
	ctx, cancel := context.WithCancelCause(t.Context())
	tr := New(Options{})
	stop := tr.Watch(ctx, 1)
	defer stop()
	e, _ := tr.Register(ctx, incoming(1, 1), Info{})
	stranger := register(t, tr, incoming(2, 1), Info{})
	cancel(broken)
	<-e.Done()
	if c := e.Cause(); c.Source != SourceParent || !errors.Is(c, broken) || !errors.Is(c, context.Canceled) {
		t.Errorf("cause %v", c)
	}
	if stranger.Err() != nil {
		t.Error("another peer's request ended too")
	}
	late, _ := tr.Register(ctx, incoming(1, 2), Info{})
	if late.Err() == nil || tr.Len() != 1 {
		t.Error("a request was registered under a context that is over, and goes on")
	}
	own, end := context.WithCancelCause(t.Context())
	end(&Cause{Source: SourceShutdown, Reason: "deploy"})
	late, _ = tr.Register(own, incoming(1, 3), Info{})
	if c := late.Cause(); c.Source != SourceShutdown || c.Reason != "deploy" {
		t.Errorf("inherited %v", c)
	}
}

func TestCAN18FollowOneParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := New(Options{})
		ctx, cancel := context.WithCancel(t.Context())
		e, _ := tr.Register(ctx, incoming(1, 1), Info{})
		other, _ := tr.Register(ctx, incoming(1, 2), Info{})
		e.Follow(ctx)
		other.Follow(ctx)
		if !other.Retire() {
			t.Error("not answered")
		}
		cancel()
		synctest.Wait()
		if e.Cause() == nil || e.Cause().Source != SourceParent || other.Cause().Source != SourceCompleted {
			t.Errorf("causes %v and %v", e.Cause(), other.Cause())
		}
		e.Follow(ctx) // after the end: nothing to do
	})
}

func TestCAN19ChildrenEndWithoutGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := New(Options{})
		e := register(t, tr, incoming(1, 1), Info{})
		before := runtime.NumGoroutine()
		var children []context.Context
		for range 100 {
			child, cancel := context.WithTimeout(e, time.Hour)
			defer cancel()
			children = append(children, child)
		}
		gone, cancel := context.WithCancel(e)
		cancel()
		if n := runtime.NumGoroutine(); n > before {
			t.Errorf("%d goroutines for 100 children", n-before)
		}
		if n := len(e.lazy.callbacks); n != 100 {
			t.Errorf("%d children are held, one of 101 was cancelled", n)
		}
		tr.Cancel(incoming(1, 1), "enough")
		synctest.Wait()
		for _, child := range children {
			var c *Cause
			if child.Err() != context.Canceled || !errors.As(context.Cause(child), &c) || c.Reason != "enough" {
				t.Fatalf("child: %v, %v", child.Err(), context.Cause(child))
			}
		}
		if gone.Err() == nil || e.lazy.callbacks != nil {
			t.Error("children are still held")
		}
	})
}

func TestCAN19WhatAHandlerLeftEndsWithTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := New(Options{})
		e := register(t, tr, incoming(1, 1), Info{})
		left := make(chan error)
		go func() {
			<-e.Done()
			left <- context.Cause(e)
		}()
		synctest.Wait()
		e.Retire()
		var c *Cause
		if err := <-left; !errors.As(err, &c) || c.Source != SourceCompleted {
			t.Errorf("cause %v", err)
		}
	})
}

func TestCAN20TimeoutIsCountedPerCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := New(Options{})
		start := time.Now()
		short := register(t, tr, incoming(1, 1), Info{Kind: Kind{Timeout: 5 * time.Second}})
		long := register(t, tr, incoming(1, 2), Info{Kind: Kind{Timeout: time.Minute, Protected: true}})
		if d, ok := short.Deadline(); !ok || !d.Equal(start.Add(5*time.Second)) {
			t.Errorf("deadline %v, %v", d, ok)
		}
		<-short.Done()
		if time.Since(start) != 5*time.Second || long.Err() != nil {
			t.Errorf("after %v; the other: %v", time.Since(start), long.Err())
		}
		if c := short.Cause(); c.Source != SourceTimeout || c.Reason != "not done after 5s" {
			t.Errorf("cause %v", c)
		}
		<-long.Done()
		if time.Since(start) != time.Minute || long.Err() != context.DeadlineExceeded {
			t.Errorf("after %v: %v", time.Since(start), long.Err())
		}
		if short.Retire() || long.Retire() || tr.Len() != 0 {
			t.Error("timed out and not over")
		}
	})
}

// Timeouts of one shard share one timer: every one must fire at its own time, whatever came and went before.
func TestCAN20EveryTimeoutFiresAtItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := New(Options{})
		const n = 3000
		for i := range int64(n) {
			d := time.Duration(1+i*7919%n) * time.Millisecond
			e := register(t, tr, incoming(1, i), Info{Kind: Kind{Timeout: d}})
			due := time.Now().Add(d)
			if i%3 == 0 {
				e.Retire()
				continue
			}
			e.AfterFunc(func() {
				if !time.Now().Equal(due) {
					t.Errorf("due %v, fired %v", due, time.Now())
				}
			})
			if i%100 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		time.Sleep(n * time.Millisecond)
		synctest.Wait()
		if tr.Len() != 0 {
			t.Errorf("%d still in flight", tr.Len())
		}
		for i := range tr.shards {
			if s := &tr.shards[i]; len(s.heap) != 0 || s.armed != 0 {
				t.Errorf("shard %d waits for %d timeouts, timer %d", i, len(s.heap), s.armed)
			}
		}
	})
}

func TestCAN20CenturiesAreNotOverAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := New(Options{})
		time.Sleep(time.Second)
		e := register(t, tr, incoming(1, 1), Info{Kind: Kind{Timeout: 1<<63 - 1}})
		time.Sleep(time.Hour)
		if e.Err() != nil {
			t.Error(e.Cause())
		}
		tr.Cancel(e.Key(), "")
	})
}

func TestDeadlineIsTheEarlierOne(t *testing.T) {
	tr := New(Options{})
	soon, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	want, _ := soon.Deadline()
	e, _ := tr.Register(soon, incoming(1, 1), Info{Kind: Kind{Timeout: time.Hour}})
	if d, ok := e.Deadline(); !ok || !d.Equal(want) {
		t.Errorf("%v, %v; want the parent's %v", d, ok, want)
	}
	if _, ok := register(t, tr, incoming(1, 2), Info{}).Deadline(); ok {
		t.Error("a deadline from nowhere")
	}
	e.Retire()
}

func TestValuesComeFromTheParent(t *testing.T) {
	type key struct{}
	tr := New(Options{})
	e, _ := tr.Register(context.WithValue(t.Context(), key{}, "v"), incoming(1, 1), Info{Kind: Kind{Method: "m"}})
	for range 2 {
		if e.Value(key{}) != "v" || e.Value("other") != nil {
			t.Error("values lost")
		}
		e.Retire()
	}
	if e.String() != "inflight.Entry(m 1)" {
		t.Error(e.String())
	}
}

func TestValuesAreAskedForWhatTheParentDoesNotHave(t *testing.T) {
	type key string
	tr := New(Options{})
	parent := context.WithValue(t.Context(), key("both"), "parent's")
	values := context.WithValue(context.WithValue(context.Background(), key("both"), "own"), key("own"), "own")
	e, err := tr.RegisterIn(new(Room), parent, incoming(1, 1), Info{Kind: Kind{Protected: true}}, values)
	if err != nil {
		t.Fatal(err)
	}
	if !e.snapshot(0).Protected || e.Values() != values || e.snapshot(0).Values != values {
		t.Error("not what it was registered with")
	}
	for range 2 {
		if e.Value(key("both")) != "parent's" || e.Value(key("own")) != "own" || e.Value(key("none")) != nil {
			t.Error("values lost")
		}
		e.Retire()
	}
	if without := register(t, tr, incoming(1, 2), Info{}); without.Values() != nil {
		t.Error("values from nowhere")
	}
}

func TestAfterFuncAsPackageContextDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := New(Options{})
		e := register(t, tr, incoming(1, 1), Info{})
		ran := map[string]int{}
		stopA := e.AfterFunc(func() { ran["a"]++ })
		stopB := context.AfterFunc(e, func() { ran["b"]++ })
		if !stopA() || stopA() {
			t.Error("stop must be true once")
		}
		e.Retire()
		synctest.Wait()
		if stopB() {
			t.Error("stopped what ran")
		}
		stopC := e.AfterFunc(func() { ran["c"]++ })
		synctest.Wait()
		if stopC() || ran["a"] != 0 || ran["b"] != 1 || ran["c"] != 1 {
			t.Errorf("ran %v", ran)
		}
	})
}

func TestCAN15AnswerIsDeliveredOnceAndLateOnesDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := New(Options{})
		key := Key{Peer: 1, ID: tr.NextID(), Direction: Outgoing}
		e := register(t, tr, key, Info{Kind: Kind{Method: "elicitation/create"}})
		go func() {
			if !tr.Deliver(key, Response{Result: []byte("1")}) || tr.Deliver(key, Response{Result: []byte("2")}) {
				t.Error("must be delivered exactly once")
			}
		}()
		if r, err := e.Await(); err != nil || string(r.Result) != "1" {
			t.Errorf("%s, %v", r.Result, err)
		}
		synctest.Wait()
		key.ID = tr.NextID()
		e = register(t, tr, key, Info{Kind: Kind{Timeout: time.Second}})
		var c *Cause
		if _, err := e.Await(); !errors.As(err, &c) || c.Source != SourceTimeout {
			t.Errorf("cause %v", err)
		}
		if tr.Deliver(key, Response{}) {
			t.Error("a late answer was taken")
		}
	})
}

func TestCAN19OutgoingEndsWithItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := New(Options{})
		call := register(t, tr, incoming(1, 1), Info{})
		key := Key{Peer: 1, ID: rpc.IntID(1), Direction: Outgoing}
		asked, _ := tr.Register(call, key, Info{})
		ended := make(chan error)
		go func() {
			_, err := asked.Await()
			ended <- err
		}()
		synctest.Wait()
		tr.Cancel(incoming(1, 1), "stop")
		var c *Cause
		if err := <-ended; !errors.As(err, &c) || c.Source != SourcePeer || c.Reason != "stop" {
			t.Errorf("cause %v", err)
		}
		if tr.Len() != 0 {
			t.Errorf("%d in flight", tr.Len())
		}
	})
}

func TestFromContextFindsTheRequest(t *testing.T) {
	tr := New(Options{})
	e, err := tr.Register(context.Background(), Key{Peer: 1, ID: rpc.IntID(1)}, Info{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(e)
	defer cancel()
	if FromContext(ctx) != e {
		t.Error("a context below the request does not lead to it")
	}
	e.Retire()
	if FromContext(ctx) != e {
		t.Error("not after its end either")
	}
	if FromContext(context.Background()) != nil {
		t.Error("a request where there is none")
	}
}

// While somebody else is waited for, no time of the request passes; pauses may overlap.
func TestCAN28TheClockStandsWhilePaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := New(Options{})
		start := time.Now()
		e := register(t, tr, incoming(1, 1), Info{Kind: Kind{Timeout: 10 * time.Second}})
		other := register(t, tr, incoming(1, 2), Info{Kind: Kind{Timeout: 15 * time.Second}})
		deadline := func(want time.Duration) {
			t.Helper()
			if d, ok := e.Deadline(); !ok || d.Sub(start) != want {
				t.Errorf("after %v the deadline is %v, want %v", time.Since(start), d.Sub(start), want)
			}
		}
		time.Sleep(4 * time.Second)
		e.Pause()
		time.Sleep(time.Hour)
		deadline(time.Hour + 10*time.Second)
		e.Pause()
		e.Resume()
		time.Sleep(time.Hour)
		if e.Err() != nil || other.Err() == nil {
			t.Fatalf("paused: %v, the other: %v", e.Err(), other.Err())
		}
		e.Resume()
		deadline(2*time.Hour + 10*time.Second)
		<-e.Done()
		if took := time.Since(start); took != 2*time.Hour+10*time.Second || e.Cause().Source != SourceTimeout {
			t.Errorf("%v after %v", e.Cause(), took)
		}
		e.Pause() // it is over: nothing happens
		e.Resume()
		unlimited := register(t, tr, incoming(1, 3), Info{})
		unlimited.Pause()
		unlimited.Resume()
		if _, ok := unlimited.Deadline(); ok || !unlimited.Retire() || tr.Len() != 0 {
			t.Error("a request without a timeout")
		}
	})
}

// A paused request is cancelled and completed as any other.
func TestCAN28PausedRequestsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := New(Options{})
		for i := range int64(100) {
			e := register(t, tr, incoming(1, i), Info{Kind: Kind{Timeout: time.Second}})
			e.Pause()
			if i%2 == 0 {
				e.Resume()
				e.Pause()
			}
			if i%3 == 0 {
				tr.Cancel(e.Key(), "")
			} else if !e.Retire() {
				t.Errorf("%d: %v", i, e.Cause())
			}
			e.Resume()
		}
		time.Sleep(time.Hour)
		if tr.Len() != 0 {
			t.Errorf("%d left", tr.Len())
		}
	})
}
