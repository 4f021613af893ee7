package server

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Handlers and manifests use the newest revision's types. What an older revision lacks is omitted for its clients, or replaced by what they
// know: see wire.View.

// ordered is a JSON object with its members in their order.
type ordered []orderedMember

type orderedMember struct {
	name  string
	value json.RawMessage
}

// orderedOf reads an object; nil if the text is none.
func orderedOf(object []byte) (o ordered) {
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for d.More() {
		name, err := d.Token()
		var m orderedMember
		if err == nil {
			err = d.Decode(&m.value)
		}
		if err != nil {
			return nil
		}
		m.name, _ = name.(string)
		o = append(o, m)
	}
	return o
}

func (o ordered) appendJSON(b []byte) []byte {
	b = append(b, '{')
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(check.AppendString(b, m.name), ':'), m.value...)
	}
	return append(b, '}')
}

// appendOmitting appends an object without some of its members. They are names, or paths to them in which * is every item of a list.
func appendOmitting(b []byte, object string, members []string) []byte {
	for _, member := range members {
		if name := member[strings.LastIndexByte(member, '/')+1:]; strings.Contains(object, `"`+name+`"`) {
			object = string(omit([]byte(object), strings.Split(member, "/")))
		}
	}
	return append(b, object...)
}

func omit(value []byte, path []string) []byte {
	if path[0] == everyItem {
		var items []json.RawMessage
		if json.Unmarshal(value, &items) != nil {
			return value
		}
		return check.AppendSlice(nil, items, func(b []byte, item json.RawMessage) []byte { return append(b, omit(item, path[1:])...) })
	}
	members := orderedOf(value)
	if len(path) == 1 {
		return slices.DeleteFunc(members, func(m orderedMember) bool { return m.name == path[0] }).appendJSON(nil)
	}
	for i := range members {
		if members[i].name == path[0] {
			members[i].value = omit(members[i].value, path[1:])
		}
	}
	return members.appendJSON(nil)
}

// schemaObjects writes schemas that are true or false as objects that mean the same, among the members of the objects at paths.
func schemaObjects(object []byte, paths []string) []byte {
	if bytes.Contains(object, []byte("true")) || bytes.Contains(object, []byte("false")) {
		for _, path := range paths {
			object = changeAt(object, path+"/"+everyMember, schemaObject)
		}
	}
	return object
}

func schemaObject(schema []byte) (object []byte, changed bool) {
	switch string(schema) {
	case "true":
		return []byte("{}"), true
	case "false":
		return []byte(`{"not":{}}`), true
	}
	return schema, false
}

// adaptBlocks replaces the content blocks at path that the revision has no type for by text.
func (rev *revision) adaptBlocks(result []byte, path string) []byte {
	if path == "" || len(rev.View.Blocks) == 0 {
		return result
	}
	return changeAt(result, path, rev.adaptBlock)
}

// adaptResult is adaptBlocks for the result of a method, which begins at start.
func (c *Call) adaptResult(b []byte, start int) []byte {
	if len(c.revision.View.Blocks) == 0 {
		return b
	}
	m := c.revision.methods[c.entry.Info().Method]
	return append(b[:start], c.revision.adaptBlocks(b[start:], m.Blocks)...)
}

// Steps of a path beside the names of members.
const (
	everyItem   = "*"  // of a list
	everyMember = "{}" // of an object
)

// changeAt changes what is at a path in a value, as change does.
func changeAt(value []byte, path string, change func([]byte) ([]byte, bool)) []byte {
	changed, is := changeStep(value, strings.Split(path, "/"), change)
	if !is {
		return value
	}
	return changed
}

func changeStep(value []byte, path []string, change func([]byte) ([]byte, bool)) (changed []byte, is bool) {
	if len(path) == 0 {
		return change(value)
	}
	if path[0] == everyItem {
		var items []json.RawMessage
		if json.Unmarshal(value, &items) != nil {
			return value, false
		}
		for i := range items {
			item, other := changeStep(items[i], path[1:], change)
			items[i], is = item, is || other
		}
		return check.AppendSlice(nil, items, func(b []byte, item json.RawMessage) []byte { return append(b, item...) }), is
	}
	members := orderedOf(value)
	for i := range members {
		if m := &members[i]; m.name == path[0] || path[0] == everyMember {
			member, other := changeStep(m.value, path[1:], change)
			m.value, is = member, is || other
		}
	}
	return members.appendJSON(nil), is
}

// adaptBlock replaces a content block that the revision has no type for: a link by a text of its title and address, any other by a text
// that names what is missing.
func (rev *revision) adaptBlock(block []byte) (adapted []byte, changed bool) {
	var b struct{ Type, Name, Title, URI, Description, MIMEType string }
	if json.Unmarshal(block, &b) != nil || slices.Contains(rev.View.Blocks, b.Type) {
		return block, false
	}
	c := wire.Block{MIMEType: b.MIMEType, URI: b.URI, Name: b.Name, Title: b.Title, Description: b.Description}
	return appendTextBlock(nil, missingBlock(rev.Version, b.Type, &c)), true
}

// missingBlock is the text in place of a block that the revision has no type for.
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

// Keywords of a form's fields that are replaced where the revision does not know them.
const (
	formItems  = "items"     // of a list: nothing else asks for several values
	formTitled = "oneOf"     // values with titles
	formValues = "enum"      // the values of those
	formTitles = "enumNames" // their titles
)

// adaptForm is a form with the keywords that the revision has; ok is false if a field needs another one.
func (rev *revision) adaptForm(form []byte) (adapted []byte, ok bool) {
	members := orderedOf(form)
	for i := range members {
		if members[i].name != "properties" {
			continue
		}
		fields := orderedOf(members[i].value)
		for j := range fields {
			if fields[j].value, ok = rev.adaptField(fields[j].value); !ok {
				return nil, false
			}
		}
		members[i].value = fields.appendJSON(nil)
	}
	return members.appendJSON(nil), true
}

func (rev *revision) adaptField(field []byte) (adapted []byte, ok bool) {
	var out ordered
	for _, m := range orderedOf(field) {
		switch {
		case slices.Contains(rev.View.FormKeywords, m.name):
			out = append(out, m)
		case m.name == formItems:
			return nil, false
		case m.name == formTitled:
			out = append(out, enumOf(m.value)...)
		}
	}
	return out.appendJSON(nil), true
}

// enumOf makes of titled values a list of the values and a list of their titles.
func enumOf(oneOf []byte) ordered {
	var choices []struct{ Const, Title string }
	if json.Unmarshal(oneOf, &choices) != nil {
		return nil
	}
	var values, titles []string
	for _, c := range choices {
		values, titles = append(values, c.Const), append(titles, cmp.Or(c.Title, c.Const))
	}
	return ordered{
		{formValues, check.AppendSlice(nil, values, check.AppendString)}, {formTitles, check.AppendSlice(nil, titles, check.AppendString)},
	}
}

// adaptQuestion is a question to the user in the revision's form; ok is false if the revision can not ask it.
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
	members := orderedOf(q.Payload)
	for i := range members {
		if members[i].name != member {
			continue
		}
		if members[i].value, ok = rev.adaptForm(members[i].value); !ok {
			return q, false
		}
	}
	q.Payload = members.appendJSON(nil)
	return q, true
}
