package console

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"charm.land/huh/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// field is one field of a form.
type field struct {
	name  string
	input huh.Field
	value func() (value any, ok bool) // the user's input; false if empty
}

// property is the schema of a field.
type property struct {
	Title, Description, Type, Format string
	Default                          json.RawMessage
	Enum, EnumNames                  []string
	OneOf, AnyOf                     []choice
	Items                            *property
}

type choice struct{ Const, Title string }

// maxFields limits the fields of a form: nobody would fill in more.
const maxFields = 200

// fieldsOf makes the fields of a question, in the order of its schema.
func fieldsOf(q *client.Question) ([]field, error) {
	var s struct {
		Properties json.RawMessage
		Required   []string
	}
	if q.Schema == nil {
		return nil, nil
	}
	if err := json.Unmarshal(q.Schema, &s); err != nil {
		return nil, fmt.Errorf("the form can not be read: %.200s", q.Schema)
	}
	names, err := keys(s.Properties)
	if err != nil || len(names) > maxFields {
		return nil, errors.Join(err, fmt.Errorf("the form has %d fields", len(names)))
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(s.Properties, &raw); s.Properties != nil && err != nil {
		return nil, err
	}
	var all []field
	for _, name := range names {
		var p property
		if err := json.Unmarshal(raw[name], &p); err != nil {
			return nil, fmt.Errorf("the field %s can not be read: %.200s", name, raw[name])
		}
		all = append(all, p.field(&rule{name, raw[name], slices.Contains(s.Required, name)}))
	}
	return all, nil
}

// keys returns the names of an object's members, in their order.
func keys(object json.RawMessage) (names []string, err error) {
	if object == nil {
		return nil, nil
	}
	d := json.NewDecoder(strings.NewReader(string(object)))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		names = append(names, fmt.Sprint(name))
		var skip json.RawMessage
		if err := d.Decode(&skip); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// rule validates the value of one field by the schema of the form.
type rule struct {
	name     string
	schema   json.RawMessage
	required bool
}

// check returns an error for an invalid value.
func (r *rule) check(value any) error {
	one, err := json.Marshal(map[string]any{"type": "object", "properties": map[string]json.RawMessage{r.name: r.schema}})
	if err != nil {
		return err
	}
	_, err = (&client.Question{Schema: one}).Complete(map[string]any{r.name: value})
	if err == nil {
		return nil
	}
	return errors.New(short(strings.TrimPrefix(err.Error(), r.name+": "), maxAbout))
}

// Limits of a server's texts in a form, in cells: nothing pushes the choice off the screen, or has lines that look like those of this program.
const (
	maxLabel = 120
	maxAbout = 300
)

// short returns a text on one line, cut to limit cells.
func short(text string, limit int) string { return ansi.Truncate(plain.Line(text), limit, "…") }

// field makes the field of a property.
func (p *property) field(r *rule) field {
	switch {
	case p.Type == "boolean":
		return p.confirm(r)
	case p.Type == "array" && p.Items != nil && len(p.Items.choices()) > 0:
		return p.chooseMany(r)
	case len(p.choices()) > 0:
		return p.choose(r)
	}
	return p.text(r)
}

func (p *property) title(r *rule) string {
	title := short(cmp.Or(plain.Line(p.Title), r.name), maxLabel)
	if r.required {
		title += " *"
	}
	return title
}

func (p *property) confirm(r *rule) field {
	var yes bool
	_ = json.Unmarshal(p.Default, &yes)
	input := huh.NewConfirm().Title(p.title(r)).Description(short(p.Description, maxAbout)).Value(&yes)
	return field{r.name, input, func() (any, bool) { return yes, true }}
}

// choices returns the values that enum, oneOf or anyOf list, with their titles.
func (p *property) choices() (all []choice) {
	for i, value := range p.Enum {
		c := choice{value, value}
		if i < len(p.EnumNames) {
			c.Title = p.EnumNames[i]
		}
		all = append(all, c)
	}
	for _, c := range slices.Concat(p.OneOf, p.AnyOf) {
		if c.Title == "" {
			c.Title = c.Const
		}
		all = append(all, c)
	}
	return all
}

// labels returns the labels of choices. No two are equal, because the list of several takes equal labels for one option: if titles are, all have a number
// and their value.
func labels(all []choice) (labels []string) {
	for _, c := range all {
		labels = append(labels, short(cmp.Or(plain.Line(c.Title), c.Const), maxLabel))
	}
	if len(slices.Compact(slices.Sorted(slices.Values(labels)))) == len(all) {
		return labels
	}
	for i, c := range all {
		labels[i] = fmt.Sprintf("%d: %s (%s)", i+1, short(c.Title, maxLabel/2), short(c.Const, maxLabel/2))
	}
	return labels
}

// none is the index of the choice to leave the field empty.
const none = -1

func (p *property) choose(r *rule) field {
	all := p.choices()
	var options []huh.Option[int]
	for i, label := range labels(all) {
		options = append(options, huh.NewOption(label, i))
	}
	var preset string
	_ = json.Unmarshal(p.Default, &preset)
	picked := slices.IndexFunc(all, func(c choice) bool { return p.Default != nil && c.Const == preset })
	if !r.required {
		options = append(options, huh.NewOption("(no answer)", none))
	}
	input := huh.NewSelect[int]().Title(p.title(r)).Description(short(p.Description, maxAbout)).Options(options...).Value(&picked)
	return field{r.name, input, func() (any, bool) {
		if picked == none {
			return nil, false
		}
		return all[picked].Const, true
	}}
}

func (p *property) chooseMany(r *rule) field {
	all := p.Items.choices()
	var preset []string
	_ = json.Unmarshal(p.Default, &preset)
	var picked []int
	for i, c := range all {
		if slices.Contains(preset, c.Const) {
			picked = append(picked, i)
		}
	}
	values := func(picked []int) []string {
		list := []string{}
		for _, i := range picked {
			list = append(list, all[i].Const)
		}
		return list
	}
	input := newMany(p.title(r), short(p.Description, maxAbout), labels(all), &picked)
	given := func(picked []int) bool { return r.required || len(picked) > 0 }
	input.Validate(func(picked []int) error {
		if !given(picked) {
			return nil
		}
		return r.check(values(picked))
	})
	return field{r.name, input, func() (any, bool) { return values(picked), given(picked) }}
}

func (p *property) text(r *rule) field {
	var preset string
	if json.Unmarshal(p.Default, &preset) != nil && p.Default != nil {
		preset = string(p.Default) // a number
	}
	text := plain.Line(preset)
	shown := text
	typed := func(text string) (value any, ok bool, err error) {
		if text == shown { // not touched: what is shown may be without newlines
			text = preset
		}
		return p.read(text)
	}
	about := short(p.Description, maxAbout)
	if about == "" {
		about = short(p.Format, maxLabel)
	}
	input := huh.NewInput().Title(p.title(r)).Description(about).Value(&text).Validate(func(text string) error {
		value, ok, err := typed(text)
		switch {
		case err != nil:
			return err
		case !ok && r.required:
			return errors.New("an answer is required")
		case !ok:
			return nil
		}
		return r.check(value)
	})
	return field{r.name, input, func() (any, bool) {
		value, ok, err := typed(text)
		return value, ok && err == nil
	}}
}

// read returns the value of a typed text; ok is false if it is empty.
func (p *property) read(text string) (value any, ok bool, err error) {
	switch {
	case text == "":
		return nil, false, nil
	case p.Type != "number" && p.Type != "integer":
		return text, true, nil
	}
	var n json.Number
	if text = strings.TrimSpace(text); json.Unmarshal([]byte(text), &n) != nil || strings.HasPrefix(text, `"`) {
		return nil, false, fmt.Errorf("%q is no number", text)
	}
	return n, true, nil
}
