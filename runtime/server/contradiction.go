package server

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/check/address"
	"github.com/mcpkiln/mcpkiln/runtime/check/format"
	"github.com/mcpkiln/mcpkiln/runtime/check/secret"
	"github.com/mcpkiln/mcpkiln/runtime/internal/exact"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Params of a request to the client may be valid by their schema and yet contradict themselves: no client could show the form, or clients refuse the
// messages. The handler gets an error then, and the request is not sent.

// contradiction returns what in the params of a request to the client contradicts itself, nil for nothing.
func contradiction(op wire.Op, params []byte) error {
	switch op {
	case wire.OpElicit:
		return formContradiction(params)
	case wire.OpCreateMessage:
		return messagesContradiction(params)
	}
	return nil
}

// formContradiction looks for a form that nobody can fill in, and a page that nobody should be sent to.
func formContradiction(params []byte) error {
	var asked struct {
		Message         string          `json:"message"`
		URL             *string         `json:"url"`
		RequestedSchema json.RawMessage `json:"requestedSchema"`
	}
	if err := exact.Unmarshal(params, &asked); err != nil {
		return err
	}
	if asked.URL != nil {
		if err := address.Page(*asked.URL); err != nil {
			return fmt.Errorf("/url: %w", err)
		}
	}
	if asked.RequestedSchema == nil {
		return nil
	}
	return checkAsked("/requestedSchema", asked.RequestedSchema, asked.Message)
}

// checkAsked says why a form with this message must not be sent, nil if it may be. at is the place of the schema. Every form passes here, however it was
// made (LET01, LET04).
func checkAsked(at string, schema []byte, message string) error {
	form, err := readForm(schema)
	if err != nil {
		return below(at, err)
	}
	for i, name := range form.Required {
		if _, asked := form.Properties[name]; !asked {
			return fmt.Errorf("%s/required/%d: the form has no property %q", at, i, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(form.Properties)) {
		field := form.Properties[name]
		if err := cmp.Or(field.contradiction(), field.undefined()); err != nil {
			return fmt.Errorf("%s/properties/%s: %w", at, name, err)
		}
		if err := field.defaultBroken(); err != nil {
			return fmt.Errorf("%w; mend the default, or leave it out", below(at+"/properties/"+name+"/default", err))
		}
		if why := field.secret(name, message); why != "" {
			return &SecretError{name, why}
		}
	}
	return nil
}

// secret returns why the field must not be asked for, because it is a secret by the rules of package secret; "" if it is none.
func (f *formField) secret(name, message string) string {
	number := f.Type == "integer" || f.Type == "number"
	typed := (f.Type == "string" || number) && f.Enum == nil && f.OneOf == nil && f.Format == ""
	switch {
	case f.Sensitive == true:
		return fmt.Sprintf("a form must not ask for secrets, and %.80q is x-sensitive", name)
	case f.Sensitive == false || !typed:
		return ""
	}
	asked := secret.Field{Name: name, Title: f.Title, Description: f.Description, Message: message, Number: number}
	return asked.Asked()
}

// SecretError says that a form asks for a secret, which forms must not (LET04): it is not sent. Secrets are fields that are x-sensitive, and
// text and number fields whose name, title or description, or the form's message, says that they are secret, unless they are x-sensitive: false.
type SecretError struct {
	Field string
	why   string
}

// Error implements error.
func (e *SecretError) Error() string { return e.why + "; " + secret.Remedy }

func (f *formField) contradiction() error {
	for _, limit := range []struct {
		of        string
		low, high *float64
	}{{"length", f.MinLength, f.MaxLength}, {"number of items", f.MinItems, f.MaxItems}} {
		if limit.low != nil && limit.high != nil && *limit.low > *limit.high {
			return fmt.Errorf("no %s is at least %v and at most %v", limit.of, *limit.low, *limit.high)
		}
	}
	if order, ok := check.CompareNumbers(f.Minimum.String(), f.Maximum.String()); ok && order > 0 {
		return fmt.Errorf("no number is at least %v and at most %v", f.Minimum, f.Maximum)
	}
	for _, choices := range []struct {
		in    string
		empty bool
	}{{"enum", isEmpty(f.Enum)}, {"oneOf", isEmpty(f.OneOf)}, {"items/enum", isEmpty(f.Items.Enum)}, {"items/anyOf", isEmpty(f.Items.AnyOf)}, {"items/oneOf", isEmpty(f.Items.OneOf)}} {
		if choices.empty {
			return fmt.Errorf("there is nothing to choose: list the choices in %s, or leave it out", choices.in)
		}
	}
	return nil
}

// undefined says what the protocol's definition of a field does not allow, as far as fieldShape has not refused it.
func (f *formField) undefined() error {
	chosen := f.Enum != nil || f.OneOf != nil
	switch {
	case f.Type == "string" && !chosen && f.Format != "" && formFormats[f.Format] == format.None:
		return fmt.Errorf("no form has the format %q: write email, uri, date or date-time, or leave it out", f.Format)
	case f.Type == "array" && f.Items.AnyOf == nil && f.Items.Enum == nil:
		return errors.New("a list in a form is a choice: list the choices in items/enum, or in items/anyOf with const and title")
	case f.Type == "array" && f.Items.Enum != nil && f.Items.Type == "":
		return errors.New(`the choices in items/enum have no type: write "type": "string" beside enum`)
	case f.Default != nil && !f.defaultFits():
		return fmt.Errorf("the default %.80s is no %s", f.Default, f.Type)
	case f.patternBroken():
		return fmt.Errorf("the pattern %.80q is no regular expression: mend it, or leave it out", f.Pattern)
	}
	return nil
}

// defaultBroken says which of the field's own rules its default breaks: a user who accepts the form as it is shown would give a wrong answer.
func (f *formField) defaultBroken() error {
	if f.Default == nil {
		return nil
	}
	return check.Decode(f.Default, check.Limits{Bytes: len(f.Default)}, func(d *check.Decoder, f *formField) { f.read(d) }, f)
}

func (f *formField) defaultFits() bool {
	var err error
	switch f.Type {
	case "string":
		err = json.Unmarshal(f.Default, new(string))
	case "number", "integer":
		err = json.Unmarshal(f.Default, new(float64))
	case "boolean":
		err = json.Unmarshal(f.Default, new(bool))
	case "array":
		err = json.Unmarshal(f.Default, new([]string))
	}
	return err == nil && string(f.Default) != "null"
}

func isEmpty[T any](list []T) bool { return list != nil && len(list) == 0 }

// sampledMessage has the members of a message to a model that are checked.
type sampledMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// sampledBlock has the members by which a tool use (an id and an input) and a tool result (the id of the use) are told from other blocks.
type sampledBlock struct {
	ID        *string         `json:"id"`
	ToolUseID *string         `json:"toolUseId"`
	Input     json.RawMessage `json:"input"`
}

func (b *sampledBlock) isUse() bool    { return b.ID != nil && b.Input != nil }
func (b *sampledBlock) isResult() bool { return b.ToolUseID != nil }

// messagesContradiction checks that an assistant's message with tool uses is followed at once by a user's message that has the result of each use,
// and nothing else.
func messagesContradiction(params []byte) error {
	if !check.Mentions(params, "tool_") {
		return nil // saves decoding large contents
	}
	var asked struct {
		Messages []sampledMessage `json:"messages"`
	}
	if exact.Unmarshal(params, &asked) != nil {
		return nil
	}
	used := map[string]bool{}
	for i, m := range asked.Messages {
		next, err := m.answer(used)
		if err != nil {
			return fmt.Errorf("/messages/%d: %w", i, err)
		}
		used = next
	}
	for _, id := range slices.Sorted(maps.Keys(used)) {
		return fmt.Errorf("/messages/%d: the tool use %q is followed by no result", len(asked.Messages)-1, id)
	}
	return nil
}

// answer checks a message against the tool uses of the one before, and returns its own.
func (m *sampledMessage) answer(used map[string]bool) (next map[string]bool, err error) {
	blocks, next := m.blocks(), map[string]bool{}
	results := 0
	for _, b := range blocks {
		switch {
		case b.isUse() && m.Role != "assistant":
			return nil, fmt.Errorf("the tool use %q is not the assistant's", *b.ID)
		case b.isUse() && next[*b.ID]:
			return nil, fmt.Errorf("two tool uses have the id %q", *b.ID)
		case b.isUse():
			next[*b.ID] = true
		case b.isResult() && m.Role != "user":
			return nil, fmt.Errorf("the tool result for %q is not the user's", *b.ToolUseID)
		case b.isResult() && !used[*b.ToolUseID]:
			return nil, fmt.Errorf("the tool result for %q has no tool use in the message before, or a second result", *b.ToolUseID)
		case b.isResult():
			delete(used, *b.ToolUseID)
			results++
		}
	}
	if results > 0 && results < len(blocks) {
		return nil, errors.New("a message with tool results holds nothing else")
	}
	for _, id := range slices.Sorted(maps.Keys(used)) {
		return nil, fmt.Errorf("the tool use %q of the message before has no result here", id)
	}
	return next, nil
}

// checkSampled checks the model's message against the sampling request that it answers: if the request has no tools, the message may use none (LET12).
func checkSampled(params, answer []byte) error {
	var asked struct {
		Tools []json.RawMessage `json:"tools"`
	}
	var given struct {
		sampledMessage
		StopReason string `json:"stopReason"`
	}
	if !check.Mentions(answer, "tool") || exact.Unmarshal(params, &asked) != nil || len(asked.Tools) > 0 || exact.Unmarshal(answer, &given) != nil {
		return nil
	}
	for _, b := range given.blocks() {
		if b.isUse() {
			return fmt.Errorf("/content: the tool use %s, and the request has no tools", rpc.Quoted(*b.ID))
		}
	}
	if given.StopReason == "toolUse" {
		return errors.New("/stopReason: the model stopped for a tool use, and the request has no tools")
	}
	return nil
}

// blocks are the content of a message, which is one block or a list.
func (m *sampledMessage) blocks() []sampledBlock {
	var list []sampledBlock
	if exact.Unmarshal(m.Content, &list) == nil {
		return list
	}
	var one sampledBlock
	if exact.Unmarshal(m.Content, &one) != nil {
		return nil
	}
	return []sampledBlock{one}
}
