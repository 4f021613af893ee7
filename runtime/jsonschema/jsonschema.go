// Package jsonschema validates the arguments of tools that are added while a server runs, with
// github.com/santhosh-tekuri/jsonschema. It is a module of its own: a server that only has generated tools needs nothing of it.
// It is for programs that call Server.AddTool.
//
//	v, err := jsonschema.ForTool(definition)
//	if err != nil {
//		return err
//	}
//	return srv.AddTool(definition, v, handler)
//
// Schemas are of JSON Schema 2020-12 unless $schema names another draft. Formats are enforced and patterns are those of ECMA-262, as in generated
// code (evaluator.go), and violations have its words (reader.go, allowed.go). A reference that leads out of the schema is an error: nothing is
// read from a disk or a network. So is one that leads back to itself without a step into the value (circle.go), and an $id that two schemas have.
package jsonschema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/internal/exact"
)

// Validator is the server.Validator and server.OutputValidator of one tool. It is safe for concurrent use.
type Validator struct {
	input, output *schema // output is nil for a tool without an outputSchema
	sensitive     bool    // the definition has properties that are x-sensitive
}

// ForTool compiles the schemas of a tool's definition, the JSON object that server.AddTool takes. Its error says which of them is wrong, and
// why.
func ForTool(definition []byte) (*Validator, error) {
	var d struct {
		InputSchema  json.RawMessage `json:"inputSchema"`
		OutputSchema json.RawMessage `json:"outputSchema"`
	}
	if err := exact.Unmarshal(definition, &d); err != nil {
		return nil, errors.New("jsonschema: the definition of a tool is a JSON object, and this is none")
	}
	if d.InputSchema == nil {
		return nil, errors.New("jsonschema: the definition of a tool has no inputSchema")
	}
	v := &Validator{sensitive: check.Sensitive(string(definition)) != ""}
	var err error
	if v.input, err = newSchema(d.InputSchema); err != nil {
		return nil, fmt.Errorf("jsonschema: the inputSchema is wrong: %w", err)
	}
	if d.OutputSchema == nil {
		return v, nil
	}
	if v.output, err = newSchema(d.OutputSchema); err != nil {
		return nil, fmt.Errorf("jsonschema: the outputSchema is wrong: %w", err)
	}
	return v, nil
}

// baseURI is that of a schema: references within it resolve against it, and nothing else can be loaded.
const baseURI = "mem:///schema.json"

func compile(text []byte) (*jsonschema.Schema, error) {
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.AssertFormat()
	c.UseRegexpEngine(newExpression)
	err = c.AddResource(baseURI, schema)
	var compiled *jsonschema.Schema
	if err == nil {
		compiled, err = c.Compile(baseURI)
	}
	if err != nil {
		return nil, unusable(schema, err)
	}
	return compiled, checkCircles(compiled)
}

// unusable returns what is wrong with a schema: each place that its draft's schema does not allow, or a reference that can not be resolved.
func unusable(schema any, err error) error {
	var outside *jsonschema.LoadURLError
	var draft *jsonschema.SchemaValidationError
	if errors.As(err, &outside) {
		return outside.Err
	}
	wrong := new(jsonschema.ValidationError)
	if !errors.As(err, &draft) || !errors.As(draft.Err, &wrong) {
		return errors.New(strings.ReplaceAll(strings.TrimSuffix(err.Error(), ` in schema "`+baseURI+`#"`), baseURI, ""))
	}
	r := newReader(schema)
	var places []string
	last := ""
	for _, v := range r.list(wrong) {
		if len(places) == 0 || v.Instance != last { // one reason for each is enough
			places = append(places, cmp.Or(v.Instance, "its root")+": "+v.Allowed+", found "+v.Found)
		}
		last = v.Instance
	}
	return errors.New(strings.Join(places, "; "))
}

// noLoader refuses to load any schema.
type noLoader struct{}

// Load implements jsonschema.URLLoader.
func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is outside of the schema, and nothing is fetched", url)
}

// Validate implements server.Validator.
func (v *Validator) Validate(arguments []byte) check.Violations {
	return v.validate(v.input, arguments)
}

// ValidateOutput implements server.OutputValidator.
func (v *Validator) ValidateOutput(output []byte) check.Violations {
	if v.output == nil {
		return nil
	}
	return v.validate(v.output, output)
}

func (v *Validator) validate(s *schema, text []byte) check.Violations {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return check.Violations{{Keyword: "JSON", Found: err.Error()}}
	}
	var beyond limits
	if value = beyond.checked(value); len(beyond.found) > 0 {
		beyond.found.Sort()
		return beyond.found
	}
	err = s.validate(value, len(text))
	switch {
	case err == nil:
		return nil
	case err == errCostly:
		return check.Violations{{Schema: "#", Keyword: "$ref", Found: "one that takes more",
			Allowed: fmt.Sprintf("a value in which at most %d references are followed", evaluations+perByte*len(text))}}
	}
	wrong, ok := err.(*jsonschema.ValidationError)
	if !ok {
		return check.Violations{{Keyword: "schema", Found: err.Error()}}
	}
	r := newReader(value)
	r.guarded = v.sensitive
	return r.list(wrong)
}

// maxExponent bounds the exponents of numbers, up and down: float64 ends earlier, and the library computes with all digits.
const maxExponent = 400

// limits finds numbers whose exponent is beyond maxExponent, and gives others a spelling that the library can read: a zero may have any exponent.
type limits struct {
	steps []string // the path to the current value
	found check.Violations
}

// checked returns the value with its numbers respelled.
func (l *limits) checked(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			v[name] = l.below(name, v[name])
		}
	case []any:
		for i := range v {
			v[i] = l.below(strconv.Itoa(i), v[i])
		}
	case json.Number:
		return l.number(v)
	}
	return value
}

func (l *limits) number(v json.Number) json.Number {
	if len(v) <= maxExponent && !strings.ContainsAny(string(v), "eE") {
		return v
	}
	number, ok := check.AppendCanonical(nil, []byte(v)) // the number counts, not how it is written
	_, exponent, _ := strings.Cut(string(number), "e")
	if n, _ := strconv.Atoi(exponent); ok && n <= maxExponent && n >= -maxExponent {
		return json.Number(number)
	}
	found := shortened(string(number))
	if !ok {
		found = "a number whose exponent is beyond ±1,000,000" // as generated tools say
	}
	l.found = append(l.found, check.Violation{
		Instance: pointer(l.steps), Schema: "#/type", Keyword: "type", Found: found,
		Allowed: fmt.Sprintf("a number with an exponent from -%d to %[1]d, which is the limit of this implementation", maxExponent),
	})
	return v
}

func (l *limits) below(step string, value any) any {
	if len(l.found) < most {
		l.steps = append(l.steps, step)
		value = l.checked(value)
		l.steps = l.steps[:len(l.steps)-1]
	}
	return value
}

func shortened(text string) string {
	const enough = 64
	if len(text) > enough {
		return strings.ToValidUTF8(text[:enough], "") + "…"
	}
	return text
}

func pointer(steps []string) string {
	var b strings.Builder
	for _, step := range steps {
		b.WriteString("/" + strings.ReplaceAll(strings.ReplaceAll(step, "~", "~0"), "/", "~1"))
	}
	return b.String()
}
