package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
)

// property is what is explained of a schema.
type property struct {
	Type        any
	Description string
	Default     json.RawMessage
	Enum        []json.RawMessage
	Const       json.RawMessage
	Items       *property
	bounds
}

// bounds are how large a value may be: as the schema writes them, so that a number looks as it does there.
type bounds struct {
	Minimum, ExclusiveMinimum, Maximum, ExclusiveMaximum, MultipleOf json.RawMessage
	MinLength, MaxLength, MinItems, MaxItems                         json.RawMessage
	Format, Pattern                                                  string
}

// propertyOf reads a schema; one whose keywords are not as they should be says nothing.
func propertyOf(schema json.RawMessage) (p property) {
	if json.Unmarshal(schema, &p) != nil {
		return property{}
	}
	return p
}

// kind is the type of a property, or the values that it can have.
func (p *property) kind() string {
	switch {
	case len(p.Enum) > 0:
		var all []string
		for _, v := range p.Enum {
			all = append(all, plain.Line(string(v)))
		}
		return strings.Join(all, " | ")
	case p.Const != nil:
		return plain.Line(string(p.Const))
	}
	switch v := p.Type.(type) {
	case string:
		if v == "array" && p.Items != nil {
			if limits := p.Items.limits(); limits != "" {
				return "array of " + p.Items.kind() + " (" + limits + ")"
			}
			return "array of " + p.Items.kind()
		}
		return plain.Line(v)
	case []any:
		return plain.Line(strings.ReplaceAll(strings.Trim(fmt.Sprint(v), "[]"), " ", " | "))
	}
	return "any"
}

// about is the description of a property, and its default.
func (p *property) about() string {
	text := plain.Line(p.Description)
	if p.Default != nil {
		text = strings.TrimSpace(text + " (default " + plain.Line(string(p.Default)) + ")")
	}
	return text
}

// full is the type with its bounds.
func (p *property) full() string {
	if limits := p.limits(); limits != "" {
		return p.kind() + ", " + limits
	}
	return p.kind()
}

// limits are the bounds of the property, as a person says them.
func (p *property) limits() string {
	var all []string
	add := func(format string, bound json.RawMessage) {
		if bound != nil {
			all = append(all, fmt.Sprintf(format, plain.Line(string(bound))))
		}
	}
	add("≥ %s", p.Minimum)
	add("> %s", p.ExclusiveMinimum)
	add("≤ %s", p.Maximum)
	add("< %s", p.ExclusiveMaximum)
	add("a multiple of %s", p.MultipleOf)
	all = append(all, span(p.MinLength, p.MaxLength, "characters")...)
	all = append(all, span(p.MinItems, p.MaxItems, "items")...)
	if p.Format != "" {
		all = append(all, plain.Line(p.Format))
	}
	if p.Pattern != "" {
		all = append(all, "matches "+plain.Line(p.Pattern))
	}
	return strings.Join(all, ", ")
}

// span is how many of something there may be; nothing where the schema does not say.
func span(least, most json.RawMessage, what string) []string {
	from, to := plain.Line(string(least)), plain.Line(string(most))
	switch {
	case least == nil && most == nil:
		return nil
	case most == nil:
		return []string{"at least " + many(from, what)}
	case least == nil:
		return []string{"at most " + many(to, what)}
	case from == to:
		return []string{many(from, what)}
	}
	return []string{from + " to " + many(to, what)}
}

// many is a number of things.
func many(n, things string) string {
	if n == "1" {
		things = strings.TrimSuffix(things, "s")
	}
	return n + " " + things
}
