package server

import (
	"fmt"
	"slices"
	"testing"
)

func TestNewestKeepsOneValueOfEachKeyInOrder(t *testing.T) {
	var q newest[string, int]
	if _, _, ok := q.take(); ok {
		t.Error("there is nothing")
	}
	for i, key := range []string{"a", "b", "a", "c"} {
		if idle := q.put(key, i); idle != (i == 0) {
			t.Errorf("%s: %v", key, idle)
		}
	}
	var got []int
	for _, v, ok := q.take(); ok; _, v, ok = q.take() {
		got = append(got, v)
		if v == 2 && q.put("a", 4) { // it is new again
			t.Error("somebody takes")
		}
	}
	if want := []int{2, 1, 3, 4}; !slices.Equal(got, want) {
		t.Errorf("want %v, got %v", want, got)
	}
	if !q.put("a", 5) {
		t.Error("nobody takes any more")
	}
}

func TestNewestDoesNotGrowWhileItIsTaken(t *testing.T) {
	var q newest[string, int]
	q.put("first", 0)
	for i := range 10_000 {
		q.put(fmt.Sprint(i%3), i)
		q.take()
	}
	if cap(q.order) > 64 || len(q.waiting) > 4 {
		t.Errorf("%d keys, %d values", cap(q.order), len(q.waiting))
	}
}
