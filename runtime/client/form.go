package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/mail"
	"net/url"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/internal/exact"
)

// form is the schema of a question: an object whose fields are of simple types.
type form struct {
	Type       string               `json:"type"`
	Properties map[string]formField `json:"properties"`
	Required   []string             `json:"required"`
}

type formField struct {
	Type      string          `json:"type"`
	Default   json.RawMessage `json:"default"`
	Enum      []any           `json:"enum"`
	OneOf     []choice        `json:"oneOf"`
	AnyOf     []choice        `json:"anyOf"`
	MinLength *float64        `json:"minLength"`
	MaxLength *float64        `json:"maxLength"`
	Minimum   *json.Number    `json:"minimum"`
	Maximum   *json.Number    `json:"maximum"`
	MinItems  *float64        `json:"minItems"`
	MaxItems  *float64        `json:"maxItems"`
	Format    string          `json:"format"`
	Items     *formField      `json:"items"`
}

type choice struct {
	Const any `json:"const"`
}

// Complete validates what a user filled in by the form, and adds defaults. It returns the content of the answer, a JSON object. A user
// interface may call it to tell the user what is wrong.
func (q *Question) Complete(content any) (json.RawMessage, error) {
	f, err := readForm(q.Schema)
	if err != nil {
		return nil, err
	}
	given := map[string]json.RawMessage{}
	if content != nil {
		text, err := encode(content)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &given); err != nil || given == nil {
			return nil, fmt.Errorf("the content must be an object with the form's fields")
		}
	}
	for name, field := range f.Properties {
		if _, ok := given[name]; !ok && field.hasDefault() {
			given[name] = field.Default
		}
	}
	for _, name := range f.Required {
		if _, ok := given[name]; !ok {
			return nil, fmt.Errorf("%s is required", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		field, ok := f.Properties[name]
		if !ok {
			return nil, fmt.Errorf("the form has no field %s", name)
		}
		if err := field.check(given[name]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return json.Marshal(given)
}

// checkForm returns an error for the form of a question that breaks its definition, which begins with the rest of a JSON Pointer: a person would be asked for
// nothing.
func checkForm(schema json.RawMessage) error {
	if kind := kindOf(schema); kind != "object" {
		return fmt.Errorf(": it must be the form, an object, and is %s", kind)
	}
	f, err := readForm(schema)
	if err != nil {
		return fmt.Errorf(": %w", err)
	}
	if err := checkMembers("", schema, formMembers); err != nil {
		return err
	}
	if f.Type == "" {
		return errors.New("/type: it must be object")
	}
	fields := memberOf(schema, "properties")
	for _, name := range slices.Sorted(maps.Keys(f.Properties)) {
		at, field := "/properties/"+check.PointerStep(name), f.Properties[name]
		if err := checkMembers(at, memberOf(fields, name), typeMember); err != nil {
			return err
		}
		switch {
		case field.Type == "":
			return fmt.Errorf("%s/type: it must be boolean, integer, number, string or array", at)
		case field.Type == "array" && field.Items == nil:
			return fmt.Errorf("%s/items: it must be an object, and is missing", at)
		}
	}
	return nil
}

// What a form and each of its fields must have.
var (
	formMembers = []sampleMember{{name: "type", kind: "string"}, {name: "properties", kind: "object"}}
	typeMember  = formMembers[:1]
)

// readForm reads a form, or returns why nobody could fill it in: that has to be known before a user is asked.
func readForm(schema json.RawMessage) (f form, err error) {
	if schema == nil {
		return f, nil
	}
	if exact.Unmarshal(schema, &f) != nil {
		return f, fmt.Errorf("the form can not be read: %.200s", schema)
	}
	if f.Type != "" && f.Type != "object" {
		return f, fmt.Errorf("the form is of type %s, not of object", f.Type)
	}
	for _, name := range f.Required {
		if _, ok := f.Properties[name]; !ok {
			return f, fmt.Errorf("the form requires %s, and has no such field", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Properties)) {
		if err := f.Properties[name].usable(); err != nil {
			return f, fmt.Errorf("the form's field %s: %w", name, err)
		}
	}
	return f, nil
}

// usable returns an error for a field that is not of a simple type, or whose default breaks its own rules.
func (f formField) usable() error {
	switch f.Type {
	case "", "string", "number", "integer", "boolean":
	case "array":
		if f.Items != nil && f.Items.Type != "" && f.Items.Type != "string" {
			return fmt.Errorf("its items are of type %s, not of string", f.Items.Type)
		}
	default:
		return fmt.Errorf("no form has the type %s", f.Type)
	}
	if !f.hasDefault() {
		return nil
	}
	if err := f.check(f.Default); err != nil {
		return fmt.Errorf("its default: %w", err)
	}
	return nil
}

func (f *formField) hasDefault() bool { return f.Default != nil && string(f.Default) != "null" }

func (f *formField) check(raw json.RawMessage) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return err
	}
	switch v := value.(type) {
	case string:
		return f.checkString(v)
	case json.Number:
		return f.checkNumber(v)
	case bool:
		return f.isType("boolean")
	case []any:
		return f.checkList(v)
	}
	return fmt.Errorf("%s is of no type that a form has", raw)
}

// isType returns an error unless the field is of one of the types.
func (f *formField) isType(types ...string) error {
	if f.Type != "" && !slices.Contains(types, f.Type) {
		return fmt.Errorf("must be of type %s", f.Type)
	}
	return nil
}

func (f *formField) checkString(v string) error {
	if err := f.isType("string"); err != nil {
		return err
	}
	n := float64(utf8.RuneCountInString(v))
	switch {
	case f.MinLength != nil && n < *f.MinLength:
		return fmt.Errorf("must have at least %.0f characters", *f.MinLength)
	case f.MaxLength != nil && n > *f.MaxLength:
		return fmt.Errorf("must have at most %.0f characters", *f.MaxLength)
	case !f.allows(v):
		return fmt.Errorf("%q is none of the choices", v)
	}
	return checkFormat(f.Format, v)
}

// allows reports whether v is one of the choices, if there are some.
func (f *formField) allows(v string) bool {
	choices := slices.Concat(f.OneOf, f.AnyOf)
	if len(choices) == 0 && len(f.Enum) == 0 {
		return true
	}
	return slices.Contains(f.Enum, any(v)) || slices.Contains(choices, choice{v})
}

// checkFormat validates the formats that a form may have. It ignores others.
func checkFormat(format, v string) error {
	sound, want := true, ""
	switch format {
	case "email":
		a, err := mail.ParseAddress(v)
		sound, want = err == nil && a.Address == v, "email address, such as ann@example.com"
	case "uri":
		u, err := url.Parse(v)
		sound, want = err == nil && u.Scheme != "", "absolute address, such as https://example.com"
	case "date":
		_, err := time.Parse(time.DateOnly, v)
		sound, want = err == nil, "date, such as 2026-07-28"
	case "date-time":
		_, err := time.Parse(time.RFC3339, v)
		sound, want = err == nil, "time with a date, such as 2026-07-28T09:30:00Z"
	}
	if !sound {
		return fmt.Errorf("%q is no %s", v, want)
	}
	return nil
}

func (f *formField) checkNumber(n json.Number) error {
	if err := f.isType("number", "integer"); err != nil {
		return err
	}
	text := n.String()
	if _, ok := check.CompareNumbers(text, "0"); !ok {
		return fmt.Errorf("%s is too large or too small", n)
	}
	if _, _, integer := check.IntegerDigits([]byte(text), 0); f.Type == "integer" && !integer {
		return fmt.Errorf("%s is no integer", n)
	}
	if f.Minimum != nil && orderOf(text, *f.Minimum) < 0 {
		return fmt.Errorf("must be at least %v", *f.Minimum)
	}
	if f.Maximum != nil && orderOf(text, *f.Maximum) > 0 {
		return fmt.Errorf("must be at most %v", *f.Maximum)
	}
	return nil
}

// orderOf compares a number with a limit exactly: a float64 would take 1e-400 for 0. A limit with which it can not be compared is ignored.
func orderOf(number string, limit json.Number) int {
	order, _ := check.CompareNumbers(number, limit.String())
	return order
}

// items returns a number of items in words.
func items(n float64) string {
	if n == 1 {
		return "1 item"
	}
	return fmt.Sprintf("%.0f items", n)
}

func (f *formField) checkList(list []any) error {
	if err := f.isType("array"); err != nil {
		return err
	}
	switch n := float64(len(list)); {
	case f.MinItems != nil && n < *f.MinItems:
		return fmt.Errorf("must have at least %s", items(*f.MinItems))
	case f.MaxItems != nil && n > *f.MaxItems:
		return fmt.Errorf("must have at most %s", items(*f.MaxItems))
	}
	for _, item := range list {
		text, ok := item.(string)
		if !ok {
			return fmt.Errorf("%v is no string", item)
		}
		if f.Items != nil {
			if err := f.Items.checkString(text); err != nil {
				return err
			}
		}
	}
	return nil
}
