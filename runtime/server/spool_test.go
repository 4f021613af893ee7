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
	"testing/synctest"
	"time"

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

// So does the array of a batch with one, as a whole.
func TestCAN24SRV04ALongAnswerOfABatchIsCopied(t *testing.T) {
	const n = 2 << 20
	f := batchFixture(t, []Tool{bigText(n), tool("echo", structured(echo))}, WithMaxBytesUnread(16*n)) // the files of both have room
	c := f.dialStateless(rpc.LineOptions{})
	c.request("0", "initialize", `{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`)
	for range 3 {
		c.send(`[` + ping("1") + `,` + callFrame("2", "big") + `,` + callFrame("3", "big") + `]`)
		got := c.array()
		for id, want := range map[string]string{"1": `{}`, "2": strings.Repeat("x", n), "3": strings.Repeat("x", n)} {
			if !strings.Contains(got[id], want) {
				t.Errorf("%s: %.200s", id, got[id])
			}
		}
	}
	c.close()
	f.counted()
}

func callFrame(id, tool string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{` + callParams(tool, `{}`) + `}}`
}

// lineReader is a client of lines that keeps nothing of what it reads.
type lineReader struct {
	t      *testing.T
	in     *io.PipeReader
	out    *io.PipeWriter
	buf    []byte
	served chan error
}

func (f *fixture) dialReader() *lineReader { return f.dialReaderAs("2025-11-25") }

func (f *fixture) dialReaderAs(version string) *lineReader {
	return f.dialReaderOf(f.t.Context(), version)
}

func (f *fixture) dialReaderOf(ctx context.Context, version string) *lineReader {
	up, fromClient := io.Pipe()
	fromServer, down := io.Pipe()
	c := &lineReader{f.t, fromServer, fromClient, make([]byte, 64<<10), make(chan error, 1)}
	go func() {
		c.served <- f.srv.Serve(ctx, rpc.Lines(up, down, closers{up, down}, rpc.LineOptions{}))
	}()
	c.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	c.line(func() {})
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

func (c *lineReader) send(text string) { _, _ = io.WriteString(c.out, text+"\n") }

// line reads to the end of a line and returns its length. It calls pause after each piece.
func (c *lineReader) line(pause func()) (size int) {
	c.t.Helper()
	for {
		n, err := c.in.Read(c.buf)
		if err != nil {
			c.t.Fatalf("after %d bytes: %v", size, err)
		}
		if size += n; bytes.IndexByte(c.buf[:n], '\n') >= 0 {
			return size
		}
		pause()
	}
}

func (c *lineReader) close() {
	_, _ = c.in.Close(), c.out.Close()
	<-c.served
}

// Where there is a file, its size is nothing that the server allocates.
func TestTSK28AnAnswerThatIsCopiedIsNotInMemory(t *testing.T) {
	const n = 64 << 20
	c := newFixture(t, []Tool{bigText(n)}).dialReader()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"big","arguments":{}}}`)
	size := c.line(func() {})
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; size < n || got > n/16 {
		t.Errorf("an answer of %d bytes allocated %d", size, got)
	}
	c.close()
}

// LET11: a client that reads a long answer, or an array with one, is there, although it does not see the ping behind it.
func TestLET11WhoReadsAnAnswerThatIsCopiedIsNotSilent(t *testing.T) {
	for _, text := range []string{callFrame("1", "big"), `[` + callFrame("1", "big") + `]`} {
		synctest.Test(t, func(t *testing.T) {
			c := batchFixture(t, []Tool{bigText(1 << 20)}, WithPing(time.Second)).dialReaderAs("2025-03-26")
			c.send(text)
			if size := c.line(func() { time.Sleep(time.Second / 2) }); size < 1<<20 {
				t.Errorf("%d bytes", size)
			}
			c.close()
		})
	}
}

// Clients that read nothing of answers that are copied do not keep others waiting: their connections end (TSK28).
func TestTSK28WhoDoesNotReadACopyBlocksNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, []Tool{bigText(100 << 10)}, WithMaxBytesUnread(1<<20))
		call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"big","arguments":{}}}`
		var silent []*lineReader
		for range 20 {
			c := f.dialReader()
			c.send(call)
			silent = append(silent, c)
		}
		synctest.Wait()
		c, start := f.dialReader(), time.Now()
		c.send(call)
		if size := c.line(func() {}); size < 100<<10 || time.Since(start) > time.Minute {
			t.Errorf("%d bytes after %v", size, time.Since(start))
		}
		c.close()
		for _, c := range silent {
			c.close()
		}
	})
}
