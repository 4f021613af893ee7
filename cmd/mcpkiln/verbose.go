package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"log/slog"
	"sync"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// logLevel is the level of the log records that --verbose shows, of this side and of the server.
const logLevel = "info"

// beVerbose has --verbose show what a server on a pipe writes to its standard error, and the log records of both sides.
func (v *visit) beVerbose(t client.Transport) []client.Option {
	if p, ok := t.(*client.Process); ok {
		p.Stderr = &v.stderr
	}
	v.stderr.show = v.aside
	log := slog.NewTextHandler(asides{v}, &slog.HandlerOptions{Level: slog.LevelInfo, ReplaceAttr: withoutTime})
	return []client.Option{client.WithLogger(slog.New(log)), client.WithLogLevel(logLevel)}
}

func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// logged shows a log record of the server, on one line.
func (v *visit) logged(level, logger string, data json.RawMessage) {
	text := plain.Line(cmp.Or(level, "log"))
	if logger != "" {
		text += " " + plain.Line(logger)
	}
	v.aside(plain.Quote(text+": "+jsonLine(data)) + "\n")
}

// aside prints text that belongs to no result, when no form is open that it would be drawn into.
func (v *visit) aside(text string) {
	v.terminal.Aside(func() { _, _ = io.WriteString(v.cmd.ErrOrStderr(), text) })
}

// asides is a writer of whole lines that are printed aside.
type asides struct{ v *visit }

// Write implements io.Writer.
func (a asides) Write(p []byte) (int, error) {
	a.v.aside(string(p))
	return len(p), nil
}

// maxLine is how long a line of a server's standard error may be, in bytes, before what there is of it is shown.
const maxLine = 4 << 10

// serverLines is a writer for the standard error of a server, which comes in pieces: it shows whole lines, marked.
type serverLines struct {
	show func(text string)
	mu   sync.Mutex
	rest []byte // the line that is not at its end
}

// Write implements io.Writer.
func (s *serverLines) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rest = append(s.rest, p...)
	end := bytes.LastIndexByte(s.rest, '\n') + 1
	if len(s.rest)-end > maxLine {
		end = len(s.rest)
	}
	s.print(end)
	return len(p), nil
}

// flush shows a last line that has no end.
func (s *serverLines) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.print(len(s.rest))
}

func (s *serverLines) print(end int) {
	if end > 0 {
		s.show(plain.Quote(string(s.rest[:end])) + "\n")
		s.rest = append(s.rest[:0], s.rest[end:]...)
	}
}
