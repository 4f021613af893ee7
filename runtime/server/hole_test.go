package server

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// opened is an Opener that gives n bytes of a letter, and counts.
type opened struct{ n, closed int }

func (o *opened) open() (io.ReadCloser, error) {
	o.n++
	return &openedReader{o, strings.NewReader(strings.Repeat("x", 100<<10))}, nil
}

type openedReader struct {
	of *opened
	io.Reader
}

func (r *openedReader) Close() error { r.of.closed++; return nil }

// What a task's result has is read once, when its handler returns, and kept by the store; on a connection it is one frame.
func TestSRV04AnOpenerOfATaskAndOnAConnection(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	var o opened
	f := dual(t, Definition{Tools: []Tool{tool("big", plain(func(_ context.Context, call *Call) (*echoOutput, error) {
		call.Content(ImageFrom("image/png", o.open), TextResourceFrom("x://y", "", o.open))
		return &echoOutput{"out"}, nil
	}), withTask(TaskOptional))}})
	want := func(m message, path ...string) {
		t.Helper()
		content := m.field(append(path, "content")...)
		if !strings.Contains(content, strings.Repeat("eHh4", 30_000)) || !strings.Contains(content, strings.Repeat("x", 100<<10)) {
			t.Errorf("%.300s", m.raw)
		}
	}
	id := f.create(t.Context(), "big", `{}`, withTasks)
	want(f.await(t.Context(), id, task.Completed), "result", "result")
	if o.n != 2 || o.closed != 2 {
		t.Errorf("opened %d times, closed %d times", o.n, o.closed)
	}
	want(f.get(t.Context(), id), "result", "result")
	if o.n != 2 {
		t.Error("opened again for who reads the result")
	}
	c := f.dial(t.Context())
	c.initialize(nothing)
	c.call("1", "big", `{}`)
	m, _ := c.answer("1")
	want(m, "result")
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestSRV04OpenersThatAreNotNeededAreNotOpened(t *testing.T) {
	var o opened
	f := dual(t, Definition{Tools: []Tool{
		tool("wrong", plain(func(_ context.Context, call *Call) (*echoOutput, error) {
			call.Content(ImageFrom("image/png", o.open), ImageFrom("", o.open))
			return &echoOutput{"out"}, nil
		})),
		tool("fails", plain(func(_ context.Context, call *Call) (*echoOutput, error) {
			call.Content(ImageFrom("image/png", o.open))
			return nil, errors.New("failed")
		})),
		tool("none", plain(func(_ context.Context, call *Call) (*echoOutput, error) {
			call.Content(ImageFrom("image/png", nil))
			return &echoOutput{"out"}, nil
		})),
	}})
	for _, name := range []string{"wrong", "none"} {
		f.ask(t.Context(), frame(1, "tools/call", nothing, callParams(name, `{}`))).wantError(t, -32603, "can not be sent")
	}
	if m := f.ask(t.Context(), frame(1, "tools/call", nothing, callParams("fails", `{}`))); m.field("result", "isError") != "true" {
		t.Error(m.raw)
	}
	if o.n != 0 {
		t.Errorf("opened %d times", o.n)
	}
}

func TestTextIsEscapedInPiecesThatEndAnywhere(t *testing.T) {
	for _, text := range []string{"", "a", "größer €𝄞\"\n", "\xff\xe2\x82", strings.Repeat("€", 20<<10), "\xf0\x9d\x84"} {
		for name, reader := range map[string]io.Reader{"whole": strings.NewReader(text), "byte by byte": iotest.OneByteReader(strings.NewReader(text)),
			"end with data": iotest.DataErrReader(strings.NewReader(text))} {
			var got strings.Builder
			if err := copyText(&got, reader); err != nil {
				t.Fatal(err)
			}
			if want := string(appendTextBlock(nil, text)); `{"type":"text","text":"`+got.String()+`"}` != want {
				t.Errorf("%.20q, %s: %.100q", text, name, got.String())
			}
		}
	}
}
