package argument

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
	"github.com/mcpkiln/mcpkiln/schema"
)

// base is the base URI of a schema, against which its references resolve, those to other documents below baseFolder.
const (
	base       = baseFolder + "schema.json"
	baseFolder = "mem:///"
)

// ErrUndecided is the error of a validation that ended without a result.
var ErrUndecided = errors.New("undecided")

// of reports whether the violation is at the top-level member of that name.
func (v Violation) of(name string) bool {
	step, ok := strings.CutPrefix(v.Pointer, "/")
	return ok && unescaped(step) == name && !strings.Contains(step, "/")
}

// Check validates a value by a schema, which is of JSON Schema 2020-12 unless it names another draft, and returns all violations. A schema that
// may be right and can not be evaluated here is an *UncheckableError, such as one with a reference to another document: nothing is fetched. So is a value
// that makes the validator panic.
// The schema is not trusted and can be written so that validation never ends: Check returns ErrUndecided as soon as ctx ends.
func Check(ctx context.Context, schema, value json.RawMessage) ([]Violation, error) {
	var all []Violation
	done := make(chan error, 1)
	go func() {
		defer func() {
			switch recover() {
			case nil:
			case ErrUndecided:
				done <- ErrUndecided
			default:
				done <- &UncheckableError{"makes the validator fail on this value"}
			}
		}()
		compiled, err := compile(ctx, schema)
		if err == nil {
			all = check(compiled, schema, value)
		}
		done <- err
	}()
	select {
	case err := <-done:
		return all, err
	case <-ctx.Done(): // the goroutine ends at the next schema, see limit
		return nil, ErrUndecided
	}
}

// limit is a keyword extension that applies to every schema, and ends a validation when its context ends: the validator itself evaluates every
// subschema as often as it is referred to, and keeps all errors.
type limit struct{ ctx context.Context }

// Compile implements jsonschema.ExtCompiler.
func (l limit) Compile(jsonschema.CompilerContext, map[string]any) (jsonschema.ExtSchema, error) {
	return l, nil
}

// Validate implements jsonschema.ExtSchema. It panics because the validator would go on after an error.
func (l limit) Validate(jsonschema.ValidationContext, any) error {
	if l.ctx.Err() != nil {
		panic(ErrUndecided)
	}
	return nil
}

// UncheckableError is the error of a schema by which nothing can be checked here, though it may be right.
type UncheckableError struct {
	What string // what it has or does that is not supported here, as a verb with its object
}

// Error implements error.
func (e *UncheckableError) Error() string { return "it " + e.What }

func compile(ctx context.Context, schema json.RawMessage) (*jsonschema.Schema, error) {
	if len(schema) == 0 {
		return nil, errors.New("there is none")
	}
	rewritten, foreign := withGoPatterns(schema)
	c := jsonschema.NewCompiler()
	c.AssertFormat = true
	c.RegisterExtension("limit", nil, limit{ctx})
	c.LoadURL = func(url string) (io.ReadCloser, error) {
		return nil, &UncheckableError{fmt.Sprintf("refers to %s, which is outside of it, and nothing is fetched", strings.TrimPrefix(url, baseFolder))}
	}
	err := c.AddResource(base, bytes.NewReader(rewritten))
	var compiled *jsonschema.Schema
	if err == nil {
		compiled, err = c.Compile(base)
	}
	switch {
	case err != nil:
		return nil, unusable(schema, err)
	case foreign != nil:
		return nil, foreign
	}
	return compiled, nil
}

// withGoPatterns returns a schema with its patterns, which are those of ECMA-262, in Go's syntax. foreign is about one that has more than Go's regular
// expressions; it matches anything in what is returned.
func withGoPatterns(raw json.RawMessage) (rewritten json.RawMessage, foreign error) {
	root, ds := schema.ParseJSON("", raw)
	if root == nil || len(ds) > 0 {
		return raw, nil // the validator says what is wrong
	}
	changed := false
	schema.RewritePatterns(root, func(text string) string {
		re2, err := schema.GoPattern(text)
		if err != nil {
			foreign, re2 = &UncheckableError{fmt.Sprintf("has a pattern that this command can not match, %q", text)}, ""
		}
		changed = changed || re2 != text
		return re2
	})
	if !changed {
		return raw, nil
	}
	return root.JSON(), foreign
}

// unusable returns the error for a schema that can not be used: what it has that is not supported here, or what is wrong with it. That is the first
// violation of its metaschema, if it has one.
func unusable(schema json.RawMessage, err error) error {
	var unable *UncheckableError
	var compilation *jsonschema.SchemaError
	var invalid *jsonschema.ValidationError
	switch {
	case errors.As(err, &unable):
		return unable
	case errors.As(err, &invalid):
		value, _ := decode(schema)
		return errors.New(violations(nil, invalid, value)[0].String())
	case errors.As(err, &compilation):
		err = compilation.Err
	}
	return errors.New(strings.ReplaceAll(strings.TrimPrefix(err.Error(), "jsonschema: "), base, ""))
}

// Violation is one place of a value that violates a keyword of its schema.
type Violation struct {
	Pointer string // JSON Pointer; "" is the whole
	Rule    string // the keyword
	Message string // what the keyword requires, and the value
}

// String returns the violation on one line.
func (v Violation) String() string {
	text := v.Rule + ": " + v.Message
	if v.Pointer != "" {
		text = v.Pointer + ": " + text
	}
	return plain.Line(text) // it has names and patterns of the server
}

// check returns all violations by a value.
func check(compiled *jsonschema.Schema, schema, raw json.RawMessage) []Violation {
	value, err := decode(raw)
	if err != nil {
		return []Violation{{Rule: "JSON", Message: err.Error()}}
	}
	err = compiled.Validate(value)
	var invalid *jsonschema.ValidationError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &invalid):
		return []Violation{{Rule: "schema", Message: err.Error()}}
	}
	all := violations(schema, invalid, value)
	slices.SortFunc(all, func(a, b Violation) int { return cmp.Compare(a.String(), b.String()) })
	return all
}

// decode reads JSON with its numbers as they are written.
func decode(raw json.RawMessage) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&value)
	return value, err
}

// violations returns the innermost violations, each once, without the keywords that contain them.
func violations(schema json.RawMessage, invalid *jsonschema.ValidationError, value any) (all []Violation) {
	document, _ := decode(schema) // it is JSON: it was compiled
	seen := map[Violation]bool{}
	for e := range leaves(invalid) {
		v := Violation{e.InstanceLocation, e.KeywordLocation[strings.LastIndexByte(e.KeywordLocation, '/')+1:], e.Message}
		if seen[v] {
			continue
		}
		seen[v] = true
		v.Message = cmp.Or(allowed(document, v.Rule, e.AbsoluteKeywordLocation), v.Message)
		if !strings.Contains(v.Message, "found") && !strings.Contains(v.Message, "got") {
			found, _ := follow(value, v.Pointer)
			v.Message += "; found " + shown(found)
		}
		all = append(all, v)
	}
	return all
}

// leaves yields the errors without causes.
func leaves(e *jsonschema.ValidationError) iter.Seq[*jsonschema.ValidationError] {
	return func(yield func(*jsonschema.ValidationError) bool) {
		if len(e.Causes) == 0 {
			yield(e)
			return
		}
		for _, cause := range e.Causes {
			for leaf := range leaves(cause) {
				if !yield(leaf) {
					return
				}
			}
		}
	}
}

// allowed returns the values or the pattern that a schema has there as it writes them: the validator puts numbers in quotes. It returns "" if
// there are none.
func allowed(schema any, rule, location string) string {
	pointer, _ := strings.CutPrefix(location, base+"#")
	value, ok := follow(schema, pointer)
	list, several := value.([]any)
	switch {
	case ok && rule == "pattern":
		return fmt.Sprintf("does not match pattern '%s'", value) // as it was before withGoPatterns
	case !ok || rule != "enum" && rule != "const":
		return ""
	case rule == "const" || !several:
		return "value must be " + shown(value)
	case len(list) == 1:
		return "value must be " + shown(list[0])
	}
	var all []string
	for _, one := range list {
		all = append(all, shown(one))
	}
	return "value must be one of " + strings.Join(all, ", ")
}

// follow returns the value at a JSON Pointer that is written as a URI fragment.
func follow(value any, pointer string) (at any, ok bool) {
	if pointer == "" {
		return value, true
	}
	rest, ok := strings.CutPrefix(pointer, "/")
	for step := range strings.SplitSeq(rest, "/") {
		if !ok {
			return nil, false
		}
		step = unescaped(step)
		switch v := value.(type) {
		case map[string]any:
			value, ok = v[step]
		case []any:
			i, err := strconv.Atoi(step)
			if ok = err == nil && i >= 0 && i < len(v); ok {
				value = v[i]
			}
		default:
			return nil, false
		}
	}
	return value, ok
}

// unescaped returns the name in a step of such a JSON Pointer.
func unescaped(step string) string {
	if text, err := url.PathUnescape(step); err == nil {
		step = text
	}
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
}

// maxFound limits how much of a value a message shows, in bytes.
const maxFound = 80

// shown returns a value as JSON, cut if it is long.
func shown(value any) string {
	text, _ := json.Marshal(value)
	if len(text) > maxFound {
		return strings.ToValidUTF8(string(text[:maxFound]), "") + "…"
	}
	return string(text)
}
