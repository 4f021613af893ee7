package inflight

import (
	"testing"
	"testing/synctest"
	"time"
)

// step lets time pass in a bubble.
func step(d time.Duration) { <-time.After(d) }

func TestCAN16ExtendBeginsTheTimeoutAnewUpToALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := New(Options{})
		start := time.Now()
		e := register(t, tr, incoming(1, 1), Info{Kind: Kind{Timeout: 10 * time.Second}})
		other := register(t, tr, incoming(1, 2), Info{Kind: Kind{Timeout: 12 * time.Second}})
		for range 3 {
			step(8 * time.Second)
			e.Extend(30 * time.Second)
		}
		if other.Err() == nil || e.Err() != nil {
			t.Fatalf("after %v: %v, the other %v", time.Since(start), e.Err(), other.Err())
		}
		if d, _ := e.Deadline(); d.Sub(start) != 30*time.Second {
			t.Errorf("the deadline is %v, want the limit", d.Sub(start))
		}
		<-e.Done()
		if took := time.Since(start); took != 30*time.Second || e.Cause().Reason != "not done after 30s" {
			t.Errorf("%v after %v", e.Cause(), took)
		}
		e.Extend(0) // it is over: nothing happens
		unlimited := register(t, tr, incoming(1, 3), Info{})
		unlimited.Extend(time.Second)
		if _, ok := unlimited.Deadline(); ok {
			t.Error("a request without a timeout has got one")
		}
		unlimited.Retire()
	})
}

func TestCAN16ExtendWhileTheClockStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := New(Options{})
		start := time.Now()
		e := register(t, tr, incoming(1, 1), Info{Kind: Kind{Timeout: 10 * time.Second}})
		step(4 * time.Second)
		e.Pause()
		step(time.Hour)
		e.Extend(20 * time.Second) // 4 s have run
		step(time.Hour)
		if e.Paused() != 2*time.Hour {
			t.Errorf("paused for %v", e.Paused())
		}
		e.Resume()
		if e.Paused() != 2*time.Hour {
			t.Errorf("paused for %v", e.Paused())
		}
		<-e.Done()
		if took, want := time.Since(start), 2*time.Hour+14*time.Second; took != want {
			t.Errorf("ended after %v, want %v", took, want)
		}
	})
}
