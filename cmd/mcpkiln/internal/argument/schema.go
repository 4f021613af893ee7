package argument

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
)

// Schema is a schema of a tool. It is of JSON Schema 2020-12 unless it says another draft.
type Schema struct{ compiled *jsonschema.Schema }

// place is where a schema counts as found: references within it resolve against that.
const place = "mem:///schema.json"

// Compile reads a schema. Nothing that it refers to is fetched from a disk or a network: that is an error.
func Compile(schema json.RawMessage) (*Schema, error) {
	if len(schema) == 0 {
		return nil, errors.New("there is none")
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat = true
	c.LoadURL = func(url string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("%s is outside of the schema, and nothing is fetched", url)
	}
	err := c.AddResource(place, bytes.NewReader(schema))
	var compiled *jsonschema.Schema
	if err == nil {
		compiled, err = c.Compile(place)
	}
	if err != nil {
		return nil, unusable(schema, err)
	}
	return &Schema{compiled}, nil
}

// unusable says what is wrong with a schema, in the words of this package where it breaks the rules of its draft.
func unusable(schema json.RawMessage, err error) error {
	var compilation *jsonschema.SchemaError
	var invalid *jsonschema.ValidationError
	switch {
	case errors.As(err, &invalid):
		var value any
		_ = json.Unmarshal(schema, &value)
		return errors.New(leaves(nil, invalid, value)[0].String())
	case errors.As(err, &compilation):
		err = compilation.Err
	}
	return errors.New(strings.ReplaceAll(strings.TrimPrefix(err.Error(), "jsonschema: "), place, ""))
}

// Violation is one place of a value that breaks a rule of its schema.
type Violation struct {
	Pointer string // JSON Pointer; "" is the whole
	Rule    string // the keyword
	Message string // what the rule wants, and what was found
}

// String is the violation on one line.
func (v Violation) String() string {
	text := v.Rule + ": " + v.Message
	if v.Pointer != "" {
		text = v.Pointer + ": " + text
	}
	return plain.Line(text) // names and patterns in it are a server's
}

// Check returns all that a value breaks.
func (s *Schema) Check(raw json.RawMessage) []Violation {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return []Violation{{Rule: "JSON", Message: err.Error()}}
	}
	err := s.compiled.Validate(value)
	var invalid *jsonschema.ValidationError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &invalid):
		return []Violation{{Rule: "schema", Message: err.Error()}}
	}
	all := leaves(nil, invalid, value)
	slices.SortFunc(all, func(a, b Violation) int { return cmp.Compare(a.String(), b.String()) })
	return all
}

// leaves are the rules that are broken themselves, without those that only contain them.
func leaves(all []Violation, e *jsonschema.ValidationError, value any) []Violation {
	for _, cause := range e.Causes {
		all = leaves(all, cause, value)
	}
	if len(e.Causes) > 0 {
		return all
	}
	rule := e.KeywordLocation[strings.LastIndexByte(e.KeywordLocation, '/')+1:]
	message := e.Message
	if !strings.Contains(message, "found") && !strings.Contains(message, "got") {
		message += "; found " + at(value, e.InstanceLocation)
	}
	return append(all, Violation{e.InstanceLocation, rule, message})
}

// maxFound is how much of a value a message shows, in bytes.
const maxFound = 80

// at is the value at a pointer, cut where it is long.
func at(value any, pointer string) string {
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch v := value.(type) {
		case map[string]any:
			if pointer != "" {
				value = v[step]
			}
		case []any:
			if i, err := strconv.Atoi(step); err == nil && i < len(v) {
				value = v[i]
			}
		}
	}
	text, _ := json.Marshal(value)
	if len(text) > maxFound {
		return strings.ToValidUTF8(string(text[:maxFound]), "") + "…"
	}
	return string(text)
}
