// Package console shows a progress bar and forms for questions on the user's terminal. It draws on standard error, so that standard output has
// only results, and draws text of a server as plain.Text. It is for the commands that call tools.
package console

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"charm.land/bubbles/v2/progress"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// ErrInterrupted is what Ask returns when the user presses Ctrl-C in a form.
var ErrInterrupted = errors.New("interrupted")

// ErrDone is what Ask returns after Done.
var ErrDone = errors.New("the terminal shows no more")

// Terminal is the terminal of a user. Its methods are safe for concurrent use, and a nil one shows nothing.
type Terminal struct {
	in, out *os.File
	paint   io.Writer     // out, with the colours that it supports and the user wants (NO_COLOR)
	forms   chan struct{} // full while a form is open
	open    context.Context
	done    context.CancelFunc // ends open
	// withdrawn is whether the last form was closed without the user. It belongs to the holder of forms.
	withdrawn bool
	bar       progress.Model

	mu      sync.Mutex
	asking  bool
	later   []func() // what is printed when nothing is asked any more
	dropped int      // how much was not kept for later
	shown   bool
	drawn   time.Time // when it was last
	due     bool      // it is drawn again when its frame is over
	message string
	begun   time.Time
	first   client.Progress
	last    client.Progress
}

// barWidth is the width of the bar, in cells.
const barWidth = 24

// Open returns the terminal of a user who reads out and types into in; nil unless both are terminals.
func Open(in, out *os.File) *Terminal {
	if !term.IsTerminal(in.Fd()) || !term.IsTerminal(out.Fd()) {
		return nil
	}
	ctx, done := context.WithCancel(context.Background())
	return &Terminal{
		open: ctx, done: done,
		in: in, out: out, paint: colorprofile.NewWriter(out, os.Environ()), forms: make(chan struct{}, 1),
		bar: progress.New(progress.WithWidth(barWidth), progress.WithoutPercentage()),
	}
}

// Progress shows the progress of a call: a bar if the total is known, the value, its rate, and the server's message. A value that goes back, which
// the protocol forbids, is not drawn.
func (t *Terminal) Progress(p client.Progress) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.begun.IsZero() {
		t.begun, t.first = time.Now(), p
	}
	if p.Progress >= t.last.Progress {
		t.last = p
	}
	if p.Message != "" {
		t.message = p.Message
	}
	t.draw()
}

// Status shows the status message of a task.
func (t *Terminal) Status(message string) {
	if t == nil || message == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.message = message
	t.draw()
}

// Done closes an open form and waits until it is gone from the screen, so that it takes nothing with it that is printed next, and clears what else is
// shown. Nothing is asked after it.
func (t *Terminal) Done() {
	if t == nil {
		return
	}
	t.done()
	t.forms <- struct{}{}
	defer func() { <-t.forms }()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clear()
}

// maxLater is how many calls of Aside wait for the end of a form.
const maxLater = 1000

// Aside clears the progress line, which is drawn again, and calls print. While a form is open, which would draw over what is printed, it waits for its end;
// print is not called if too much waits.
func (t *Terminal) Aside(print func()) {
	if t == nil {
		print()
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.asking && len(t.later) < maxLater:
		t.later = append(t.later, print)
		return
	case t.asking:
		t.dropped++
		return
	}
	t.clear()
	print()
}

// frame is how long a line stays at least: a server may report progress thousands of times a second.
const frame = 50 * time.Millisecond

// draw redraws the line, at once or when its frame is over, unless a form is open. The caller holds the lock.
func (t *Terminal) draw() {
	if t.asking || t.due || os.Getenv("TERM") == "dumb" {
		return
	}
	if left := frame - time.Since(t.drawn); t.shown && left > 0 {
		t.due = true
		time.AfterFunc(left, func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			if t.due = false; t.shown {
				t.draw()
			}
		})
		return
	}
	t.drawn = time.Now()
	width, _, err := term.GetSize(t.out.Fd())
	if err != nil || width <= 0 {
		width = 80
	}
	t.shown = true
	_, _ = io.WriteString(t.paint, "\r"+ansi.Truncate(t.line(), width-1, "…")+ansi.EraseLineRight)
}

func (t *Terminal) clear() {
	if t.shown {
		t.shown = false
		_, _ = io.WriteString(t.paint, "\r"+ansi.EraseLineRight)
	}
}

// line returns the text of the progress line.
func (t *Terminal) line() string {
	var line string
	if !t.begun.IsZero() {
		line = numbers(t.first, t.last, time.Since(t.begun))
		if t.last.Total > 0 {
			line = t.bar.ViewAs(t.last.Progress/t.last.Total) + " " + line
		}
	}
	if t.message != "" && line != "" {
		line += "  "
	}
	return line + plain.Line(t.message)
}
