package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
)

// tally is a list of lines, each once, with how often it was added.
type tally struct {
	lines []string
	times map[string]int
}

// maxTallied is how many lines a tally tells apart. It adds no others.
const maxTallied = 1000

// add adds a line, and returns whether it is new.
func (t *tally) add(line string) bool {
	if t.times == nil {
		t.times = map[string]int{}
	}
	known := t.times[line] > 0
	if known || len(t.lines) < maxTallied {
		t.times[line]++
	}
	if !known && t.times[line] > 0 {
		t.lines = append(t.lines, line)
	}
	return !known
}

// all returns the lines with their numbers.
func (t *tally) all() (all []string) {
	for _, line := range t.lines {
		if n := t.times[line]; n > 1 {
			line += fmt.Sprintf(" (%d times)", n)
		}
		all = append(all, line)
	}
	return all
}

// eachOnce returns the messages of errors that are not nil, each once, with how often it is there.
func eachOnce(all []error) []string {
	var t tally
	for _, err := range all {
		if err != nil {
			t.add(err.Error())
		}
	}
	return t.all()
}

// warn prints a warning, if it is the first of its kind.
func (v *visit) warn(line string) {
	v.mu.Lock()
	first := v.warned.add(line)
	v.mu.Unlock()
	if first {
		v.aside("mcpkiln: " + line + "\n")
	}
}

// countWarnings says at the end of a visit which warnings were not the only ones of their kind.
func (v *visit) countWarnings() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i, line := range v.warned.all() {
		if line != v.warned.lines[i] {
			v.aside("mcpkiln: " + line + "\n")
		}
	}
}

// maxAlike is how many warnings of one kind are told apart: a server can write without end.
const maxAlike = 20

// amongAlike returns a warning, or in place of one of which there were many others of its kind, that there are more.
func (v *visit) amongAlike(kind, line string) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.alike == nil {
		v.alike = map[string]int{}
	}
	switch n := v.alike[kind]; {
	case v.warned.times[line] > 0:
	case n >= maxAlike:
		return kind + ": further ones are not shown"
	case n > 0 || len(v.alike) < maxTallied:
		v.alike[kind]++
	}
	return line
}

// warnings is a log handler that prints the warnings of a session as messages of the command, when --verbose is not given.
type warnings struct{ v *visit }

// Enabled implements slog.Handler.
func (warnings) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle implements slog.Handler.
func (w warnings) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "error", "text":
			text += ": " + strings.TrimPrefix(a.Value.String(), "client: ")
		default:
			text += fmt.Sprintf(" (%s %s)", a.Key, a.Value)
		}
		return true
	})
	w.v.warn(w.v.amongAlike(plain.Line(r.Message), plain.Line(text)))
	return nil
}

// WithAttrs implements slog.Handler. Sessions do not use it.
func (w warnings) WithAttrs([]slog.Attr) slog.Handler { return w }

// WithGroup implements slog.Handler. Sessions do not use it.
func (w warnings) WithGroup(string) slog.Handler { return w }
