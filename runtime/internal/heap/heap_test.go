package heap

import (
	"math/rand/v2"
	"slices"
	"testing"
)

type item struct{ rank, at int }

func (i *item) Before(j *item) bool { return i.rank < j.rank }
func (i *item) Position() *int      { return &i.at }

// TestTSK15TheFirstIsBeforeAllOthers: whatever comes, changes and leaves, the first is the least, and each knows where it stands.
func TestTSK15TheFirstIsBeforeAllOthers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var h Heap[*item]
	var in []*item
	for range 10_000 {
		switch n := r.IntN(10); {
		case n < 5 || len(in) == 0:
			e := &item{rank: r.IntN(100), at: Outside}
			h.Push(e)
			in = append(in, e)
		case n < 7:
			i := r.IntN(len(in))
			h.Remove(in[i])
			if in[i].at != Outside {
				t.Fatal("an element that left is somewhere")
			}
			in = slices.Delete(in, i, i+1)
		case n < 9:
			e := in[r.IntN(len(in))]
			e.rank = r.IntN(100)
			h.Fix(e)
		default:
			e := h.Pop()
			in = slices.DeleteFunc(in, func(o *item) bool { return o == e })
			if e.at != Outside || slices.ContainsFunc(in, func(o *item) bool { return o.Before(e) }) {
				t.Fatal("another one was before the first")
			}
		}
		if h.Len() != len(in) {
			t.Fatalf("%d elements, want %d", h.Len(), len(in))
		}
		for i, e := range h.All() {
			if e.at != i || e.Before(h.First()) {
				t.Fatalf("the element at %d says %d", i, e.at)
			}
		}
	}
}
