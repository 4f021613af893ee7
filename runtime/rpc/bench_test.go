package rpc

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

const callFrame = `{"method":"tools/call","params":{"name":"get_quote","arguments":{"symbol":"ACME","depth":3,"venues":["a","b"]},"_meta":{"progressToken":7}},"jsonrpc":"2.0","id":12345}`

func BenchmarkParse(b *testing.B) {
	frames := map[string]string{"int": callFrame, "string": strings.Replace(callFrame, "12345", `"f81d4fae-7dec-11d0-a765-00a0c91e6bf6"`, 1),
		"large": strings.Replace(callFrame, `"ACME"`, `"`+strings.Repeat("ACME ", 20_000)+`"`, 1)}
	for _, name := range []string{"int", "string", "large"} {
		b.Run("id="+name, func(b *testing.B) {
			frame := []byte(frames[name])
			b.ReportAllocs()
			b.SetBytes(int64(len(frame)))
			for b.Loop() {
				if _, err := Parse(frame, check.Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("encoding/json", func(b *testing.B) { // the usual way, for comparison
		b.ReportAllocs()
		for b.Loop() {
			var m struct {
				JSONRPC string          `json:"jsonrpc"`
				ID      json.RawMessage `json:"id"`
				Method  string          `json:"method"`
				Params  json.RawMessage `json:"params"`
			}
			if err := json.Unmarshal([]byte(callFrame), &m); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// write sends b.N frames from so many goroutines through a pipe of the operating system that is read as fast as it can be.
func write(b *testing.B, writers int, open func(w io.WriteCloser) (send func([]byte), done func())) {
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	drained := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, r)
		close(drained)
	}()
	send, done := open(w)
	frame := []byte(`{"jsonrpc":"2.0","id":12345,"result":{"content":[{"type":"text","text":"hello"}]}}`)
	b.ReportAllocs()
	b.ResetTimer()
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			for n := i; n < b.N; n += writers {
				send(frame)
			}
		})
	}
	all.Wait()
	done()
	w.Close()
	<-drained
	r.Close()
}

func BenchmarkLinesWrite(b *testing.B) {
	kinds := map[string]func(w io.WriteCloser) (func([]byte), func()){
		"group": func(w io.WriteCloser) (func([]byte), func()) {
			c := Lines(strings.NewReader(""), w, nil, LineOptions{})
			return func(frame []byte) { _ = c.WriteFrame(frame) }, func() { _ = c.Close() }
		},
		"mutex": func(w io.WriteCloser) (func([]byte), func()) {
			var mu sync.Mutex
			var line []byte
			return func(frame []byte) {
				mu.Lock()
				line = append(append(line[:0], frame...), '\n')
				_, _ = w.Write(line)
				mu.Unlock()
			}, func() {}
		},
		"goroutine": func(w io.WriteCloser) (func([]byte), func()) {
			lines, done := make(chan []byte, 256), make(chan struct{})
			go func() {
				for line := range lines {
					_, _ = w.Write(line)
				}
				close(done)
			}()
			return func(frame []byte) { lines <- append(append([]byte(nil), frame...), '\n') }, func() { close(lines); <-done }
		},
	}
	for _, kind := range []string{"group", "mutex", "goroutine"} {
		for _, writers := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/writers=%d", kind, writers), func(b *testing.B) { write(b, writers, kinds[kind]) })
		}
	}
}

// BenchmarkRoundTrip sends a frame and gets it back.
func BenchmarkRoundTrip(b *testing.B) {
	pairs := map[string]func(b *testing.B) (client, server Conn){
		"pipe": func(*testing.B) (Conn, Conn) { return Pipe() },
		"lines": func(b *testing.B) (Conn, Conn) {
			upR, upW, err1 := os.Pipe()
			downR, downW, err2 := os.Pipe()
			if err1 != nil || err2 != nil {
				b.Fatal(err1, err2)
			}
			return Lines(downR, upW, upW, LineOptions{}), Lines(upR, downW, downW, LineOptions{})
		},
	}
	for _, kind := range []string{"pipe", "lines"} {
		b.Run(kind, func(b *testing.B) {
			client, server := pairs[kind](b)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				var buf []byte
				for {
					var err error
					if buf, err = server.ReadFrame(buf); err != nil {
						return
					}
					_ = server.WriteFrame(buf)
				}
			}()
			var buf []byte
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if err = client.WriteFrame([]byte(callFrame)); err == nil {
					buf, err = client.ReadFrame(buf)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			_ = client.Close()
			<-ended
			_ = server.Close()
		})
	}
}
