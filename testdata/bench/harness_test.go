package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

const (
	initialize  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	orderArgs   = `{"symbol":"ACME","side":"buy","quantity":100,"limit":12.5,"note":"at the open"}`
)

// peer serves MCP over newline frames until ctx ends or r does.
type peer func(ctx context.Context, r io.ReadCloser, w io.WriteCloser)

// peers are the servers under test, by the name that benchmarks and child processes use.
var peers = map[string]peer{
	"floor":             serveFloor,
	"mcpkiln":           serveKiln,
	"go-sdk":            serveSDK,
	"mcp-go":            serveMCPGo(false),
	"mcp-go-validating": serveMCPGo(true),
}

// endpoints are the same over HTTP, and how to end one.
var endpoints = map[string]func() (handler http.Handler, end func()){
	"mcpkiln": httpKiln,
	"go-sdk":  httpSDK,
	"mcp-go":  httpMCPGo,
}

// inProcess and asChild order the peers of a run, so that benchstat shows them side by side.
var order = []string{"floor", "mcpkiln", "go-sdk", "mcp-go", "mcp-go-validating"}

// TestMain turns the test binary into a server when it is started as `bench.test -serve NAME`.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "-serve" {
		peers[os.Args[2]](context.Background(), os.Stdin, os.Stdout)
		return
	}
	os.Exit(m.Run())
}

// link is the client's end of a connection: whole lines, written and read by one goroutine.
type link struct {
	b   *testing.B
	w   io.WriteCloser
	r   *bufio.Reader
	buf []byte
}

// dialPipe starts the peer in this process.
func dialPipe(b *testing.B, name string) *link {
	l, hangUp := openPipe(b, name)
	b.Cleanup(hangUp)
	return l
}

// openPipe is dialPipe for a connection that ends before the benchmark does. hangUp returns when nothing of the peer runs any more.
func openPipe(b *testing.B, name string) (l *link, hangUp func()) {
	serverR, clientW := io.Pipe()
	clientR, serverW := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		peers[name](ctx, serverR, serverW)
	}()
	return handshake(b, clientW, clientR), func() {
		clientW.Close()
		go io.Copy(io.Discard, clientR)
		cancel()
		<-done
		clientR.Close() // whoever reads still ends
	}
}

// dialChild starts the peer as a child process on stdin and stdout.
func dialChild(b *testing.B, name string) *link {
	cmd := exec.Command(os.Args[0], "-serve", name)
	cmd.Stderr = os.Stderr
	w, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	r, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		w.Close()
		cmd.Wait()
	})
	return handshake(b, w, r)
}

func handshake(b *testing.B, w io.WriteCloser, r io.Reader) *link {
	l := &link{b: b, w: w, r: bufio.NewReaderSize(r, 1<<22)}
	l.send([]byte(initialize))
	l.receive()
	l.send([]byte(initialized))
	return l
}

// send writes one frame.
func (l *link) send(frame []byte) {
	l.buf = append(append(l.buf[:0], frame...), '\n')
	if _, err := l.w.Write(l.buf); err != nil {
		l.b.Fatal(err)
	}
}

// receive returns the next frame; it is valid until the next call.
func (l *link) receive() []byte {
	line, err := l.r.ReadSlice('\n')
	if err != nil {
		l.b.Fatal(err)
	}
	return line
}

// response skips notifications and fails on an error response.
func (l *link) response() []byte {
	for {
		line := l.receive()
		if bytes.Contains(line, []byte(`"error":`)) {
			l.b.Fatalf("answered %s", line)
		}
		if bytes.Contains(line, []byte(`"id":`)) {
			return line
		}
	}
}

// call is one tools/call frame with the id spliced in.
func call(buf []byte, id int, params string) []byte {
	buf = append(buf[:0], `{"jsonrpc":"2.0","id":`...)
	buf = strconv.AppendInt(buf, int64(id), 10)
	buf = append(buf, `,"method":"tools/call","params":`...)
	buf = append(buf, params...)
	return append(buf, '}')
}

// window keeps n calls in flight until b.N are answered.
func (l *link) window(n int, params string) {
	var frame []byte
	sent, answered := 0, 0
	next := func() {
		sent++
		frame = call(frame, sent, params)
		l.send(frame)
	}
	l.b.ReportAllocs()
	l.b.ResetTimer()
	for sent < min(n, l.b.N) {
		next()
	}
	for ; answered < l.b.N; answered++ {
		l.response()
		if sent < l.b.N {
			next()
		}
	}
	l.b.StopTimer()
}

func inFlight(n int) string { return fmt.Sprintf("inflight=%d", n) }
