package quota

import (
	"fmt"
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
