package servertest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Result is what a tool answered.
type Result struct {
	Content    []Block         `json:"content"`
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool            `json:"isError"`
	Meta       json.RawMessage `json:"_meta"`
	// Raw is all of it, as it came.
	Raw json.RawMessage `json:"-"`
}

// Block is one block of content. Raw has its other members, too.
type Block struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Data     []byte          `json:"data"` // of an image or sound
	MIMEType string          `json:"mimeType"`
	URI      string          `json:"uri"`
	Name     string          `json:"name"`
	Resource json.RawMessage `json:"resource"`
	Raw      json.RawMessage `json:"-"`
}

// UnmarshalJSON keeps the block as it came, too.
func (b *Block) UnmarshalJSON(raw []byte) error {
	type plain Block
	err := json.Unmarshal(raw, (*plain)(b))
	b.Raw = append(json.RawMessage(nil), raw...)
	return err
}

// Text is the text of its text blocks, a line each.
func (r *Result) Text() string {
	var texts []string
	for _, b := range r.Content {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// ToolError is a result with isError, which the tool or the validation of its arguments made for the model.
type ToolError struct{ Result *Result }

// Error implements error.
func (e *ToolError) Error() string { return e.Result.Text() }

// readResult reads a result; one with isError is a *ToolError.
func readResult(raw json.RawMessage) (*Result, error) {
	r, err := decode[Result](raw)
	if err != nil {
		return nil, err
	}
	r.Raw = raw
	if r.IsError {
		return nil, &ToolError{r}
	}
	return r, nil
}

// Output is the structured output of a result, as a value of its generated type: Output[T](pending.Result()). In revisions without
// structured output it is decoded from the text that replaces it there.
func Output[Out any](r *Result, err error) (*Out, error) {
	if err != nil {
		return nil, err
	}
	if r.Structured != nil {
		return decode[Out](r.Structured)
	}
	for _, b := range r.Content { // a summary may precede the output
		if b.Type == "text" && json.Valid([]byte(b.Text)) {
			return decode[Out]([]byte(b.Text))
		}
	}
	return nil, fmt.Errorf("servertest: the result has no structured output: %s", r.Raw)
}

func decode[T any](raw json.RawMessage) (*T, error) {
	v := new(T)
	if err := json.Unmarshal(raw, v); err != nil {
		return nil, fmt.Errorf("servertest: %s is no %T: %w", raw, *v, err)
	}
	return v, nil
}
