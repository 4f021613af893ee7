package server

import (
	"bytes"
	"context"
	"encoding"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// LogQueue is a slog.Handler that never blocks: a goroutine of its own hands the records to another handler, in order. So a log that
// nobody reads, such as a full pipe, holds up no lock, call or connection. When too many records wait, new ones are dropped; how many
// is logged after the records that waited. The server and streamhttp put one before every logger that they are given.
type LogQueue struct {
	to   slog.Handler
	feed *logFeed // shared with the handlers that are made of this one
}

// The limits of records that wait; as many again may be on their way to the other handler.
const (
	maxLogRecords = 4096
	maxLogBytes   = 4 << 20
)

// NewLogQueue returns a queue before h, or h itself if it is a *LogQueue.
func NewLogQueue(h slog.Handler) *LogQueue {
	if q, ok := h.(*LogQueue); ok {
		return q
	}
	return &LogQueue{h, &logFeed{root: h}}
}

// Enabled implements slog.Handler.
func (q *LogQueue) Enabled(ctx context.Context, level slog.Level) bool {
	return q.to.Enabled(ctx, level)
}

// Handle implements slog.Handler. Values are copied as they are now: what they point to may change before they are written.
func (q *LogQueue) Handle(ctx context.Context, r slog.Record) error {
	taken := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	size := len(r.Message)
	r.Attrs(func(a slog.Attr) bool {
		taken.AddAttrs(frozen(a, &size))
		return true
	})
	q.feed.put(logRecord{context.WithoutCancel(ctx), q.to, taken}, size)
	return nil
}

// WithAttrs implements slog.Handler.
func (q *LogQueue) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &LogQueue{q.to.WithAttrs(attrs), q.feed}
}

// WithGroup implements slog.Handler.
func (q *LogQueue) WithGroup(name string) slog.Handler {
	return &LogQueue{q.to.WithGroup(name), q.feed}
}

// flushWait is how long Flush waits for a log that may have no reader.
const flushWait = time.Second

// Flush returns when nothing waits to be written any more, when ctx ends, or after a second. Call it before the process exits;
// Server.Run, Server.Shutdown and streamhttp's Shutdown do.
func (q *LogQueue) Flush(ctx context.Context) {
	limit := time.NewTimer(flushWait)
	defer limit.Stop()
	select {
	case <-q.feed.idle():
	case <-ctx.Done():
	case <-limit.C:
	}
}

type logRecord struct {
	ctx    context.Context
	to     slog.Handler
	record slog.Record
}

// logFeed holds the records that wait. It has a goroutine only while there are some.
type logFeed struct {
	root slog.Handler

	mu      sync.Mutex
	waiting []logRecord
	bytes   int // of waiting
	dropped int
	busy    chan struct{} // closed when nothing waits any more; nil then
}

func (f *logFeed) put(r logRecord, size int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.waiting) >= maxLogRecords || f.bytes > 0 && f.bytes+size > maxLogBytes {
		f.dropped++
		return
	}
	f.waiting, f.bytes = append(f.waiting, r), f.bytes+size
	if f.busy == nil {
		f.busy = make(chan struct{})
		go f.write()
	}
}

// idle returns a channel that is closed when nothing waits.
func (f *logFeed) idle() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.busy == nil {
		idle := make(chan struct{})
		close(idle)
		return idle
	}
	return f.busy
}

// take returns the records that wait, and how many were dropped after them. If there are none, the goroutine ends.
func (f *logFeed) take() (batch []logRecord, dropped int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	batch, dropped = f.waiting, f.dropped
	f.waiting, f.bytes, f.dropped = nil, 0, 0
	if len(batch) == 0 {
		close(f.busy)
		f.busy = nil
	}
	return batch, dropped
}

func (f *logFeed) write() {
	for {
		batch, dropped := f.take()
		if len(batch) == 0 {
			return
		}
		for i := range batch {
			handle(&batch[i])
			batch[i] = logRecord{}
		}
		if dropped > 0 {
			slog.New(f.root).Warn("log records dropped: too many waited to be written", "count", dropped)
		}
	}
}

// handle keeps a handler that panics from ending the process.
func handle(r *logRecord) {
	defer func() { _ = recover() }()
	_ = r.to.Handle(r.ctx, r.record)
}

// frozen returns a with values that no longer change, and adds to size about how many bytes the attribute has.
func frozen(a slog.Attr, size *int) slog.Attr {
	a.Value = a.Value.Resolve()
	*size += len(a.Key) + 16
	switch a.Value.Kind() {
	case slog.KindString:
		*size += len(a.Value.String())
	case slog.KindGroup:
		group := make([]slog.Attr, 0, len(a.Value.Group()))
		for _, member := range a.Value.Group() {
			group = append(group, frozen(member, size))
		}
		a.Value = slog.GroupValue(group...)
	case slog.KindAny:
		switch v := a.Value.Any().(type) {
		case nil, error:
		case []byte:
			*size += len(v)
			a.Value = slog.AnyValue(bytes.Clone(v))
		default:
			taken := snapshotOf(v)
			*size += len(taken.text) + len(taken.json)
			a.Value = slog.AnyValue(taken)
		}
	}
	return a
}

// snapshot is a value as slog's handlers for text and JSON write it.
type snapshot struct {
	text, json []byte
	textErr    error
	jsonErr    error
}

func snapshotOf(v any) (s snapshot) {
	defer func() {
		if p := recover(); p != nil {
			s.textErr = fmt.Errorf("the value panics: %v", p)
			s.jsonErr = s.textErr
		}
	}()
	if m, ok := v.(encoding.TextMarshaler); ok {
		s.text, s.textErr = m.MarshalText()
	} else {
		s.text = fmt.Appendf(nil, "%+v", v)
	}
	s.json, s.jsonErr = json.Marshal(v)
	return s
}

// MarshalText implements encoding.TextMarshaler.
func (s snapshot) MarshalText() ([]byte, error) { return s.text, s.textErr }

// MarshalJSON implements json.Marshaler.
func (s snapshot) MarshalJSON() ([]byte, error) { return s.json, s.jsonErr }

// String is for handlers that print with fmt.
func (s snapshot) String() string { return string(s.text) }
