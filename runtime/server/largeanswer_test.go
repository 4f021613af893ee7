package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/internal/wiretest"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// textOfBytes has characters of every kind that is written in a form of its own.
func textOfBytes(n int) string {
	return strings.ToValidUTF8(strings.Repeat("a\"b\\c\n\u2028é\x01 plain text ", n/24+1)[:n], "")
}

// wantText fails unless a result has a text as its output, and that output's text as its only content.
func wantText(t *testing.T, m message, text string, structured bool) {
	t.Helper()
	var answer struct {
		Result struct {
			Content           []struct{ Type, Text string }
			StructuredContent json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(m.raw), &answer); err != nil {
		t.Fatal(err)
	}
	output := string(appendEchoOutput(nil, &echoOutput{Text: text}))
	got := answer.Result
	if len(got.Content) != 1 || got.Content[0].Type != "text" || got.Content[0].Text != strings.ReplaceAll(output, "\u2028", `\u2028`) && got.Content[0].Text != output {
		t.Errorf("%d bytes: the content is not the output's text", len(text))
	}
	var own echoOutput
	if structured && (json.Unmarshal(got.StructuredContent, &own) != nil || own.Text != text) {
		t.Errorf("%d bytes: the structured content is not the output", len(text))
	}
	if !structured && got.StructuredContent != nil {
		t.Errorf("%d bytes: structured content where there is none", len(text))
	}
}

// An output is checked (VAL01) and its text made of it in every size, and in every revision.
func TestVAL01LargeOutputsAreAnsweredAsSmallOnes(t *testing.T) {
	older := wiretest.Revision20251125()
	older.AppendCallResult = func(b []byte, r *wire.CallResult) []byte {
		return append(append(append(b, `{"content":`...), r.Content...), '}')
	}
	for structuredContent, first := range map[bool]*wire.Revision{true: wiretest.Revision20251125(), false: older} {
		output := &echoOutput{}
		f := dual(t, Definition{Tools: []Tool{tool("echo", plain(func(context.Context, *Call) (*echoOutput, error) { return output, nil }))},
			Revisions: []*wire.Revision{first, wiretest.Revision20260728()}})
		c := f.dial(t.Context())
		c.initialize(`{}`)
		for i, n := range []int{0, 10, 4_000, 5_000, 70_000, 900_000, 20_000} {
			output.Text = textOfBytes(n)
			wantText(t, c.request(fmt.Sprint(i), "tools/call", `{`+callParams("echo", `{}`)+`}`), output.Text, structuredContent)
			wantText(t, f.ask(t.Context(), frame(1, "tools/call", nothing, callParams("echo", `{}`))), output.Text, true)
		}
		output.Text = strings.Repeat("x", 1<<20+1)
		c.request("9", "tools/call", `{`+callParams("echo", `{}`)+`}`).wantError(t, -32603, "the tool's output breaks its own schema")
	}
}

// Buffers are used again when their answer was written, not before.
func TestTSK28LargeAnswersShareNoBuffers(t *testing.T) {
	f := newFixture(t, []Tool{tool("echo", structured(echo))})
	var all sync.WaitGroup
	for i := range 4 {
		c := f.dial(t.Context())
		c.initialize(`{}`)
		all.Go(func() {
			for n := range 20 {
				text := strings.Repeat(fmt.Sprintf("call %d of %d\\n", n, i), 1_000*(1+(n+i)%8))
				m := c.request(fmt.Sprint(n), "tools/call", `{`+callParams("echo", `{"text":"`+text+`"}`)+`}`)
				wantText(t, m, strings.ReplaceAll(text, `\n`, "\n"), true)
			}
		})
	}
	all.Wait()
}

// countLines is a writer that tells of each line.
type countLines chan struct{}

func (c countLines) Write(b []byte) (int, error) {
	for range bytes.Count(b, []byte{'\n'}) {
		c <- struct{}{}
	}
	return len(b), nil
}

// largeCalls serves calls of a tool with an output of n bytes on a connection of lines; call makes one.
func largeCalls(tb testing.TB, n int) (call func()) {
	output := &echoOutput{Text: strings.Repeat("a line of text\n", n/15)}
	srv, err := New(Definition{Name: "test", Version: "1", Runtime: Generation1, Revisions: []*wire.Revision{wiretest.Revision20251125()},
		Tools: []Tool{tool("text", plain(func(context.Context, *Call) (*echoOutput, error) { return output, nil }))}})
	if err != nil {
		tb.Fatal(err)
	}
	in, requests := io.Pipe()
	answered, served := make(countLines), make(chan error)
	go func() { served <- srv.Serve(context.Background(), rpc.Lines(in, answered, in, rpc.LineOptions{})) }()
	tb.Cleanup(func() {
		requests.Close()
		<-served
		_ = srv.Shutdown(context.Background())
	})
	id := 0
	send := func(method, params string) {
		id++
		fmt.Fprintf(requests, `{"jsonrpc":"2.0","id":%d,"method":"%s","params":%s}`+"\n", id, method, params)
		<-answered
	}
	send("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`)
	return func() { send("tools/call", `{"name":"text"}`) }
}

func BenchmarkLargeAnswer(b *testing.B) {
	for _, n := range []int{20_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			call := largeCalls(b, n)
			b.ReportAllocs()
			for b.Loop() {
				call()
			}
		})
	}
}

// TestTSK28AnAnswerHoldsWhatItCounts: unread answers count with their length, so none has a buffer that is much larger.
func TestTSK28AnAnswerHoldsWhatItCounts(t *testing.T) {
	var l largeBuffers
	l.give(make([]byte, 0, largestBuffer))
	if b := l.grow(nil, keptBuffer); cap(b) > 4*keptBuffer {
		t.Errorf("an answer of %d bytes has a buffer of %d", keptBuffer, cap(b))
	}
	if b := l.grow(nil, largestBuffer-1); cap(b) != largestBuffer {
		t.Errorf("a large answer has a new buffer, of %d bytes", cap(b))
	}
}
