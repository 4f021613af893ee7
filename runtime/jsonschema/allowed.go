package jsonschema

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// explain returns the violations of one error, worded as those of generated tools. The library names several properties at once that
// are missing or not allowed: each is a violation of its own.
func (r *reader) explain(v check.Violation, e jsonschema.ErrorKind) check.Violations {
	switch k := e.(type) {
	case *kind.Required:
		return each(v, k.Missing, "nothing", "a value")
	case *kind.AdditionalProperties:
		return each(v, k.Properties, "a property with this name", "the properties that the schema names")
	}
	v.Allowed = r.allowed(e)
	return check.Violations{v}
}

// each returns a violation for each name, as many as are listed, since there may be many names.
func each(v check.Violation, names []string, found, allowed string) (all check.Violations) {
	at := v.Instance
	v.Found, v.Allowed = found, allowed
	names = slices.Sorted(slices.Values(names))
	for _, name := range names[:min(len(names), most)] {
		v.Instance = at + "/" + check.PointerStep(name)
		all = append(all, v)
	}
	return all
}

// allowed says in words what would be valid. Where a keyword has no short words for that, it returns the library's message.
func (r *reader) allowed(e jsonschema.ErrorKind) string {
	switch k := e.(type) {
	case *kind.Type:
		return articles(k.Want)
	case *kind.Const:
		return canonical(k.Want)
	case *kind.Enum:
		values := make([]string, len(k.Want))
		for i, want := range k.Want {
			values[i] = canonical(want)
		}
		if len(values) == 1 {
			return values[0]
		}
		return "one of " + strings.Join(values, ", ")
	case *kind.OneOf: // without causes: several fit
		return fmt.Sprintf("a value that fits one form of oneOf alone; it fits form %d and form %d", k.Subschemas[0]+1, k.Subschemas[1]+1)
	case *kind.Pattern:
		return "text that matches " + k.Want
	case *kind.Format:
		if r.guarded { // the library's message contains the value
			return "text of the format " + k.Want
		}
	case *kind.MinLength:
		return bound("at least", k.Want, "character", k.Got)
	case *kind.MaxLength:
		return bound("at most", k.Want, "character", k.Got)
	case *kind.MinItems:
		return bound("at least", k.Want, "item", k.Got)
	case *kind.MaxItems:
		return bound("at most", k.Want, "item", k.Got)
	case *kind.MinProperties:
		return bound("at least", k.Want, "member", k.Got)
	case *kind.MaxProperties:
		return bound("at most", k.Want, "member", k.Got)
	case *kind.Minimum:
		return "at least " + decimal(k.Want)
	case *kind.Maximum:
		return "at most " + decimal(k.Want)
	case *kind.ExclusiveMinimum:
		return "greater than " + decimal(k.Want)
	case *kind.ExclusiveMaximum:
		return "less than " + decimal(k.Want)
	case *kind.MultipleOf:
		return "a multiple of " + decimal(k.Want)
	case *kind.UniqueItems:
		return "items that all differ"
	case *kind.FalseSchema:
		return "no value"
	}
	return e.LocalizedString(r.printer)
}

// articles returns types in words, null last: a string or null.
func articles(types []string) string {
	var words []string
	for _, t := range types {
		switch t {
		case "null":
		case "array", "integer", "object":
			words = append(words, "an "+t)
		default:
			words = append(words, "a "+t)
		}
	}
	if slices.Contains(types, "null") {
		words = append(words, "null")
	}
	return strings.Join(words, " or ")
}

// bound says how many there may be, and how many there are.
func bound(word string, want int, noun string, got int) string {
	if want != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%s %d %s, not %d", word, want, noun, got)
}

// decimal returns the digits of a number in a schema, which is always a decimal fraction.
func decimal(n *big.Rat) string {
	if n.IsInt() {
		return n.Num().String()
	}
	digits, _ := n.FloatPrec()
	return n.FloatString(digits)
}
