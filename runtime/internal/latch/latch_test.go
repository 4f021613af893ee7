package latch

import (
	"sync"
	"testing"
)

// Whoever waits before, while or after a latch is closed goes on.
func TestALatchLetsAllGoOn(t *testing.T) {
	for range 1000 {
		var l Latch
		var all sync.WaitGroup
		if l.Closed() {
			t.Fatal("closed from the beginning")
		}
		for range 4 {
			all.Go(func() { <-l.Done() })
		}
		for range 2 {
			all.Go(l.Close)
		}
		all.Wait()
		<-l.Done()
		if !l.Closed() {
			t.Fatal("open in the end")
		}
	}
}
