package bench

import "testing"

const placeOrder = `{"name":"place_order","arguments":` + orderArgs + `}`

// BenchmarkCallPipe is one validated tools/call through an in-process pipe. The client's share is the same for all.
func BenchmarkCallPipe(b *testing.B) { benchmarkCall(b, dialPipe) }

// BenchmarkCallChild is the same with the server as a child process on stdio.
func BenchmarkCallChild(b *testing.B) { benchmarkCall(b, dialChild) }

func benchmarkCall(b *testing.B, dial func(*testing.B, string) *link) {
	for _, n := range []int{1, 64} {
		for _, name := range order {
			b.Run(inFlight(n)+"/"+name, func(b *testing.B) {
				dial(b, name).window(n, placeOrder)
			})
		}
	}
}
