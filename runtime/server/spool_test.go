package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// letters is a reader of n letters, which holds none of them.
type letters struct{ left int }

func (l *letters) Read(b []byte) (int, error) {
	n := min(len(b), l.left)
	for i := range b[:n] {
		b[i] = 'x'
	}
	if l.left -= n; n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (l *letters) Close() error { return nil }

// bigText is a tool whose result has a text of n letters from a reader.
func bigText(n int) Tool {
	return tool("big", plain(func(_ context.Context, call *Call) (*echoOutput, error) {
		call.Content(TextResourceFrom("x://y", "", func() (io.ReadCloser, error) { return &letters{n}, nil }))
		return &echoOutput{"out"}, nil
	}))
}

// An answer on a connection goes there from its file: it may be larger than what the server may have in memory, and is whole. What comes
// behind it comes after it.
func TestSRV04AnAnswerOnAConnectionIsCopiedFromItsFile(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	const n = 5 << 20
	f := newFixture(t, []Tool{bigText(n), tool("echo", structured(echo))}, WithMaxBytesUnread(1<<20))
	c := f.dialStateless(rpc.LineOptions{})
	c.initialize(nothing)
	for i := range 2 {
		c.call(fmt.Sprint(i), "big", `{}`)
		m, _ := c.answer(fmt.Sprint(i))
		if text := strings.Repeat("x", n); !strings.Contains(m.raw, `"text":"`+text+`"`) {
			t.Errorf("%.200s, %d bytes", m.raw, len(m.raw))
		}
		if m := c.request("3", "tools/call", `{`+callParams("echo", `{"text":"y"}`)+`}`); m.str("result", "structuredContent", "text") != "y" {
			t.Error(m.raw)
		}
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	c.close()
	f.counted()
}

// Where there is a file, its size is nothing that the server allocates.
func TestTSK28AnAnswerThatIsCopiedIsNotInMemory(t *testing.T) {
	const n = 64 << 20
	f := newFixture(t, []Tool{bigText(n)})
	up, fromClient := io.Pipe()
	fromServer, down := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- f.srv.Serve(t.Context(), rpc.Lines(up, down, closers{up, down}, rpc.LineOptions{})) }()
	buf := make([]byte, 64<<10)
	// line reads to the end of a line and returns its length.
	line := func() (size int) {
		for {
			k, err := fromServer.Read(buf)
			if err != nil {
				t.Fatal(err)
			}
			if size += k; bytes.IndexByte(buf[:k], '\n') >= 0 {
				return size
			}
		}
	}
	send := func(text string) { _, _ = io.WriteString(fromClient, text+"\n") }
	send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	line()
	send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"big","arguments":{}}}`)
	size := line()
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; size < n || got > n/16 {
		t.Errorf("an answer of %d bytes allocated %d", size, got)
	}
	_, _ = fromClient.Close(), fromServer.Close()
	<-served
}
