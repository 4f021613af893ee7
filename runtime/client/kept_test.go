package client

import "testing"

// Of the streams that are kept only those count that are still open: one that has ended makes room, and then the oldest is closed.
func TestCAN15AStreamThatHasEndedIsNotKept(t *testing.T) {
	l := &httpLink{}
	var released []int
	keep := func(n int) *stream {
		st := &stream{}
		l.keep(st, &l.kept, func() { released = append(released, n) })
		return st
	}
	keep(0)
	for n := range 3 * maxKept {
		l.forget(keep(n))
	}
	if len(released) > 0 {
		t.Fatalf("%d were closed", len(released))
	}
	for n := range maxKept {
		defer l.forget(keep(n + 1)) // the first of them is closed by then
	}
	keep(maxKept + 1)
	if len(released) != 2 || released[0] != 0 || released[1] != 1 || l.kept.Len() != maxKept {
		t.Errorf("%v were closed, %d are kept", released, l.kept.Len())
	}
}
