package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
)

// property has the keywords of a schema that are explained.
type property struct {
	Type        any
	Description string
	Default     json.RawMessage
	Enum        []json.RawMessage
	Const       json.RawMessage
	Items       json.RawMessage
	Ref         string `json:"$ref"`
	AnyOf,
	OneOf []json.RawMessage
	bounds
	items   *property  // Items, when an explainer has read it
	choices []property // and those of AnyOf and OneOf
	object  object     // what it has inside
	passed  []string   // the references that led to it
}

// object has the properties of an object.
type object struct {
	Properties map[string]json.RawMessage
	Required   []string
}

// inner returns the property whose object is shown as what is inside of p: itself, its items, or the only one of several that has properties; nil for none.
func (p *property) inner() (one *property) {
	switch {
	case len(p.object.Properties) > 0:
		return p
	case p.items != nil:
		return p.items.inner()
	}
	for i := range p.choices {
		if inner := p.choices[i].inner(); inner != nil {
			if one != nil {
				return nil
			}
			one = inner
		}
	}
	return one
}

// bounds are the limits of a value, as JSON so that numbers are shown as the schema writes them.
type bounds struct {
	Minimum, ExclusiveMinimum, Maximum, ExclusiveMaximum, MultipleOf json.RawMessage
	MinLength, MaxLength, MinItems, MaxItems                         json.RawMessage
	Format, Pattern                                                  string
}

// propertyOf reads a schema; of one with malformed keywords it returns no more than what is inside.
func propertyOf(schema json.RawMessage) (p property) {
	if json.Unmarshal(schema, &p) != nil {
		p = property{}
	}
	_ = json.Unmarshal(schema, &p.object) // anything but an object has no properties
	return p
}

// jsonLine returns a server's JSON on one line, with one kind of escapes.
func jsonLine(raw json.RawMessage) string { return plain.Line(string(plain.JSON(raw))) }

// kind returns the type of a property, or its allowed values.
func (p *property) kind() string {
	switch {
	case len(p.Enum) > 0:
		var all []string
		for _, v := range p.Enum {
			all = append(all, jsonLine(v))
		}
		return strings.Join(all, " | ")
	case p.Const != nil:
		return jsonLine(p.Const)
	}
	switch v := p.Type.(type) {
	case string:
		if v == "array" && p.items != nil {
			if limits := p.items.limits(); limits != "" {
				return "array of " + p.items.kind() + " (" + limits + ")"
			}
			return "array of " + p.items.kind()
		}
		return plain.Line(v)
	case []any:
		return plain.Line(strings.ReplaceAll(strings.Trim(fmt.Sprint(v), "[]"), " ", " | "))
	}
	return p.chosen()
}

// chosen returns the types of a property that may be one of several.
func (p *property) chosen() string {
	var all []string
	for i := range p.choices {
		if kind := p.choices[i].full(); !slices.Contains(all, kind) {
			all = append(all, kind)
		}
	}
	return cmp.Or(strings.Join(all, " | "), "any")
}

// about returns the description of a property, and its default.
func (p *property) about() string {
	text := plain.Line(p.Description)
	if p.Default != nil {
		text = strings.TrimSpace(text + " (default " + jsonLine(p.Default) + ")")
	}
	return text
}

// full returns the type with its limits.
func (p *property) full() string {
	if limits := p.limits(); limits != "" {
		return p.kind() + ", " + limits
	}
	return p.kind()
}

// limits returns the bounds of the property, and its format and pattern, in words.
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

// span returns how many of something there may be in words; nothing if the schema does not say.
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

// many returns a number with its noun.
func many(n, things string) string {
	if n == "1" {
		things = strings.TrimSuffix(things, "s")
	}
	return n + " " + things
}
