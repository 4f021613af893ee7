package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
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

// badReader panics where it is told to.
type badReader struct{ read, close bool }

func (r badReader) Read(b []byte) (int, error) {
	if r.read {
		panic("a secret of Read")
	}
	return 0, io.EOF
}

func (r badReader) Close() error {
	if r.close {
		panic("a secret of Close")
	}
	return nil
}

// What an opener returns is read after its handler has returned. It ends that call alone, wherever its answer goes to.
func TestTSK25APanicOfAnOpenerEndsItsCallAlone(t *testing.T) {
	for name, open := range map[string]Opener{
		"open":  func() (io.ReadCloser, error) { panic("a secret of open") },
		"Read":  func() (io.ReadCloser, error) { return badReader{read: true}, nil },
		"Close": func() (io.ReadCloser, error) { return badReader{read: true, close: true}, nil },
		"nil":   func() (io.ReadCloser, error) { return nil, nil },
	} {
		var log syncBuffer
		var o opened
		f := dual(t, Definition{Tools: []Tool{tool("bad", plain(func(_ context.Context, call *Call) (*echoOutput, error) {
			call.Content(ImageFrom("image/png", o.open), ImageFrom("image/png", open))
			return &echoOutput{"out"}, nil
		}), withTask(TaskOptional))}}, WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		c := f.dial(t.Context())
		c.initialize(nothing)
		c.call("1", "bad", `{}`)
		m, _ := c.answer("1")
		m.wantError(t, -32603)
		f.ask(t.Context(), frame(2, "tools/call", nothing, callParams("bad", `{}`))).wantError(t, -32603)
		c.fence()
		f.srv.records.Flush(t.Context())
		if o.n != 2 || o.closed != 2 {
			t.Errorf("%s: the other reader was opened %d times and closed %d times", name, o.n, o.closed)
		}
		if !strings.Contains(log.String(), "placeholder_test.go") || strings.Contains(m.raw, "secret") {
			t.Errorf("%s: answered %s, logged %s", name, m.raw, log.String())
		}
		f.await(t.Context(), f.create(t.Context(), "bad", `{}`, withTasks), task.Failed)
	}
}

// exits is a reader that ends its goroutine, as t.FailNow does.
type exits struct{}

func (exits) Read([]byte) (int, error) { runtime.Goexit(); return 0, nil }

// A reader that ends its goroutine leaves its call answered, its id free and its place to others.
func TestTSK25AReaderThatExits(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("bad", plain(func(_ context.Context, call *Call) (*echoOutput, error) {
		call.Content(ImageFrom("image/png", ReaderOf(exits{})))
		return &echoOutput{"out"}, nil
	}), withTask(TaskOptional))}})
	c := f.dial(t.Context())
	c.initialize(nothing)
	for range 2 {
		c.call("1", "bad", `{}`)
		m, _ := c.answer("1")
		m.wantError(t, -32603, "internal error")
	}
	f.await(t.Context(), f.create(t.Context(), "bad", `{}`, withTasks), task.Failed)
	if n := f.srv.opened.total(); n != 0 {
		t.Errorf("%d count as open", n)
	}
}

// A call that is cancelled closes its readers, in a goroutine of its own.
func TestTSK25AReaderThatPanicsWhenItsCallIsCancelled(t *testing.T) {
	var log syncBuffer
	last := &closedReader{read: make(chan struct{}), closed: make(chan struct{})}
	f := newFixture(t, []Tool{tool("bad", plain(func(_ context.Context, call *Call) (*echoOutput, error) {
		call.Content(ImageFrom("image/png", func() (io.ReadCloser, error) { return badReader{close: true}, nil }), ImageFrom("image/png", func() (io.ReadCloser, error) { return last, nil }))
		return &echoOutput{"out"}, nil
	}))}, WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	c := f.dial(t.Context())
	c.initialize(nothing)
	c.call("1", "bad", `{}`)
	<-last.read
	c.cancel("1")
	<-last.closed
	c.fence()
	f.srv.records.Flush(t.Context())
	if !strings.Contains(log.String(), "a secret of Close") || !strings.Contains(log.String(), "tool=bad") {
		t.Errorf("logged %s", log.String())
	}
}

// closedReader fails when it is closed.
type closedReader struct{ read, closed chan struct{} }

func (r *closedReader) Read([]byte) (int, error) {
	close(r.read)
	<-r.closed
	return 0, os.ErrClosed
}

func (r *closedReader) Close() error { close(r.closed); return nil }

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

// However many answers with large data wait for a client that does not read, few of them are opened and less is in files; another
// caller's answer is written as soon as there is room for it.
func TestTSK28FewOpenersWaitInFiles(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	synctest.Test(t, func(t *testing.T) {
		var open atomic.Int64
		release := make(chan struct{}) // as many are open as may be: none knows yet how large the answers of others were
		f := newFixture(t, []Tool{tool("big", plain(func(_ context.Context, call *Call) (*echoOutput, error) {
			call.Content(ImageFrom("image/png", func() (io.ReadCloser, error) {
				open.Add(1)
				<-release
				return io.NopCloser(strings.NewReader(strings.Repeat("x", 300<<10))), nil
			}))
			return &echoOutput{"out"}, nil
		}))}, WithMaxBytesUnread(1<<20))
		near, far := rpc.Pipe()
		served := make(chan error, 1)
		go func() { served <- f.srv.Serve(WithPrincipal(t.Context(), "silent"), far) }()
		silent := &client{t: t, conn: near, srv: f.srv}
		silent.send(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
		for i := range 2 * maxOpened {
			silent.call(fmt.Sprint(i), "big", `{}`)
		}
		synctest.Wait()
		close(release)
		synctest.Wait()
		if got, most := f.srv.files.total(), 6*f.srv.cfg.maxUnread; got == 0 || got > most {
			t.Errorf("%d bytes may be in files, want at most %d", got, most)
		}
		if n := open.Load(); n == 0 || n > maxOpened {
			t.Errorf("%d are opened, want at most %d", n, maxOpened)
		}
		other := f.dial(WithPrincipal(t.Context(), "other"))
		other.initialize(`{}`)
		other.call("1", "big", `{}`)
		m, _ := other.answer("1")
		m.wantNoError(t)
		near.Close()
		<-served
		other.close()
		synctest.Wait()
		f.counted()
	})
}

// untilDone is a reader that fails when its context ends.
type untilDone struct{ ctx context.Context }

func (r untilDone) Read([]byte) (int, error) {
	<-r.ctx.Done()
	return 0, r.ctx.Err()
}

// Answers that are not tools' (resources, for instance) begin without room for them, so only so many of them open their data at once.
func TestTSK28FewOpenersAreOpenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		silent := f.dial(WithPrincipal(t.Context(), "silent"))
		silent.initialize(nothing)
		f.srv.mu.Lock()
		var p *peer
		for _, p = range f.srv.peers {
		}
		f.srv.mu.Unlock()
		ctx, cancel := context.WithCancel(t.Context())
		var open, ended atomic.Int64
		for range 2 * maxOpened {
			go func() {
				defer ended.Add(1)
				r := f.srv.newRequest(p)
				defer r.release()
				r.ctx = ctx
				r.placeholders = []placeholder{{open: func() (io.ReadCloser, error) {
					open.Add(1)
					return io.NopCloser(untilDone{ctx}), nil
				}}}
				if _, err := r.fillPlaceholders([]byte{placeholderMark[0]}, 0); err == nil {
					t.Error("filled by nothing")
				}
			}()
		}
		synctest.Wait()
		if n := open.Load(); n == 0 || n > maxOpened/3 {
			t.Errorf("one caller has %d open, want at most %d", n, maxOpened/3)
		}
		cancel()
		synctest.Wait()
		if ended.Load() != 2*maxOpened {
			t.Errorf("%d of %d ended", ended.Load(), 2*maxOpened)
		}
		silent.close()
		synctest.Wait()
		f.counted()
	})
}

// Readers that ignore Close keep their places until they return. Who waits for one meanwhile is told so, and the log says what is wrong.
func TestTSK28ReadersThatDoNotEndAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		f := newFixture(t, nil, WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		silent := f.dial(WithPrincipal(t.Context(), "silent"))
		silent.initialize(nothing)
		p := f.srv.onlyPeer()
		stuck := make(chan struct{})
		fill := func() error {
			r := f.srv.newRequest(p)
			defer r.release()
			r.ctx = t.Context()
			r.placeholders = []placeholder{{open: func() (io.ReadCloser, error) {
				return io.NopCloser(readerFunc(func([]byte) (int, error) { <-stuck; return 0, io.EOF })), nil
			}}}
			_, err := r.fillPlaceholders([]byte{placeholderMark[0]}, 0)
			return err
		}
		ended := make(chan error, maxOpened)
		for range maxOpened / 2 {
			go func() { ended <- fill() }()
		}
		synctest.Wait()
		open := f.srv.opened.total()
		start := time.Now()
		for range maxOpened/2 - int(open) {
			if err := <-ended; !strings.Contains(fmt.Sprint(err), "no reader of other data has ended for 10s") {
				t.Fatal(err)
			}
		}
		if took := time.Since(start); took > maxOpening+2*checkEvery {
			t.Errorf("it took %v", took)
		}
		f.srv.records.Flush(t.Context())
		if !strings.Contains(log.String(), "Close has to end a Read that blocks") {
			t.Errorf("logged %s", log.String())
		}
		close(stuck)
		for range open {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		if err := fill(); err != nil {
			t.Errorf("the places are not free: %v", err)
		}
		silent.close()
		synctest.Wait()
		f.counted()
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// stuck is a reader that returns neither bytes nor an error.
type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

// A reader that goes on returning nothing is an error: nobody could end it (TSK28).
func TestTSK28AReaderWithoutProgressEnds(t *testing.T) {
	for name, copied := range map[string]func(io.Writer, io.Reader) error{"text": copyText, "base64": copyBase64} {
		if err := copied(io.Discard, stuck{}); !errors.Is(err, io.ErrNoProgress) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
