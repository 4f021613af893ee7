package server

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/internal/wiretest"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// benchPeer is a client that writes frames and reads answers as cheaply as it can.
type benchPeer struct {
	b    *testing.B
	conn rpc.Conn
	buf  []byte
}

func (p *benchPeer) write(frame []byte) {
	if err := p.conn.WriteFrame(frame); err != nil {
		p.b.Fatal(err)
	}
}

func (p *benchPeer) read() []byte {
	frame, err := p.conn.ReadFrame(p.buf[:0])
	if err != nil {
		p.b.Fatal(err)
	}
	p.buf = frame
	return frame
}

func (p *benchPeer) handshake() {
	p.write([]byte(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`))
	p.read()
	p.write([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
}

func serveBench(b *testing.B, tools []Tool, opts ...Option) (*benchPeer, *Server) {
	b.Helper()
	srv, err := New(Definition{Name: "bench", Version: "1", Runtime: Generation1, Tools: tools, Revisions: []*wire.Revision{wiretest.Revision20251125()}}, opts...)
	if err != nil {
		b.Fatal(err)
	}
	near, far := rpc.Pipe()
	served := make(chan error, 1)
	go func() { served <- srv.Serve(context.Background(), far) }()
	b.Cleanup(func() {
		near.Close()
		<-served
		_ = srv.Shutdown(context.Background())
	})
	p := &benchPeer{b: b, conn: near}
	p.handshake()
	return p, srv
}

func appendCallFrame(b []byte, id int, name, extra string) []byte {
	return fmt.Appendf(b, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"text":"hello, world","count":3}%s}}`, id, name, extra)
}

// window keeps n calls in flight.
func (p *benchPeer) window(n int) {
	frames := make([][]byte, 1000)
	for i := range frames {
		frames[i] = appendCallFrame(nil, i, "echo", "")
	}
	p.b.ReportAllocs()
	sent := 0
	p.b.ResetTimer()
	for ; sent < min(n, p.b.N); sent++ {
		p.write(frames[sent%len(frames)])
	}
	for range p.b.N {
		p.read()
		if sent < p.b.N {
			p.write(frames[sent%len(frames)])
			sent++
		}
	}
}

func BenchmarkCall(b *testing.B) {
	for _, n := range []int{1, 64} {
		b.Run(fmt.Sprintf("inflight=%d", n), func(b *testing.B) {
			p, _ := serveBench(b, []Tool{tool("echo", structured(echo))})
			p.window(n)
		})
	}
}

// BenchmarkCallAround is BenchmarkCall with what can be put around a call and does nothing.
func BenchmarkCallAround(b *testing.B) {
	for _, row := range []struct {
		name string
		opts []Option
	}{
		{"nothing", nil},
		{"middleware", []Option{WithMiddleware(func(next Handle) Handle { return next })}},
		{"observer", []Option{WithObserver(func(Event) {})}},
		{"toolMiddleware", []Option{WithToolMiddleware(func(next ToolHandle) ToolHandle { return next })}},
	} {
		b.Run(row.name, func(b *testing.B) {
			p, _ := serveBench(b, []Tool{tool("echo", structured(echo))}, row.opts...)
			p.window(1)
		})
	}
}

// BenchmarkCallFloor is the least that a server with a goroutine per request and a registry does: it finds id and
// arguments in fixed places, validates nothing and writes a prepared answer.
func BenchmarkCallFloor(b *testing.B) {
	for _, n := range []int{1, 64} {
		b.Run(fmt.Sprintf("inflight=%d", n), func(b *testing.B) {
			near, far := rpc.Pipe()
			var wg sync.WaitGroup
			wg.Go(func() { floor(far) })
			p := &benchPeer{b: b, conn: near}
			p.window(n)
			near.Close()
			wg.Wait()
		})
	}
}

func floor(conn rpc.Conn) {
	var mu sync.Mutex
	registry := map[string]context.CancelFunc{}
	var wg sync.WaitGroup
	for {
		frame, err := conn.ReadFrame(nil)
		if err != nil {
			wg.Wait()
			return
		}
		rest := frame[len(`{"jsonrpc":"2.0","id":`):]
		id := string(rest[:bytes.IndexByte(rest, ',')])
		ctx, cancel := context.WithCancel(context.Background())
		mu.Lock()
		registry[id] = cancel
		mu.Unlock()
		wg.Go(func() {
			answer := append(append([]byte(`{"jsonrpc":"2.0","id":`), id...),
				`,"result":{"content":[{"type":"text","text":"{\"text\":\"hello, world\"}"}],"structuredContent":{"text":"hello, world"}}}`...)
			mu.Lock()
			delete(registry, id)
			mu.Unlock()
			if ctx.Err() == nil {
				_ = conn.WriteFrame(answer)
			}
			cancel()
		})
	}
}

func BenchmarkTaskCreateToResult(b *testing.B) {
	for _, n := range []int{1, 64} {
		b.Run(fmt.Sprintf("inflight=%d", n), func(b *testing.B) {
			p, _ := serveBench(b, []Tool{tool("echo", structured(echo), withTask(TaskOptional))},
				WithTaskLimits(task.Limits{Kept: -1, Running: -1, AllRunning: -1, Bytes: -1, AllBytes: -1}))
			b.ReportAllocs()
			started, finished := 0, 0
			start := func() {
				if started < b.N {
					p.write(appendCallFrame(nil, started, "echo", `,"task":{}`))
					started++
				}
			}
			b.ResetTimer()
			for range n {
				start()
			}
			for finished < b.N {
				frame := p.read()
				switch {
				case bytes.Contains(frame, []byte(`"result":{"task":{`)):
					_, id, _ := bytes.Cut(frame, []byte(`"taskId":"`))
					id, _, _ = bytes.Cut(id, []byte{'"'})
					p.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"%s","method":"tasks/result","params":{"taskId":"%s"}}`, id, id))
				case bytes.Contains(frame, []byte(`"result":{"content"`)):
					finished++
					start()
				case !bytes.Contains(frame, []byte(`"method":"notifications/tasks/status"`)):
					b.Fatalf("unexpected: %s", frame)
				}
			}
		})
	}
}

func BenchmarkCancelToDone(b *testing.B) {
	for _, live := range []int{1, 100_000} {
		b.Run(fmt.Sprintf("live=%d", live), func(b *testing.B) {
			ended := make(chan time.Time, 1)
			began := make(chan struct{}, live)
			p, _ := serveBench(b, []Tool{tool("hang", plain(func(ctx context.Context, _ *Call) (*echoOutput, error) {
				began <- struct{}{}
				<-ctx.Done()
				select {
				case ended <- time.Now():
				default:
				}
				return nil, ctx.Err()
			}))}, WithMaxInFlight(2*live+1000)) // a slot is free when its handler has returned
			for i := range live {
				p.write(appendCallFrame(nil, 1_000_000+i, "hang", ""))
				<-began
			}
			var total time.Duration
			b.ResetTimer()
			for i := range b.N {
				p.write(appendCallFrame(nil, i, "hang", ""))
				<-began
				frame := fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i)
				sent := time.Now()
				p.write(frame)
				total += (<-ended).Sub(sent)
			}
			b.ReportMetric(float64(total.Nanoseconds())/float64(b.N), "ns/cancel")
		})
	}
}
