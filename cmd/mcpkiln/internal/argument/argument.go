// Package argument makes the arguments of a tool from words of a command line, and validates JSON by the schemas of a tool.
// It is for the commands that call tools.
//
//	name=text         a text; a number, boolean or list where the tool's schema has that there
//	name:=JSON        any JSON
//	@file.json, -     all arguments, from a file or standard input; single ones may follow and win
//
// A name=text whose name the schema does not have is refused: see Given.Known.
package argument

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Given is what a command line says, before it is known what the tool takes.
type Given struct {
	whole map[string]json.RawMessage // of @file or -
	pairs []pair
}

type pair struct {
	name, value string
	json        bool
}

// Read reads words, and the files that they name. Its errors name the word.
func Read(words []string, stdin io.Reader) (*Given, error) {
	g := &Given{whole: map[string]json.RawMessage{}}
	for _, word := range words {
		var err error
		switch {
		case word == "-":
			err = g.readAll(stdin)
		case strings.HasPrefix(word, "@"):
			err = g.readFile(word[1:])
		default:
			err = g.readPair(word)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", word, err)
		}
	}
	return g, nil
}

// maxFile is how large arguments in a file may be.
const maxFile = 64 << 20

func (g *Given) readFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return errors.Unwrap(err)
	}
	defer f.Close()
	return g.readAll(f)
}

func (g *Given) readAll(r io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	switch {
	case err != nil:
		return err
	case len(text) > maxFile:
		return fmt.Errorf("arguments of more than %d bytes", maxFile)
	}
	var all map[string]json.RawMessage
	var syntax *json.SyntaxError
	switch err := json.Unmarshal(text, &all); {
	case errors.As(err, &syntax):
		return fmt.Errorf("arguments are one JSON object: this is no JSON at byte %d", syntax.Offset)
	case err != nil || all == nil:
		return fmt.Errorf("arguments are one JSON object: this is %s", kindOf(text))
	}
	for name, value := range all {
		g.whole[name] = value
	}
	return nil
}

func (g *Given) readPair(word string) error {
	name, value, ok := strings.Cut(word, "=")
	p := pair{name: name, value: value}
	p.name, p.json = strings.CutSuffix(name, ":")
	switch {
	case strings.HasPrefix(word, "{"):
		return errors.New("all arguments as JSON are read from a file (@file.json) or standard input (-); one is name:=JSON")
	case !ok || p.name == "":
		return errors.New("write name=text, name:=JSON, @file.json or -")
	case p.json && !json.Valid([]byte(value)):
		return errors.New("what follows := is no JSON: a text goes after = alone, or in quotes")
	}
	g.pairs = append(g.pairs, p)
	return nil
}

// Object is the arguments as a tool with that inputSchema takes them.
func (g *Given) Object(schema json.RawMessage) (json.RawMessage, error) {
	properties := propertiesOf(schema)
	all := map[string]json.RawMessage{}
	for name, value := range g.whole {
		all[name] = value
	}
	seen := map[string]bool{}
	for _, p := range g.pairs {
		shape := properties[p.name]
		value := p.raw(shape)
		switch list := shape.only("array"); {
		case seen[p.name] && !list:
			return nil, fmt.Errorf("%s is given twice", p.name)
		case seen[p.name]:
			value = joined(all[p.name], value)
		}
		seen[p.name] = true
		all[p.name] = value
	}
	return json.Marshal(all)
}

// joined is a list with the items of two.
func joined(a, b json.RawMessage) json.RawMessage {
	var first, second []json.RawMessage
	if json.Unmarshal(a, &first) != nil || json.Unmarshal(b, &second) != nil {
		return b
	}
	list, _ := json.Marshal(slices.Concat(first, second))
	return list
}

// raw is the value of a word: what follows := as it is, and what follows = by the shape that the schema has for it, else a text.
func (p pair) raw(shape shape) json.RawMessage {
	if p.json {
		return json.RawMessage(p.value)
	}
	text, _ := json.Marshal(p.value)
	switch {
	case len(shape.Type) == 0 || slices.Contains(shape.Type, "string"):
		return text
	case json.Valid([]byte(p.value)) && shape.takes([]byte(p.value)):
		return json.RawMessage(p.value)
	case shape.only("array"):
		item := pair{value: p.value}.raw(shape.items())
		return slices.Concat(json.RawMessage("["), item, json.RawMessage("]"))
	}
	return text // the schema says what is wrong with it
}

// shape is what a schema says of the type of a value.
type shape struct {
	Type  types
	Items json.RawMessage
}

func propertiesOf(schema json.RawMessage) map[string]shape {
	var s struct{ Properties map[string]json.RawMessage }
	_ = json.Unmarshal(schema, &s)
	all := map[string]shape{}
	for name, raw := range s.Properties {
		var p shape
		if json.Unmarshal(raw, &p) == nil {
			all[name] = p
		}
	}
	return all
}

func (s shape) items() (item shape) {
	_ = json.Unmarshal(s.Items, &item)
	return item
}

// only tells whether the value has that type and, but for null, no other.
func (s shape) only(name string) bool {
	return slices.Contains(s.Type, name) && !slices.ContainsFunc(s.Type, func(t string) bool { return t != name && t != "null" })
}

// takes tells whether JSON is of one of the types.
func (s shape) takes(raw []byte) bool {
	kind := kindOf(raw)
	return slices.Contains(s.Type, kind) || kind == "number" && slices.Contains(s.Type, "integer")
}

// kindOf is the type of JSON, as schemas call it.
func kindOf(raw []byte) string {
	switch bytes.TrimSpace(raw)[0] {
	case '"':
		return "string"
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// types is the keyword type: one name, or several.
type types []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *types) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*t = types{one}
		return nil
	}
	var many []string
	if err := json.Unmarshal(raw, &many); err != nil {
		return nil // no type that is known: a text
	}
	*t = many
	return nil
}
