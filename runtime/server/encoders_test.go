package server

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// However those who wait for a slot give up, no more have one than there are, and none is lost.
func TestTSK28SlotsOfEncodersAreNeitherLostNorMultiplied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e encoders
		e.open(3)
		var inside atomic.Int64
		full := false
		var all sync.WaitGroup
		var once sync.Once
		for range 2_000 {
			ctx, cancel := context.WithTimeoutCause(t.Context(), rand.N(40*time.Millisecond), errInternal)
			begin, hold := rand.N(200*time.Millisecond), rand.N(4*time.Millisecond)
			all.Go(func() {
				defer cancel()
				time.Sleep(begin)
				if err := e.enter(ctx); err != nil {
					if !errors.Is(err, errInternal) {
						t.Error(err)
					}
					return
				}
				if n := inside.Add(1); n > 3 {
					t.Errorf("%d at once", n)
				} else if n == 3 {
					once.Do(func() { full = true })
				}
				time.Sleep(hold)
				inside.Add(-1)
				e.leave()
			})
		}
		all.Wait()
		if !full || e.held() != 0 || len(e.granted) != 0 {
			t.Errorf("all taken: %t, then %d held, %d granted", full, e.held(), len(e.granted))
		}
	})
}
