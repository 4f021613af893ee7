package quota

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

// However many take as much as they get, one who has nothing gets something.
func TestTSK28NobodyUsesUpALimit(t *testing.T) {
	for greedy := 1; greedy <= 20; greedy++ {
		s := NewShared[string](1000)
		for more := true; more; {
			more = false
			for g := range greedy {
				more = s.Take(fmt.Sprint(g), 1) || more
			}
		}
		if greedy == 1 && s.Used() != 750 {
			t.Errorf("one has %d of 1000", s.Used())
		}
		if !s.Take("late", (1000-s.Used())/2) {
			t.Errorf("%d have %d, and nothing is left", greedy, s.Used())
		}
	}
}

// Whoever asks for too much keeps nobody from what there is.
func TestTSK28ARefusedTakeIsNeverCounted(t *testing.T) {
	l := Limit{Max: 1000}
	var greedy, modest atomic.Int64
	var trying sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		trying.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					if l.Take(&greedy, 1001) {
						t.Error("one has more than there is")
					}
				}
			}
		})
	}
	for range 2_000_000 {
		if !l.Take(&modest, 20) {
			t.Fatal("there is nothing left")
		}
		l.Give(&modest, 20)
	}
	close(stop)
	trying.Wait()
	if l.Used() != 0 || greedy.Load() != 0 || modest.Load() != 0 {
		t.Errorf("%d are used, %d and %d held", l.Used(), greedy.Load(), modest.Load())
	}
}

func TestSharedForgetsWhoHoldsNothing(t *testing.T) {
	s := NewShared[string](10)
	if !s.Take("a", 5) || s.Take("b", 6) || !s.Take("b", 5) {
		t.Error("not what is left")
	}
	s.Give("a", 5)
	s.Give("b", 5)
	if s.Used() != 0 || len(s.by) != 0 {
		t.Errorf("%d used by %v", s.Used(), s.by)
	}
}
