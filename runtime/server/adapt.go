package server

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/internal/exact"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
	"github.com/mcpkiln/mcpkiln/runtime/wire/edit"
)

// Handlers and manifests use the newest revision's types. What an older revision lacks is omitted for its clients, or replaced by what they
// know: see wire.View.

// adaptBlocks replaces by text those content blocks at path whose type the revision does not have.
func (rev *revision) adaptBlocks(result []byte, path string) []byte {
	if path == "" || len(rev.View.Blocks) == 0 {
		return result
	}
	return edit.At(result, path, rev.adaptBlock)
}

// adaptResult is adaptBlocks for the result of a method, which is b[start:].
func (c *Call) adaptResult(b []byte, start int) []byte {
	if len(c.revision.View.Blocks) == 0 {
		return b
	}
	m := c.revision.methods[c.entry.Info().Method]
	return append(b[:start], c.revision.adaptBlocks(b[start:], m.Blocks)...)
}

// adaptBlock replaces a content block whose type the revision does not have: a link by a text of its title and address, any other block by a text that
// says what is missing. A block without a type is left as it is: it is refused in every revision (LET01).
func (rev *revision) adaptBlock(block []byte) (adapted []byte, changed bool) {
	var b struct {
		Type        string `json:"type"`
		Name        string `json:"name"`
		Title       string `json:"title"`
		URI         string `json:"uri"`
		Description string `json:"description"`
		MIMEType    string `json:"mimeType"`
	}
	if exact.Unmarshal(block, &b) != nil || b.Type == "" || slices.Contains(rev.View.Blocks, b.Type) {
		return block, false
	}
	c := wire.Block{MIMEType: b.MIMEType, URI: b.URI, Name: b.Name, Title: b.Title, Description: b.Description}
	return appendTextBlock(nil, missingBlock(rev.Version, b.Type, &c)), true
}

// missingBlock is the text in place of a block whose type the revision does not have.
func missingBlock(revision, kind string, c *wire.Block) string {
	if c.URI == "" {
		return "[" + strings.TrimSpace(kind+" "+c.MIMEType) + ": not in protocol revision " + revision + "]"
	}
	description := cmp.Or(c.Title, c.Name, kind) + ": " + c.URI
	if c.Description != "" {
		description += "\n" + c.Description
	}
	return description
}

// Keywords of a form's fields that some revisions do not have, and what replaces them.
const (
	formItems  = "items"     // of a list: nothing replaces it, because there is no other way to ask for several values
	formTitled = "oneOf"     // values with titles
	formValues = "enum"      // the values of oneOf
	formTitles = "enumNames" // their titles
)

// adaptForm returns a form with only the keywords that the revision has; ok is false if a field needs another one.
func (rev *revision) adaptForm(form []byte) (adapted []byte, ok bool) {
	members := edit.ObjectOf(form)
	for i := range members {
		if members[i].Name != "properties" {
			continue
		}
		fields := edit.ObjectOf(members[i].Value)
		for j := range fields {
			if fields[j].Value, ok = rev.adaptField(fields[j].Value); !ok {
				return nil, false
			}
		}
		members[i].Value = fields.AppendJSON(nil)
	}
	return members.AppendJSON(nil), true
}

func (rev *revision) adaptField(field []byte) (adapted []byte, ok bool) {
	var out edit.Object
	for _, m := range edit.ObjectOf(field) {
		switch {
		case slices.Contains(rev.View.FormKeywords, m.Name):
			out = append(out, m)
		case m.Name == formItems:
			return nil, false
		case m.Name == formTitled:
			out = append(out, enumOf(m.Value)...)
		}
	}
	return out.AppendJSON(nil), true
}

// enumOf turns titled values into a list of the values and a list of their titles.
func enumOf(oneOf []byte) edit.Object {
	var choices []struct {
		Const string `json:"const"`
		Title string `json:"title"`
	}
	if exact.Unmarshal(oneOf, &choices) != nil {
		return nil
	}
	var values, titles []string
	for _, c := range choices {
		values, titles = append(values, c.Const), append(titles, cmp.Or(c.Title, c.Const))
	}
	return edit.Object{
		{Name: formValues, Value: check.AppendSlice(nil, values, check.AppendString)}, {Name: formTitles, Value: check.AppendSlice(nil, titles, check.AppendString)},
	}
}

// adaptQuestion returns a question to the user in the revision's form; ok is false if the revision can not ask it.
func (rev *revision) adaptQuestion(q task.Question) (adapted task.Question, ok bool) {
	member := ""
	switch {
	case len(rev.View.FormKeywords) == 0:
	case q.Method == askMethod:
		member = "schema"
	case q.Method == elicitMethod:
		member = "requestedSchema"
	}
	if member == "" {
		return q, true
	}
	members := edit.ObjectOf(q.Payload)
	for i := range members {
		if members[i].Name != member {
			continue
		}
		if members[i].Value, ok = rev.adaptForm(members[i].Value); !ok {
			return q, false
		}
	}
	q.Payload = members.AppendJSON(nil)
	return q, true
}
