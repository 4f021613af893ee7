package bench

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// started and ended tell the benchmark when a waiting handler began and when its context ended. The servers of
// BenchmarkCancel run in this process, one at a time.
var (
	started = make(chan struct{}, 1<<17)
	ended   = make(chan time.Time, 1<<17)

	answersAtOnce atomic.Bool // the next call of wait does not wait
)

// announce is the body of the wait tool.
func announce(ctx context.Context) error {
	if answersAtOnce.CompareAndSwap(true, false) {
		return nil
	}
	started <- struct{}{}
	<-ctx.Done()
	ended <- time.Now()
	return context.Cause(ctx)
}

// BenchmarkCancel is the time from writing a cancel notification to the end of the handler's context, with other calls
// in flight. mcp-go serves a hundred calls at once, so it takes part with one.
func BenchmarkCancel(b *testing.B) {
	for _, live := range []int{1, 100_000} {
		for _, name := range []string{"mcpkiln", "go-sdk", "mcp-go"} {
			if name == "mcp-go" && live > 1 {
				continue
			}
			b.Run(fmt.Sprintf("live=%d/%s", live, name), func(b *testing.B) {
				benchmarkCancel(b, dialPipe(b, name), live)
			})
		}
	}
}

func benchmarkCancel(b *testing.B, l *link, live int) {
	go l.discard()
	var frame []byte
	id := 0
	begin := func() {
		id++
		frame = call(frame, id, `{"name":"wait","arguments":{}}`)
		l.send(frame)
		<-started
	}
	for range live - 1 {
		begin()
	}
	took := make([]time.Duration, 0, b.N)
	b.ResetTimer()
	for range b.N {
		begin()
		cancel := fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id)
		at := time.Now()
		l.send(cancel)
		took = append(took, (<-ended).Sub(at))
	}
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
	b.ReportMetric(0, "ns/op")
	l.w.Close()
	for range live - 1 {
		<-ended
	}
}

// discard reads whatever comes until the connection ends.
func (l *link) discard() {
	for {
		if _, err := l.r.ReadSlice('\n'); err != nil {
			return
		}
	}
}

// BenchmarkTask is a task from its creation to its result, two requests.
func BenchmarkTask(b *testing.B) {
	for _, n := range []int{1, 64} {
		for _, name := range []string{"mcpkiln", "mcp-go"} {
			b.Run(inFlight(n)+"/"+name, func(b *testing.B) {
				benchmarkTask(b, dialPipe(b, name), n)
			})
		}
	}
}

func benchmarkTask(b *testing.B, l *link, n int) {
	var frame []byte
	id, sent, done := 0, 0, 0
	create := func() {
		id++
		sent++
		frame = call(frame, id, `{"name":"job","arguments":{},"task":{"ttl":60000}}`)
		l.send(frame)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for sent < min(n, b.N) {
		create()
	}
	for done < b.N {
		task, created := createdTask(l.response())
		switch {
		case created:
			id++
			l.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tasks/result","params":{"taskId":"%s"}}`, id, task))
		default:
			done++
			if sent < b.N {
				create()
			}
		}
	}
	b.StopTimer()
}

// createdTask returns the task id of a CreateTaskResult.
func createdTask(line []byte) ([]byte, bool) {
	_, rest, ok := bytes.Cut(line, []byte(`"task":{`))
	if !ok {
		return nil, false
	}
	_, rest, _ = bytes.Cut(rest, []byte(`"taskId":"`))
	id, _, ok := bytes.Cut(rest, []byte(`"`))
	return id, ok
}
