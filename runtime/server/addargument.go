package server

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/check/format"
	"github.com/mcpkiln/mcpkiln/runtime/check/pattern"
	"github.com/mcpkiln/mcpkiln/runtime/internal/exact"
	"github.com/mcpkiln/mcpkiln/runtime/wire/edit"
)

// addedArguments are the arguments of a prompt that is added while the server runs.
type addedArguments struct {
	object    check.Object
	rules     []check.String
	enums     []check.Enum // one without Values: the argument has no enum
	values    []Argument   // the completions of arguments with an enum
	sensitive []string
}

// addedArgument is one argument of a definition.
type addedArgument struct {
	Name      string   `json:"name"`
	Required  bool     `json:"required"`
	Enum      []string `json:"enum"`
	Pattern   string   `json:"pattern"`
	Format    string   `json:"format"`
	MinLength *float64 `json:"minLength"`
	MaxLength *float64 `json:"maxLength"`
	Sensitive bool     `json:"x-sensitive"`
}

// argumentKeywords are the keywords of JSON Schema that an argument may have in a definition and that prompts/list leaves out.
var argumentKeywords = []string{"type", "enum", "pattern", "format", "minLength", "maxLength", "x-sensitive"}

// readArguments reads the arguments of a prompt's definition, which promptShape has checked. shown is the definition for prompts/list.
func readArguments(definition []byte) (shown []byte, args *addedArguments, err error) {
	var d struct {
		Arguments []addedArgument `json:"arguments"`
	}
	if err := exact.Unmarshal(definition, &d); err != nil {
		return nil, nil, err
	}
	n := len(d.Arguments)
	args = &addedArguments{object: check.Object{AdditionalProperties: check.Refuse}, rules: make([]check.String, n), enums: make([]check.Enum, n)}
	for i := range d.Arguments {
		a := &d.Arguments[i]
		if slices.Contains(args.object.Names, a.Name) {
			return nil, nil, fmt.Errorf("each argument needs a name of its own, found %q", a.Name)
		}
		if err := args.add(i, a); err != nil {
			return nil, nil, fmt.Errorf("argument %q: %w", a.Name, err)
		}
	}
	var omits []string
	for _, keyword := range argumentKeywords {
		omits = append(omits, "arguments/*/"+keyword)
	}
	return edit.AppendOmitting(nil, string(definition), omits), args, nil
}

func (args *addedArguments) add(i int, a *addedArgument) error {
	args.object.Names = append(args.object.Names, a.Name)
	if a.Required {
		args.object.Required = append(args.object.Required, a.Name)
	}
	if a.Sensitive {
		args.sensitive = append(args.sensitive, a.Name)
	}
	rule := &args.rules[i]
	rule.Min, rule.Max = bound(a.MinLength), bound(a.MaxLength)
	if a.MinLength != nil && a.MaxLength != nil && *a.MinLength > *a.MaxLength {
		return fmt.Errorf("no text has a minLength of %v and a maxLength of %v", *a.MinLength, *a.MaxLength)
	}
	if rule.Format = format.Named(a.Format); rule.Format == format.None && a.Format != "" {
		return fmt.Errorf("the format %q is not known", a.Format)
	}
	if a.Pattern != "" {
		source, err := pattern.RE2(a.Pattern)
		if err == nil {
			_, err = regexp.Compile(source)
		}
		if err != nil {
			return fmt.Errorf("its pattern: %w", err)
		}
		rule.Pattern = &format.Pattern{Source: a.Pattern}
	}
	return args.enum(i, a)
}

// enum keeps those values of an argument's enum that satisfy its other rules, so that a request has to be checked against the enum alone.
func (args *addedArguments) enum(i int, a *addedArgument) error {
	if a.Enum == nil {
		return nil
	}
	values := slices.DeleteFunc(a.Enum, func(v string) bool {
		d := check.Get(check.AppendString(nil, v), check.Limits{})
		defer d.Put()
		d.Text(&args.rules[i])
		return d.Finish() != nil
	})
	if len(values) == 0 {
		return errors.New("every value of its enum breaks another of its rules")
	}
	args.enums[i].Values = values
	args.values = append(args.values, Argument{Name: a.Name, Values: values})
	return nil
}

func (args *addedArguments) read(d *check.Decoder) map[string]string {
	values := map[string]string{}
	for f := d.Object(&args.object); f >= 0; f = d.Next() {
		switch {
		case f >= len(args.rules):
			d.Skip()
		case len(args.enums[f].Values) > 0:
			values[args.object.Names[f]] = d.Enum(&args.enums[f])
		default:
			values[args.object.Names[f]] = d.String(&args.rules[f])
		}
	}
	return values
}
