package console

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"
)

// form is a form as a tea.Model. It clears itself from the screen when its question is withdrawn.
type form struct {
	*huh.Form
	// head returns the lines above the fields for a window, such as who asks. They are always on the screen.
	head          func(width, height int) []string
	width, height int
	gone          <-chan struct{}
	instead       bool // it is shown instead of one that was withdrawn
	dropped       int  // number of keys that came too early
	heard         bool // keys are meant for it
	declined      bool
	closed        bool
}

// withdrawn is the message that the question of a form was withdrawn.
type withdrawn struct{}

// hear is the message that keys are heard, unless more than this number were dropped meanwhile.
type hear int

// How long no key may come before keys of the user are heard: those that come sooner were typed before, and answer nothing. A form is not shown until
// then. One instead of another is, at once, and the user has time to see that it is another.
const (
	pauseBefore = 200 * time.Millisecond
	pauseAfter  = 1500 * time.Millisecond
)

// Init implements tea.Model.
func (f *form) Init() tea.Cmd {
	return tea.Batch(f.Form.Init(), func() tea.Msg { <-f.gone; return withdrawn{} }, f.wait())
}

// wait sends hear after the pause.
func (f *form) wait() tea.Cmd {
	pause, dropped := pauseBefore, hear(f.dropped)
	if f.instead {
		pause = pauseAfter
	}
	return tea.Tick(pause, func(time.Time) tea.Msg { return dropped })
}

// drop drops a key, which begins the pause anew.
func (f *form) drop() tea.Cmd {
	f.dropped++
	return f.wait()
}

// Update implements tea.Model.
func (f *form) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch typed := msg.(type) {
	case withdrawn:
		f.closed = true
	case hear:
		f.heard = f.heard || int(typed) == f.dropped
	case tea.PasteMsg:
		if !f.heard {
			return f, f.drop()
		}
	case tea.KeyPressMsg:
		if !f.heard && typed.String() != "ctrl+c" {
			return f, f.drop()
		}
		if f.State != huh.StateNormal { // it is answered
			return f, nil
		}
		f.declined = f.declined || typed.Code == tea.KeyEscape && !f.filters()
	case tea.WindowSizeMsg:
		f.width, f.height = defaultSize(typed.Width, typed.Height)
		msg = tea.WindowSizeMsg{Width: f.width, Height: f.room()}
	}
	if f.closed || f.declined {
		return f, tea.Quit
	}
	typed, isKey := msg.(tea.KeyPressMsg)
	moves := isKey && key.Matches(typed, f.GetFocusedField().KeyBinds()...)
	_, cmd := f.Form.Update(msg)
	if moves {
		within, done := context.WithTimeout(context.Background(), settling)
		defer done()
		cmd = f.settle(within, cmd)
	}
	return f, cmd
}

// settling is how long a key waits for what the one before it leads to. The blinking of a cursor takes longer, and is not waited for.
const settling = 100 * time.Millisecond

// settle does at once what a key leads to, such as the move to the next field. Done later, it would come after keys that were read together with this one,
// which would change the field that the user has left. It returns what is left to be done.
func (f *form) settle(within context.Context, cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	came := make(chan tea.Msg, 1)
	go func() { came <- cmd() }()
	select {
	case <-within.Done():
		return func() tea.Msg { return <-came }
	case msg := <-came:
		if several, ok := msg.(tea.BatchMsg); ok {
			var left []tea.Cmd
			for _, one := range several {
				left = append(left, f.settle(within, one))
			}
			return tea.Batch(left...)
		}
		if msg == nil || reflect.TypeOf(msg).PkgPath() != reflect.TypeFor[huh.Form]().PkgPath() {
			return func() tea.Msg { return msg }
		}
		_, next := f.Form.Update(msg)
		return f.settle(within, next)
	}
}

// filters reports whether a filter for choices is typed, which ESC ends.
func (f *form) filters() bool {
	field, ok := f.GetFocusedField().(interface{ GetFiltering() bool })
	return ok && field.GetFiltering()
}

// minRoom is how many lines the fields have at least, of which the library draws one more than it counts.
const minRoom = 7

// room returns how many lines are left for the fields.
func (f *form) room() int { return max(f.height-len(f.above())-1, minRoom-1) }

// above returns the lines above the fields.
func (f *form) above() []string {
	if !f.instead || f.heard {
		return f.head(f.width, f.height)
	}
	note := wrapped("This is another question: keys count when none has come for "+pauseAfter.String()+".", f.width-1)
	return append(append(f.head(f.width, f.height-len(note)-1), note...), "")
}

// View implements tea.Model.
func (f *form) View() tea.View {
	if f.closed || f.declined || !f.heard && !f.instead || f.State != huh.StateNormal {
		return tea.NewView("")
	}
	head := f.above()
	fields := strings.Split(f.Form.View(), "\n")
	fields = fields[:min(len(fields), max(f.height-len(head), 1))] // what is too high loses its first lines, which say who asks
	return tea.NewView(strings.Join(append(head, fields...), "\n"))
}

// theme is that of the library, with the chosen one of two buttons marked: without colours it could not be told.
func theme(isDark bool) *huh.Styles {
	s := huh.ThemeCharm(isDark)
	for _, f := range []*huh.FieldStyles{&s.Focused, &s.Blurred} {
		f.FocusedButton = f.FocusedButton.Transform(func(text string) string { return "[" + text + "]" })
	}
	return s
}

// keyMap is that of the library, without a second meaning of ESC.
func keyMap() *huh.KeyMap {
	keys := huh.NewDefaultKeyMap()
	clear := key.NewBinding(key.WithKeys("ctrl+l"), key.WithHelp("ctrl+l", "clear filter"), key.WithDisabled())
	keys.Select.ClearFilter, keys.MultiSelect.ClearFilter = clear, clear
	return keys
}

// run shows a form. answered is false if the user has left it with ESC.
func (t *Terminal) run(ctx context.Context, head func(width, height int) []string, fields ...huh.Field) (answered bool, err error) {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	f := &form{Form: huh.NewForm(huh.NewGroup(fields...)).WithTheme(huh.ThemeFunc(theme)).WithKeyMap(keyMap()), head: head, gone: within.Done(), instead: t.withdrawn}
	f.width, f.height = t.size()
	f.SubmitCmd, f.CancelCmd = tea.Quit, tea.Interrupt
	_, err = tea.NewProgram(f, tea.WithoutSignalHandler(), tea.WithInput(t.in), tea.WithOutput(t.out)).Run()
	t.withdrawn = ctx.Err() != nil
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case errors.Is(err, tea.ErrInterrupted):
		return false, ErrInterrupted
	}
	return err == nil && !f.declined, err
}
