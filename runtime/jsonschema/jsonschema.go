// Package jsonschema validates the arguments of tools that are added while a server runs, with
// github.com/santhosh-tekuri/jsonschema. It is a module of its own: a server that only has generated tools needs nothing of it.
// Programs that call Server.AddTool use it.
//
//	v, err := jsonschema.ForTool(definition)
//	if err != nil {
//		return err
//	}
//	return srv.AddTool(definition, v, handler)
//
// Schemas are of JSON Schema 2020-12 unless $schema names another draft. Formats are enforced and patterns are those of ECMA-262, as in generated
// code (evaluator.go). A reference that leads out of the schema is an error: nothing is read from a disk or a network. So is one that leads back
// to itself without a step into the value (circle.go), and an $id that two schemas have. allowed.go words violations.
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
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// Validator is the server.Validator and server.OutputValidator of one tool. It is safe for concurrent use.
type Validator struct {
	input, output *schema // output is nil for a tool without an outputSchema
	sensitive     bool    // the definition has properties that are x-sensitive
}

// ForTool compiles the schemas of a tool's definition, the JSON object that server.AddTool takes. Its error says which of them is wrong, and
// why.
func ForTool(definition []byte) (*Validator, error) {
	var d struct{ InputSchema, OutputSchema json.RawMessage }
	if err := json.Unmarshal(definition, &d); err != nil {
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
	r := &reader{value: schema, printer: message.NewPrinter(language.English), steps: map[string][]string{}, read: map[*jsonschema.ValidationError]bool{}}
	var places []string
	last := ""
	for _, v := range r.sorted(wrong) {
		if len(places) == 0 || v.Instance != last { // further ones are other branches of the same anyOf or oneOf
			places = append(places, cmp.Or(v.Instance, "its root")+": "+v.Allowed+", found "+r.found(r.steps[v.Instance]))
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
	r := &reader{value: value, printer: message.NewPrinter(language.English), steps: map[string][]string{}, read: map[*jsonschema.ValidationError]bool{}, guarded: v.sensitive}
	all := r.sorted(wrong)
	for i := range all {
		if all[i].Found == "" {
			all[i].Found = r.found(r.steps[all[i].Instance])
		}
	}
	return all
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

// most is how many violations are listed, as with generated tools.
const most = 32

// reader turns the library's errors into violations.
type reader struct {
	value   any
	printer *message.Printer
	steps   map[string][]string // the paths to wrong values, by their pointers
	read    map[*jsonschema.ValidationError]bool
	guarded bool        // a name that may be in a sensitive value is not shown
	names   []wrongName // names that break propertyNames
}

// wrongName is a name that breaks propertyNames. The library does not say in which object it is.
type wrongName struct {
	name    string
	why     *jsonschema.ValidationError
	objects int      // how many objects have a member of that name
	at      []string // the path to one of them
}

// sorted returns the violations of an error, by instance; the library goes over members in any order.
func (r *reader) sorted(e *jsonschema.ValidationError) check.Violations {
	all := append(r.leaves(nil, e), r.wrongNames()...)
	slices.SortFunc(all, func(a, b check.Violation) int {
		return cmp.Or(cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Allowed, b.Allowed))
	})
	all.Sort()
	return all[:min(len(all), most)]
}

// leaves appends the violations of the errors that have no causes, without the keywords around them.
// An error that is a cause of several others is read once.
func (r *reader) leaves(all check.Violations, e *jsonschema.ValidationError) check.Violations {
	if r.read[e] {
		return all
	}
	r.read[e] = true
	if name, ok := e.ErrorKind.(*kind.PropertyNames); ok {
		r.names = append(r.names, wrongName{name: name.Property, why: e})
		return all
	}
	for _, cause := range e.Causes {
		all = r.leaves(all, cause)
	}
	if len(e.Causes) > 0 {
		return all
	}
	keywords := e.ErrorKind.KeywordPath()
	v := check.Violation{Instance: pointer(e.InstanceLocation), Schema: "#/" + strings.Join(keywords, "/"), Keyword: "schema"}
	r.steps[v.Instance] = e.InstanceLocation
	if len(keywords) > 0 {
		v.Keyword = keywords[len(keywords)-1]
	}
	return append(all, r.explain(v, e.ErrorKind)...)
}

// wrongNames returns the violations of propertyNames. The instance is the object that has the name, or if several have it, the root.
func (r *reader) wrongNames() (all check.Violations) {
	slices.SortFunc(r.names, func(a, b wrongName) int { return cmp.Compare(a.name, b.name) })
	r.names = r.names[:min(len(r.names), most)]
	if len(r.names) > 0 {
		r.findNames(nil, r.value)
	}
	for _, n := range r.names {
		v := check.Violation{
			Schema: "#/propertyNames", Keyword: "propertyNames", Found: shortened(strconv.Quote(n.name)), Allowed: strings.Join(r.reasons(n.why), " and "),
		}
		switch {
		case n.objects == 1:
			v.Instance = pointer(n.at)
		case r.guarded:
			v.Found, v.Allowed = "a name that is not shown", "what its schema allows"
		}
		all = append(all, v)
	}
	return all
}

// findNames finds the objects that have one of the names, in the value at a path.
func (r *reader) findNames(at []string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for i := range r.names {
			n := &r.names[i]
			if _, ok := v[n.name]; ok {
				if n.objects++; n.objects == 1 {
					n.at = slices.Clone(at)
				}
			}
		}
		for step, one := range v {
			r.findNames(append(at, step), one)
		}
	case []any:
		for i, one := range v {
			r.findNames(append(at, strconv.Itoa(i)), one)
		}
	}
}

// reasons returns what the causes of an error allow, sorted.
func (r *reader) reasons(e *jsonschema.ValidationError) (all []string) {
	read := map[*jsonschema.ValidationError]bool{}
	var look func(*jsonschema.ValidationError)
	look = func(e *jsonschema.ValidationError) {
		for _, cause := range e.Causes {
			if read[cause] {
				continue
			}
			read[cause] = true
			if look(cause); len(cause.Causes) == 0 {
				all = append(all, r.allowed(cause.ErrorKind))
			}
		}
	}
	look(e)
	slices.Sort(all)
	return all
}

// found returns the value at a path, shortened.
func (r *reader) found(steps []string) string {
	at := r.value
	for _, step := range steps {
		switch v := at.(type) {
		case map[string]any:
			at = v[step]
		case []any:
			if i, err := strconv.Atoi(step); err == nil && i < len(v) {
				at = v[i]
			}
		}
	}
	return shortened(canonical(at))
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
