package server

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// stuckWriter blocks each write until it is freed, like a full pipe.
type stuckWriter struct {
	began chan struct{} // closed by the first write
	free  chan struct{}
	once  sync.Once
	syncBuffer
}

func newStuckWriter() *stuckWriter {
	return &stuckWriter{began: make(chan struct{}), free: make(chan struct{})}
}

func (w *stuckWriter) Write(p []byte) (int, error) {
	w.once.Do(func() { close(w.began) })
	<-w.free
	return w.syncBuffer.Write(p)
}

func logTo(w *stuckWriter) Option {
	return WithLogger(slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug})))
}

// Everything that is logged while serving: nothing waits for the log.
func TestCAN21ALogThatNobodyReadsHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStuckWriter()
		h := newHold()
		f := newFixture(t, append(jobs(h),
			tool("talks", plain(func(_ context.Context, call *Call) (*echoOutput, error) {
				call.Log().Info("hello")
				return &echoOutput{}, nil
			})), tool("wide", structured(func(context.Context, *Call, *echoInput) (*echoOutput, error) {
				return &echoOutput{Text: strings.Repeat("x", 1<<20)}, nil
			})), tool("breaks", plain(func(context.Context, *Call) (*echoOutput, error) { panic("oh") }))),
			logTo(w), WithMaxBytesUnread(4<<20), WithTaskLimits(task.Limits{Running: 4}))
		c := f.dialTasks("me")
		<-w.began
		c.call(`"gone"`, "hang", `{}`)
		<-h.began
		c.cancel(`"gone"`)
		for range 10 {
			c.request("1", "tools/call", `{"name":"talks","arguments":{}}`)
			c.request("2", "tools/call", `{"name":"breaks","arguments":{}}`).wantError(t, -32603)
			c.request("3", "tasks/get", taskID("guessed")).wantError(t, -32602)
			c.request("4", "tools/call", `{"name":"wide","arguments":{"text":"x"}}`)
			c.request("5", "tasks/result", taskID(c.start("6", "quick", "")))
			c.send("no JSON")
		}
		began := time.Now()
		if err := f.srv.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		c.close()
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("the end took %v", took)
		}
		close(w.free)
		f.srv.records.Flush(t.Context())
		if got := strings.Count(w.String(), "task created"); got != 10 {
			t.Errorf("%d records of the audit, want 10", got)
		}
	})
}

// The process of a server ends within its grace, whatever becomes of the log.
func TestCAN21RunEndsWhileItsLogIsStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStuckWriter()
		f := newFixture(t, []Tool{tool("echo", structured(echo))}, logTo(w))
		near, far := rpc.Pipe()
		began := time.Now()
		ran := make(chan error, 1)
		go func() { ran <- f.srv.Run(t.Context(), far) }()
		c := newClient(t, near)
		c.initialize(`{}`)
		<-w.began
		near.Close()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("the end took %v", took)
		}
		close(w.free)
		<-c.read
	})
}

// What does not fit is counted, and the count is logged.
func TestTSK23DroppedRecordsAreCounted(t *testing.T) {
	for name, record := range map[string]struct {
		text string
		n    int
	}{"many": {"x", maxLogRecords + 7}, "large": {strings.Repeat("x", maxLogBytes/4), 4 + 7}} {
		w := newStuckWriter()
		q := NewLogQueue(slog.NewTextHandler(w, nil))
		log := slog.New(q)
		log.Info("first")
		<-w.began
		for range record.n {
			log.Info("next", "text", record.text)
		}
		close(w.free)
		q.Flush(t.Context())
		kept, lost := strings.Count(w.String(), "msg=next"), record.n-strings.Count(w.String(), "msg=next")
		if kept == 0 || lost < 7 || !strings.Contains(w.String(), "log records dropped") {
			t.Errorf("%s: %d written, %d dropped", name, kept, lost)
		}
	}
}

// A handler may change what it logged as soon as the log has it. What is written is what any handler of slog writes.
func TestLogQueueTakesValuesAsTheyAre(t *testing.T) {
	type point struct{ X, Y int }
	for name, handler := range map[string]func(*bytes.Buffer) slog.Handler{
		"text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, withoutTime) },
		"json": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, withoutTime) },
	} {
		var want, got bytes.Buffer
		p, list := &point{1, 2}, []byte("abc")
		write := func(h slog.Handler) {
			slog.New(h).With("with", *p).WithGroup("g").Warn("m", "p", p, "list", list, "err", errors.New("oh"), "n", 1,
				slog.Group("inner", "map", map[string]int{"a": 1}, "nil", nil), "level", slog.LevelWarn)
		}
		write(handler(&want))
		q := NewLogQueue(handler(&got))
		write(q)
		p.X, list[0] = 7, 'z'
		q.Flush(t.Context())
		if got.String() != want.String() {
			t.Errorf("%s:\n%s\nwant\n%s", name, &got, &want)
		}
	}
}

var withoutTime = &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}}

func TestLogQueueOutlivesAHandlerThatPanics(t *testing.T) {
	q := NewLogQueue(brokenHandler{slog.DiscardHandler})
	slog.New(q).Info("x")
	q.Flush(t.Context())
	if NewLogQueue(q) != q {
		t.Error("a queue before a queue")
	}
}

type brokenHandler struct{ slog.Handler }

func (brokenHandler) Enabled(context.Context, slog.Level) bool  { return true }
func (brokenHandler) Handle(context.Context, slog.Record) error { panic("oh") }
func (b brokenHandler) WithAttrs([]slog.Attr) slog.Handler      { return b }
func (b brokenHandler) WithGroup(string) slog.Handler           { return b }
