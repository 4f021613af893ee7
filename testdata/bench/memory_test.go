package bench

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// held is how many there are at once of what BenchmarkHeld measures: enough for tables and free lists not to count.
const held = 20_000

// BenchmarkHeld is the memory that a server holds for each of many that wait or are kept: heap and, beside it, stacks of goroutines. mcp-go has no
// waiting calls here, since it serves a hundred at once, and no tasks, since it now and then answers one of so many with an error; the official SDK has no
// tasks. The runtime's descriptors of goroutines are not in it: they
// are never freed, so whoever came later would have those of the one before.
func BenchmarkHeld(b *testing.B) {
	startGoroutines(4 * held)
	for _, name := range []string{"mcpkiln", "go-sdk"} {
		b.Run("waiting-call/"+name, func(b *testing.B) { benchmarkHeld(b, name, holdCalls) })
	}
	for _, name := range []string{"mcpkiln", "go-sdk", "mcp-go"} {
		b.Run("idle-session/"+name, func(b *testing.B) { benchmarkHeld(b, name, holdSessions) })
	}
	b.Run("finished-task/mcpkiln", func(b *testing.B) { benchmarkHeld(b, "mcpkiln", holdTasks) })
}

// hold starts a server, calls measure with a function that makes it hold one more, and ends the server.
type hold func(b *testing.B, name string, measure func(one func()))

func benchmarkHeld(b *testing.B, name string, of hold) {
	var heap, stack int64
	for range b.N {
		of(b, name, func(one func()) {
			one() // what is made once does not count
			before := memory()
			for range held {
				one()
			}
			after := memory()
			runtime.KeepAlive(one) // and the client
			heap += int64(after.HeapAlloc) - int64(before.HeapAlloc)
			stack += int64(after.StackInuse) - int64(before.StackInuse)
		})
	}
	each := float64(b.N) * held
	b.ReportMetric(float64(heap)/each, "heap-B")
	b.ReportMetric(float64(max(stack, 0))/each, "stack-B") // less than before is noise
	b.ReportMetric(0, "ns/op")
}

// startGoroutines leaves descriptors of n goroutines to be used again.
func startGoroutines(n int) {
	begun := make(chan struct{})
	var all sync.WaitGroup
	for range n {
		all.Go(func() { <-begun })
	}
	close(begun)
	all.Wait()
}

// memory is what is in use when nothing is left to collect: a first collection moves what is in pools aside, and a second one frees it.
func memory() (m runtime.MemStats) {
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m
}

// holdCalls has calls wait in their handlers, on one connection. One was answered before: mcpkiln begins few runs at once of a handler whose outputs have
// an unknown size.
func holdCalls(b *testing.B, name string, measure func(one func())) {
	l, hangUp := openPipe(b, name)
	var frame []byte
	id := 0
	send := func() {
		id++
		frame = call(frame, id, `{"name":"wait","arguments":{}}`)
		l.send(frame)
	}
	answersAtOnce.Store(true)
	send()
	l.response()
	var reader sync.WaitGroup
	reader.Go(l.discard)
	measure(func() {
		send()
		<-started
	})
	hangUp()
	reader.Wait() // it has the client's buffer
	for range id - 1 {
		<-ended
	}
}

// holdTasks has tasks finished and their results read, on one connection.
func holdTasks(b *testing.B, name string, measure func(one func())) {
	l, hangUp := openPipe(b, name)
	defer hangUp()
	var frame []byte
	id := 0
	measure(func() {
		id++
		frame = call(frame, id, `{"name":"job","arguments":{},"task":{"ttl":3600000}}`)
		l.send(frame)
		task, created := createdTask(l.response())
		if !created {
			b.Fatal("no task was created")
		}
		id++
		l.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tasks/result","params":{"taskId":"%s"}}`, id, task))
		l.response()
	})
}

// holdSessions has clients connect over HTTP and then do nothing.
func holdSessions(b *testing.B, name string, measure func(one func())) {
	handler, end := endpoints[name]()
	defer end()
	post := func(session, body string) *http.Response {
		r := httptest.NewRequest(http.MethodPost, "http://localhost/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
			r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code >= http.StatusBadRequest {
			b.Fatalf("%d %s", w.Code, w.Body)
		}
		return w.Result()
	}
	measure(func() {
		post(post("", initialize).Header.Get("Mcp-Session-Id"), initialized)
	})
}
