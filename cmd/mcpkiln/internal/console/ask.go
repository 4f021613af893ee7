package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"charm.land/huh/v2"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// Ask has the user answer a question, one at a time: a form with the fields of its schema, or the address of a page that is opened in a
// browser. The server's text is marked and stands above what this program says: who asks, and for what. ESC declines. When ctx ends, the form closes.
// Ctrl-C does what Done does.
func (t *Terminal) Ask(ctx context.Context, q *client.Question) (*client.Answer, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(t.open, func() { cancel(ErrDone) })()
	select {
	case t.forms <- struct{}{}:
		defer func() { <-t.forms }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil || t.open.Err() != nil {
		return nil, cmp.Or(context.Cause(ctx), ErrDone)
	}
	t.pause(true)
	defer t.pause(false)
	if strings.TrimSpace(q.Message) != "" {
		t.quote(plain.Line(q.Server)+" says:", q.Message, maxQuoted)
	}
	show := t.askForm
	if q.URL != "" {
		show = t.askPage
	}
	a, err := show(ctx, q)
	var why *client.Cause
	switch {
	case errors.Is(err, ErrInterrupted):
		t.done()
	case errors.As(err, &why) && (why.Source == inflight.SourcePeer || why.Source == inflight.SourceTimeout):
		_, _ = fmt.Fprintln(t.paint, "mcpkiln: the question was withdrawn, and no answer was sent")
	}
	return a, err
}

// pause clears the progress line. As long as asking is true none is drawn, and nothing is printed aside.
func (t *Terminal) pause(asking bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clear()
	t.asking = asking
	if !asking {
		for _, print := range t.later {
			print()
		}
		if t.dropped > 0 {
			_, _ = fmt.Fprintf(t.out, "mcpkiln: %d more were not kept while the question was open\n", t.dropped)
		}
		t.later, t.dropped = nil, 0
	}
}

// keysHelp names the keys that the help of the library's forms does not have.
const keysHelp = " (ESC declines, Ctrl-C interrupts)"

func (t *Terminal) askForm(ctx context.Context, q *client.Question) (*client.Answer, error) {
	fields, err := fieldsOf(q)
	if err != nil {
		return nil, err
	}
	var shown []huh.Field
	for _, f := range fields {
		shown = append(shown, f.input)
	}
	agreed := len(shown) > 0
	if !agreed { // nothing to fill in: ask for yes or no
		shown = append(shown, huh.NewConfirm().Title("Agree?").Value(&agreed))
	}
	answered, err := t.run(ctx, func(width, _ int) []string { return who(q, " asks", width) }, shown...)
	switch {
	case err != nil:
		return nil, err
	case !answered || !agreed:
		return &client.Answer{Action: client.Declined}, nil
	}
	content := map[string]any{}
	for _, f := range fields {
		if value, ok := f.value(); ok {
			content[f.name] = value
		}
	}
	return &client.Answer{Action: client.Accepted, Content: content}, nil
}

// who returns the lines that say who asks.
func who(q *client.Question, asks string, width int) []string {
	return append(wrapped(plain.Line(q.Server)+asks+keysHelp, width-1), "")
}

func (t *Terminal) askPage(ctx context.Context, q *client.Question) (*client.Answer, error) {
	if _, whole := page(q, " asks you to open a page", t.size); !whole {
		t.quote("the address of the page:", q.URL, 0)
	}
	agreed, err := t.agree(ctx, q, " asks you to open a page", "Open it")
	if err == nil && agreed && browse(ctx, q.URL) != nil {
		agreed, err = t.agree(ctx, q, " asks you to open a page, and no browser was found here: open it yourself", "It is open")
	}
	switch {
	case err != nil:
		return nil, err
	case !agreed:
		return &client.Answer{Action: client.Declined}, nil
	}
	return &client.Answer{Action: client.Accepted}, nil
}

// agree asks whether the user agrees to a page, whose host and address are shown.
func (t *Terminal) agree(ctx context.Context, q *client.Question, asks, yes string) (bool, error) {
	agreed := false
	head := func(width, height int) []string {
		lines, _ := page(q, asks, func() (int, int) { return width, height })
		return lines
	}
	answered, err := t.run(ctx, head, huh.NewConfirm().Affirmative(yes).Negative("Decline").Value(&agreed))
	return answered && agreed, err
}

// page returns the lines that say who asks to open which page, and whether a window has room for the whole address.
func page(q *client.Question, asks string, size func() (width, height int)) (lines []string, whole bool) {
	width, height := size()
	lines = wrapped(plain.Line(q.Server)+asks+keysHelp, width-1)
	lines = append(lines, "")
	lines = append(lines, labelled("host:  ", host(q.Host), width)...)
	address := labelled("page:  ", plain.Line(q.URL), width)
	room := max(height-len(lines)-minRoom-1, 1)
	if whole = len(address) <= room; !whole {
		address = append(address[:max(room-2, 1)], wrapped("… too long for this window: the whole address stands above", width-1)...)
	}
	return append(append(lines, address...), ""), whole
}

// labelled returns the lines of a text behind a label.
func labelled(label, text string, width int) []string {
	lines := wrapped(text, width-len(label)-1)
	for i := range lines {
		lines[i] = label + lines[i]
		label = strings.Repeat(" ", len(label))
	}
	return lines
}

// host returns a host to show, quoted with escapes if it is not ASCII: its letters can look like others.
func host(name string) string {
	for _, r := range name {
		if r >= 0x80 {
			return strconv.QuoteToASCII(name) + " (not all of its letters are ASCII)"
		}
	}
	return plain.Line(name)
}

// browserTime is how long a program that opens pages may take to say that it has found no browser.
const browserTime = 2 * time.Second

// browse opens a page in a browser, without a shell. It returns an error if there is none.
func browse(ctx context.Context, url string) error {
	var cmd *exec.Cmd
	switch runtime.GOOS {
	case "darwin":
		cmd = exec.Command("open", url)
	case "windows":
		cmd = exec.Command("rundll32", "url.dll,FileProtocolHandler", url)
	default:
		cmd = exec.Command("xdg-open", url)
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-time.After(browserTime): // it is the browser itself
	case <-ctx.Done():
	}
	return nil
}
