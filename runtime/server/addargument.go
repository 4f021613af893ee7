package server

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/check/format"
	"github.com/mcpkiln/mcpkiln/runtime/check/pattern"
)

// addedArguments are the arguments of a prompt that is added while the server runs.
type addedArguments struct {
	object    check.Object
	rules     []check.String
	enums     []check.Enum // one without values is none
	values    []Argument   // those that complete by themselves
	sensitive []string
}

// addedArgument is what a definition says of one of them.
type addedArgument struct {
	Name                 string
	Required             bool
	Enum                 []string
	Pattern, Format      string
	MinLength, MaxLength *int
	Sensitive            bool `json:"x-sensitive"`
}

// argumentKeywords are those of JSON Schema, which the protocol's lists do not have.
var argumentKeywords = []string{"enum", "pattern", "format", "minLength", "maxLength", "x-sensitive"}

// readArguments reads the arguments of a prompt's definition, which it returns as lists show it.
func readArguments(definition []byte) (shown []byte, args *addedArguments, err error) {
	var d struct{ Arguments []addedArgument }
	if err := json.Unmarshal(definition, &d); err != nil {
		return nil, nil, err
	}
	n := len(d.Arguments)
	args = &addedArguments{object: check.Object{AdditionalProperties: check.Refuse}, rules: make([]check.String, n), enums: make([]check.Enum, n)}
	for i := range d.Arguments {
		a := &d.Arguments[i]
		if a.Name == "" || slices.Contains(args.object.Names, a.Name) {
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
	return appendOmitting(nil, string(definition), omits), args, nil
}

func (args *addedArguments) add(i int, a *addedArgument) error {
	args.object.Names = append(args.object.Names, a.Name)
	if a.Required {
		args.object.Required = append(args.object.Required, a.Name)
	}
	if a.Sensitive {
		args.sensitive = append(args.sensitive, a.Name)
	}
	if len(a.Enum) > 0 {
		args.enums[i].Values = a.Enum
		args.values = append(args.values, Argument{Name: a.Name, Values: a.Enum})
	}
	rule := &args.rules[i]
	rule.Min, rule.Max = bound(a.MinLength), bound(a.MaxLength)
	if rule.Format = format.Named(a.Format); rule.Format == format.None && a.Format != "" {
		return fmt.Errorf("the format %q is not known", a.Format)
	}
	if a.Pattern == "" {
		return nil
	}
	source, err := pattern.RE2(a.Pattern)
	if err == nil {
		_, err = regexp.Compile(source)
	}
	if err != nil {
		return fmt.Errorf("its pattern: %w", err)
	}
	rule.Pattern = &format.Pattern{Source: a.Pattern}
	return nil
}

// bound is a limit of a rule, whose zero is none.
func bound(n *int) int {
	switch {
	case n == nil:
		return 0
	case *n <= 0:
		return check.Zero
	}
	return *n
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
