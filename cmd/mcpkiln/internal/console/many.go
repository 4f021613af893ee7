package console

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"
	"github.com/charmbracelet/x/ansi"
)

// many is the library's list of which several options are chosen. The library gives title and options together as many lines as there are options,
// so that the last options are not shown, and cuts long labels without a mark. Here it has lines for all, as far as the window has, and wraps labels.
type many struct {
	*huh.MultiSelect[int]
	picked       *[]int
	title, about string
	labels       []string
	labelWidth   int // in cells; 0 until the width of the window is known
}

func newMany(title, about string, labels []string, picked *[]int) *many {
	var options []huh.Option[int]
	for i, label := range labels {
		options = append(options, huh.NewOption(label, i))
	}
	m := &many{MultiSelect: huh.NewMultiSelect[int](), picked: picked, title: title, about: about, labels: labels}
	m.Description(about).Options(options...).Value(picked) // in this order the cursor is on the first option, where the list begins, and not on the first chosen one
	m.WithTheme(huh.ThemeFunc(m.theme))
	m.retitle()
	return m
}

// retitle says behind the title how many options are chosen: not all of them may be in the window.
func (m *many) retitle() { m.Title(m.titled(len(*m.picked))) }

func (m *many) titled(chosen int) string {
	return fmt.Sprintf("%s (%d of %d chosen)", m.title, chosen, len(m.labels))
}

func (m *many) theme(isDark bool) *huh.Styles {
	s := theme(isDark)
	for _, f := range []*huh.FieldStyles{&s.Focused, &s.Blurred} {
		f.SelectedOption = f.SelectedOption.Width(m.labelWidth)
		f.UnselectedOption = f.UnselectedOption.Width(m.labelWidth)
	}
	return s
}

// Update implements huh.Field.
func (m *many) Update(msg tea.Msg) (huh.Model, tea.Cmd) {
	_, cmd := m.MultiSelect.Update(msg)
	m.retitle()
	return m, cmd
}

// minLabelWidth is the least width of a label, in cells.
const minLabelWidth = 8

// WithWidth implements huh.Field.
func (m *many) WithWidth(width int) huh.Field {
	s := theme(true).Focused
	room := width - s.Base.GetHorizontalFrameSize()
	m.labelWidth = max(room-ansi.StringWidth(s.MultiSelectSelector.String()+s.SelectedPrefix.String()), minLabelWidth)
	s.Title, s.Description, s.SelectedOption = s.Title.Width(room), s.Description.Width(room), s.SelectedOption.Width(m.labelWidth)
	lines := []string{s.Title.Render(m.titled(len(m.labels)) + s.ErrorIndicator.String())}
	if m.about != "" {
		lines = append(lines, s.Description.Render(m.about))
	}
	for _, label := range m.labels {
		lines = append(lines, s.SelectedOption.Render(label))
	}
	m.MultiSelect.WithWidth(width)
	m.Height(strings.Count(strings.Join(lines, "\n"), "\n") + 1)
	return m
}
