package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
)

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
	w.v.terminal.Done() // clears the progress bar, which is drawn again
	_, err := fmt.Fprintln(w.v.cmd.ErrOrStderr(), "mcpkiln:", plain.Line(text))
	return err
}

// WithAttrs implements slog.Handler. Sessions do not use it.
func (w warnings) WithAttrs([]slog.Attr) slog.Handler { return w }

// WithGroup implements slog.Handler. Sessions do not use it.
func (w warnings) WithGroup(string) slog.Handler { return w }
