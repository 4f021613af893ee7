package streamhttp

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Each deadline expires after its own time, whatever became of those before it, and none after it was removed.
func TestDeadlinesExpireInTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var expired []time.Duration
		start := time.Now()
		l := deadlines[int]{after: time.Second, expire: func(int) { expired = append(expired, time.Since(start)) }}
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
		if len(expired) != len(want) {
			t.Fatalf("expired after %v", expired)
		}
		for i, after := range expired {
			if after != want[i]*time.Millisecond {
				t.Errorf("number %d has expired after %v", i, after)
			}
		}
		l.add(&all[0], time.Now())
		if l.expireAll(); !all[0].expired.Load() {
			t.Error("one is left")
		}
		if l.add(&all[1], time.Now()); !all[1].expired.Load() {
			t.Error("one that came later is left")
		}
	})
}

// None expires early, however many come and go.
func TestDeadlinesDoNotExpireEarly(t *testing.T) {
	const after = 20 * time.Millisecond
	l := deadlines[int]{after: after, expire: func(int) {}}
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
				if expired, _ := l.remove(&d); expired && time.Since(begun) < after {
					t.Errorf("expired after %v", time.Since(begun))
				}
			}
		})
	}
	busy.Wait()
	if l.all.first != nil || l.all.last != nil {
		t.Error("the list is not empty")
	}
}
