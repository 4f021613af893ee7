package gather

import (
	"slices"
	"testing"
)

func TestAllTakesWhatHasCome(t *testing.T) {
	from := make(chan int, 3)
	for n := range cap(from) {
		from <- n + 2
	}
	if got := All(1, from, 3); !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("%v", got)
	}
	if got := All(5, from, 3); !slices.Equal(got, []int{5, 4}) {
		t.Errorf("%v", got)
	}
}
