package streamhttp

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Each deadline passes after its own time, whatever became of those before it, and none after it was removed.
func TestDeadlinesPassInTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var passed []time.Duration
		start := time.Now()
		l := deadlines[int]{after: time.Second, pass: func(int) { passed = append(passed, time.Since(start)) }}
		all := make([]deadline[int], 10)
		for i := range all {
			l.add(&all[i], time.Now())
			time.Sleep(100 * time.Millisecond)
		}
		for i := range all {
			if i%3 == 1 {
				l.remove(&all[i])
			}
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		want := []time.Duration{1000, 1200, 1300, 1500, 1600, 1800, 1900}
		if len(passed) != len(want) {
			t.Fatalf("passed after %v", passed)
		}
		for i, after := range passed {
			if after != want[i]*time.Millisecond {
				t.Errorf("number %d has passed after %v", i, after)
			}
		}
		l.add(&all[0], time.Now())
		if l.passAll(); !all[0].passed.Load() {
			t.Error("one is left")
		}
		if l.add(&all[1], time.Now()); !all[1].passed.Load() {
			t.Error("one that came later is left")
		}
	})
}

// None passes early, however many come and go.
func TestDeadlinesDoNotPassEarly(t *testing.T) {
	const after = 20 * time.Millisecond
	l := deadlines[int]{after: after, pass: func(int) {}}
	var busy sync.WaitGroup
	for g := range 64 {
		busy.Go(func() {
			var d deadline[int]
			for i := range 2000 {
				begun := time.Now()
				l.add(&d, begun)
				if (g+i)%500 == 0 {
					time.Sleep(after / 4)
				}
				if passed, _ := l.remove(&d); passed && time.Since(begun) < after {
					t.Errorf("passed after %v", time.Since(begun))
				}
			}
		})
	}
	busy.Wait()
	if l.first != nil || l.last != nil {
		t.Error("the list is not empty")
	}
}
