package streamhttp

import (
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// A table has what a map would have, whether it has few entries or many, and an empty one keeps little room for a few.
func TestTSK28ATableIsAMap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	want := map[int]int{}
	for most := 1; most <= 3*fewEntries; most++ {
		var got table[int, int]
		for range 1000 {
			switch k := r.IntN(most); {
			case r.IntN(2) == 0:
				v := r.Int()
				got.set(k, v)
				want[k] = v
			default:
				got.delete(k)
				delete(want, k)
			}
			if k := r.IntN(most); got.size() != len(want) || got.get(k) != want[k] || !maps.Equal(maps.Collect(got.all), want) {
				t.Fatalf("%v, want %v", maps.Collect(got.all), want)
			}
		}
		for k := range want {
			got.delete(k)
		}
		clear(want)
		if got.size() != 0 || cap(got.few) > keptEntries {
			t.Fatalf("an empty table has %d entries, and room for %d", got.size(), cap(got.few))
		}
	}
}

func TestCAN05ATableTakesIDsInAnySpelling(t *testing.T) {
	var ids byID[string]
	spelt, err := rpc.ParseID([]byte("1.0"))
	if err != nil {
		t.Fatal(err)
	}
	ids.set(spelt, "one")
	if got := ids.get(rpc.IntID(1)); got != "one" {
		t.Errorf("1.0 is not 1: %q", got)
	}
	if ids.delete(rpc.IntID(1)); ids.size() != 0 {
		t.Error("1 did not remove 1.0")
	}
}
