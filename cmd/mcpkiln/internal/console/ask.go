package console

import (
	"context"
	"errors"
	"os/exec"
	"runtime"
	"strconv"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// Ask has the user answer a question, one at a time: a form with the fields of its schema, or the address of a page that is opened in a
// browser. ESC declines. When ctx ends, the form closes.
func (t *Terminal) Ask(ctx context.Context, q *client.Question) (*client.Answer, error) {
	select {
	case t.forms <- struct{}{}:
		defer func() { <-t.forms }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	t.pause(true)
	defer t.pause(false)
	if q.URL != "" {
		return t.askPage(ctx, q)
	}
	return t.askForm(ctx, q)
}

// pause clears the progress line, and draws none as long as asking is true.
func (t *Terminal) pause(asking bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clear()
	t.asking = asking
}

// keysHelp names the keys that the help of the library's forms does not have.
const keysHelp = " (ESC declines, Ctrl-C interrupts)"

func (t *Terminal) askForm(ctx context.Context, q *client.Question) (*client.Answer, error) {
	fields, err := fieldsOf(q)
	if err != nil {
		return nil, err
	}
	agreed := true
	var shown []huh.Field
	for _, f := range fields {
		shown = append(shown, f.input)
	}
	if len(shown) == 0 { // nothing to fill in: ask for yes or no
		shown = append(shown, huh.NewConfirm().Title("Agree?").Value(&agreed))
	}
	group := huh.NewGroup(shown...).Title(plain.Line(q.Server) + " asks" + keysHelp).Description(plain.Text(q.Message))
	answered, err := t.run(ctx, group)
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

func (t *Terminal) askPage(ctx context.Context, q *client.Question) (*client.Answer, error) {
	open := false
	about := plain.Text(q.Message) + "\n\nhost:  " + host(q.Host) + "\npage:  " + plain.Line(q.URL)
	group := huh.NewGroup(huh.NewConfirm().Title(plain.Line(q.Server) + " asks you to open a page" + keysHelp).Description(about).
		Affirmative("Open it").Negative("Decline").Value(&open))
	answered, err := t.run(ctx, group)
	switch {
	case err != nil:
		return nil, err
	case !answered || !open:
		return &client.Answer{Action: client.Declined}, nil
	}
	browse(q.URL)
	return &client.Answer{Action: client.Accepted}, nil
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

// browse opens a page in a browser, without a shell. If there is none, the user has seen the address.
func browse(url string) {
	var cmd *exec.Cmd
	switch runtime.GOOS {
	case "darwin":
		cmd = exec.Command("open", url)
	case "windows":
		cmd = exec.Command("rundll32", "url.dll,FileProtocolHandler", url)
	default:
		cmd = exec.Command("xdg-open", url)
	}
	if cmd.Start() == nil {
		go func() { _ = cmd.Wait() }()
	}
}

// form is a form as a tea.Model. It clears itself from the screen when its question is withdrawn.
type form struct {
	*huh.Form
	gone     <-chan struct{}
	declined bool
	closed   bool
}

// withdrawn is the message that the question of a form was withdrawn.
type withdrawn struct{}

// Init implements tea.Model.
func (f *form) Init() tea.Cmd {
	return tea.Batch(f.Form.Init(), func() tea.Msg { <-f.gone; return withdrawn{} })
}

// Update implements tea.Model.
func (f *form) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case withdrawn:
		f.closed = true
	case tea.KeyPressMsg:
		f.declined = f.declined || msg.Code == tea.KeyEscape
	}
	if f.closed || f.declined {
		return f, tea.Quit
	}
	_, cmd := f.Form.Update(msg)
	return f, cmd
}

// View implements tea.Model.
func (f *form) View() tea.View {
	if f.closed || f.declined {
		return tea.NewView("")
	}
	return tea.NewView(f.Form.View())
}

// run shows a form. answered is false if the user has left it with ESC.
func (t *Terminal) run(ctx context.Context, group *huh.Group) (answered bool, err error) {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	f := &form{Form: huh.NewForm(group), gone: within.Done()}
	f.SubmitCmd, f.CancelCmd = tea.Quit, tea.Interrupt
	_, err = tea.NewProgram(f, tea.WithoutSignalHandler(), tea.WithInput(t.in), tea.WithOutput(t.out)).Run()
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case errors.Is(err, tea.ErrInterrupted):
		return false, ErrInterrupted
	}
	return err == nil && !f.declined, err
}
