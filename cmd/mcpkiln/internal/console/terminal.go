// Package console is the terminal of a person who waits: a bar for progress, and forms for questions. It writes to standard error, so that
// standard output holds results alone.
package console

import (
	"context"
	"errors"
	"os"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// ErrInterrupted is what Ask returns when the user presses Ctrl-C in a form.
var ErrInterrupted = errors.New("interrupted")

// Terminal is a terminal with a person. A nil one shows nothing.
type Terminal struct{}

// Open returns nil unless both are a terminal.
func Open(in, out *os.File) *Terminal { return nil }

// Progress shows how far a call is.
func (t *Terminal) Progress(p client.Progress) {}

// Status shows what a server says of a task.
func (t *Terminal) Status(message string) {}

// Done clears what is shown.
func (t *Terminal) Done() {}

// Ask has the user answer a question.
func (t *Terminal) Ask(ctx context.Context, q *client.Question) (*client.Answer, error) {
	return nil, nil
}
