package rate

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func TestLET03ABucketPassesItsRateAndItsBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := NewTable[string]()
		limit := Limit{PerSecond: 10, Burst: 5}
		passed := func(key string, n int) (ok int, wait time.Duration) {
			for range n {
				if w := table.Take(key, limit, 1); w == 0 {
					ok++
				} else {
					wait = w
				}
			}
			return ok, wait
		}
		if ok, wait := passed("a", 100); ok != 5 || wait != 100*time.Millisecond {
			t.Errorf("%d at once, then wait %v", ok, wait)
		}
		if ok, _ := passed("b", 100); ok != 5 {
			t.Errorf("another key: %d", ok)
		}
		time.Sleep(100 * time.Millisecond) // what it was told to wait
		if ok, _ := passed("a", 100); ok != 1 {
			t.Errorf("%d after a tenth of a second", ok)
		}
		time.Sleep(time.Hour)
		if ok, _ := passed("a", 100); ok != 5 {
			t.Errorf("%d after a pause", ok)
		}
		limit.PerSecond = -1
		if ok, _ := passed("a", 1000); ok != 1000 {
			t.Errorf("%d without a limit", ok)
		}
	})
}

func TestLET03FullBucketsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := NewTable[int]()
		for i := range 100_000 {
			table.Take(i, Limit{1000, 1}, 1)
			if i%1000 == 0 {
				time.Sleep(time.Second)
			}
		}
		kept := 0
		for i := range table.shards {
			kept += len(table.shards[i].buckets)
		}
		if kept > 2*smallTable*len(table.shards) {
			t.Errorf("%d buckets", kept)
		}
	})
}

func TestLET03TheLogCountsWhatIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		d := Digest{Summary: func(kind string, more int) { told = append(told, fmt.Sprintf("%s+%d", kind, more)) }}
		firsts := 0
		flood := func(kind string, n int) {
			for range n {
				if d.First(kind) {
					firsts++
				}
			}
		}
		flood("a", 3000)
		flood("b", 1)
		passes := func() {
			time.Sleep(2 * time.Second)
			synctest.Wait()
		}
		passes()
		flood("a", 2)
		passes()
		if got := fmt.Sprint(firsts, told); got != "3 [a+2999 a+1]" {
			t.Error(got)
		}
		for i := range 2 * maxKinds {
			flood(fmt.Sprint(i), 1)
		}
		passes()
		if got := told[len(told)-1]; got != fmt.Sprintf("+%d", maxKinds) {
			t.Error(got)
		}
	})
}

func BenchmarkTake(b *testing.B) {
	table := NewTable[string]()
	b.ReportAllocs()
	for b.Loop() {
		table.Take("principal:ada", Limit{1 << 30, 1 << 30}, 1)
	}
}
