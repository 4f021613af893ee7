package server

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/internal/wiretest"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// readers makes Openers with ReaderOf, and counts how often each reader is closed.
type readers struct {
	mu     sync.Mutex
	closed []int
}

func (r *readers) reader() Opener {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = append(r.closed, 0)
	return ReaderOf(&givenReader{strings.NewReader("data"), r, len(r.closed) - 1})
}

func (r *readers) image() Block { return ImageFrom("image/png", r.reader()) }

type givenReader struct {
	io.Reader
	of *readers
	i  int
}

func (r *givenReader) Close() error {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	r.of.closed[r.i]++
	return nil
}

// wantClosed checks the readers that were made since the last time.
func (r *readers) wantClosed(t *testing.T, where string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.closed) == 0 {
		t.Errorf("%s: no reader was made", where)
	}
	for i, n := range r.closed {
		if n != 1 {
			t.Errorf("%s: reader %d of %d was closed %d times", where, i, len(r.closed), n)
		}
	}
	r.closed = nil
}

// invalidBlock is a block that breaks a rule.
func invalidBlock() Block { return Image("", nil) }

// unsent are tools that give readers which are not sent, but for the first one.
func (r *readers) unsent() map[string]func(ctx context.Context, call *Call) (*echoOutput, error) {
	return map[string]func(ctx context.Context, call *Call) (*echoOutput, error){
		"are sent": func(_ context.Context, call *Call) (*echoOutput, error) {
			call.Content(r.image(), r.image())
			return &echoOutput{"out"}, nil
		},
		"fails": func(_ context.Context, call *Call) (*echoOutput, error) {
			call.Content(r.image(), r.image())
			return nil, errors.New("failed")
		},
		"fails with a code": func(_ context.Context, call *Call) (*echoOutput, error) {
			call.Content(r.image())
			return nil, rpc.Errorf(4000, "failed")
		},
		"panics": func(_ context.Context, call *Call) (*echoOutput, error) {
			call.Content(r.image())
			panic("no")
		},
		"ends its goroutine": func(_ context.Context, call *Call) (*echoOutput, error) {
			call.Content(r.image())
			runtime.Goexit()
			return nil, nil
		},
		"adds an invalid block": func(_ context.Context, call *Call) (*echoOutput, error) {
			call.Content(r.image(), invalidBlock())
			return &echoOutput{"out"}, nil
		},
		"has no output": func(_ context.Context, call *Call) (*echoOutput, error) {
			call.Content(r.image())
			return nil, nil
		},
		"asks": func(ctx context.Context, call *Call) (*echoOutput, error) {
			call.Content(r.image())
			_, err := Ask(ctx, call, confirmQuestion(), "")
			return nil, err
		},
		"does not stop where it asks": func(ctx context.Context, call *Call) (*echoOutput, error) {
			_, _ = Ask(ctx, call, confirmQuestion(), "")
			call.Content(r.image())
			return &echoOutput{"out"}, nil
		},
		"fails with blocks, one invalid": func(context.Context, *Call) (*echoOutput, error) {
			return nil, &ToolError{Message: "failed", Content: []Block{r.image(), invalidBlock()}}
		},
		"fails with blocks and a code": func(context.Context, *Call) (*echoOutput, error) {
			return nil, &ToolError{Content: []Block{r.image()}, Err: rpc.Errorf(4000, "failed")}
		},
	}
}

// What ReaderOf has is closed once, whatever the tool does and wherever its answer goes to: also if the revision has no such block.
func TestTSK25SRV04ReadersOfAToolAreClosed(t *testing.T) {
	var r readers
	for name, run := range r.unsent() {
		d := Definition{Tools: []Tool{tool("any", plain(run))}}
		f := dual(t, d)
		served := make(chan struct{})
		go func() { // a handler may end it
			defer close(served)
			f.exchange(t.Context(), frame(1, "tools/call", forms, callParams("any", `{}`)))
		}()
		<-served
		r.wantClosed(t, name+", in an exchange")
		imageless := wiretest.Revision20251125()
		imageless.AppendImageBlock = nil
		d.Revisions = []*wire.Revision{imageless}
		for where, f := range map[string]*fixture{"on a connection": f, "without such blocks": dual(t, d)} {
			c := f.dial(t.Context())
			c.initialize(nothing)
			c.call("1", "any", `{}`)
			c.answer("1")
			c.close()
			r.wantClosed(t, name+", "+where)
		}
	}
}

func TestTSK25SRV04ReadersOfATaskAreClosed(t *testing.T) {
	var r readers
	for name, run := range r.unsent() {
		synctest.Test(t, func(t *testing.T) {
			f := dual(t, Definition{Tools: []Tool{tool("any", plain(run), withTask(TaskRequired))}})
			f.create(t.Context(), "any", `{}`, tasksAsks)
			synctest.Wait()
			_ = f.srv.Shutdown(t.Context()) // ends a run that asks
			synctest.Wait()
			r.wantClosed(t, name)
		})
	}
}

func TestTSK25SRV04ReadersThatMiddlewareDropsAreClosed(t *testing.T) {
	var r readers
	for name, row := range map[string]struct {
		run  func(ctx context.Context, call *Call) (*echoOutput, error)
		wrap Option
	}{
		"another result": {r.unsent()["are sent"], wrapping("tools/call", func(ctx context.Context, next Handle, m *Message) (*MessageResult, error) {
			_, _ = next(ctx, m)
			return ResultOf([]byte(`{"content":[],"structuredContent":{"text":"own"}}`)), nil
		})},
		"an error": {r.unsent()["are sent"], wrapping("tools/call", func(ctx context.Context, next Handle, m *Message) (*MessageResult, error) {
			_, _ = next(ctx, m)
			return nil, errors.New("no")
		})},
		"a panic": {r.unsent()["are sent"], wrapping("tools/call", func(ctx context.Context, next Handle, m *Message) (*MessageResult, error) {
			_, _ = next(ctx, m)
			panic("no")
		})},
		"an output in place of an error": {r.unsent()["fails with blocks and a code"], WithToolMiddleware(func(next ToolHandle) ToolHandle {
			return func(ctx context.Context, call *Call, in any) (any, error) {
				_, _ = next(ctx, call, in)
				return &echoOutput{"own"}, nil
			}
		})},
	} {
		f := dual(t, Definition{Tools: []Tool{tool("any", plain(row.run))}}, row.wrap)
		f.exchange(t.Context(), frame(1, "tools/call", forms, callParams("any", `{}`)))
		r.wantClosed(t, name)
	}
}

// An answer that waits to open its data may be over before it does.
func TestTSK25SRV04ReadersThatWaitAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r readers
		f := dual(t, Definition{Tools: []Tool{tool("any", plain(r.unsent()["are sent"]))}})
		c := f.dial(t.Context())
		c.initialize(nothing)
		for _, end := range []func(){func() { c.cancel("1") }, func() {}} { // the second one is refused after a while (maxOpening)
			var others share
			f.srv.opened.change(&others, maxOpened)
			c.call("1", "any", `{}`)
			synctest.Wait()
			end()
			c.fence()
			synctest.Wait()
			if len(c.inFlight("any")) > 0 {
				c.answer("1")
			}
			f.srv.opened.change(&others, -maxOpened)
			synctest.Wait()
			r.wantClosed(t, "an answer that waits")
		}
	})
}

// What is added to a call that is over is sent by nothing.
func TestTSK25SRV04ReadersThatComeTooLateAreClosed(t *testing.T) {
	var r readers
	for _, before := range []func(*Call){func(*Call) {}, func(call *Call) { call.Summary("a summary") }} {
		var call *Call
		f := dual(t, Definition{Tools: []Tool{tool("any", plain(func(_ context.Context, c *Call) (*echoOutput, error) {
			before(c)
			call = c
			return &echoOutput{"out"}, nil
		}))}})
		f.ask(t.Context(), frame(1, "tools/call", nothing, callParams("any", `{}`)))
		call.Content(r.image())
		r.wantClosed(t, "late")
	}
}

// exitsOnClose is a reader whose Close ends its goroutine.
type exitsOnClose struct{ exits }

func (exitsOnClose) Close() error { runtime.Goexit(); return nil }

// A reader that ends the goroutine which closes it keeps neither the others open nor what its request counts in.
func TestTSK25SRV04AReaderWhoseCloseExits(t *testing.T) {
	var r readers
	synctest.Test(t, func(t *testing.T) {
		f := dual(t, Definition{Tools: []Tool{tool("any", plain(func(_ context.Context, call *Call) (*echoOutput, error) {
			call.Content(ImageFrom("image/png", ReaderOf(exitsOnClose{})), r.image())
			return nil, errors.New("failed")
		}), withTask(TaskOptional))}})
		c := f.dial(t.Context())
		c.initialize(nothing)
		for _, id := range []string{"1", "2"} {
			c.call(id, "any", `{}`)
			if m, _ := c.answer(id); m.field("result", "isError") != "true" {
				t.Error(m.raw)
			}
		}
		f.create(t.Context(), "any", `{}`, withTasks)
		c.close()
		synctest.Wait()
		r.wantClosed(t, "beside it")
		f.counted()
	})
}
