// Package argument makes the arguments of a tool from words of a command line, and validates JSON by a tool's schemas. It is for the commands
// that call tools.
//
//	name=text         a string; a number, boolean or list where the tool's schema allows that, and no string
//	name:=JSON        any JSON
//	@file.json, -     all arguments, from a file or standard input; single ones override them
//
// A name=text whose name the schema does not have is refused: see Given.Known. What the schema allows at a place is found in shape.go, through
// local references and combinations.
package argument

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcpkiln/mcpkiln/schema"
)

// Given are the arguments of a command line, read without the tool's schema.
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
		case word == "-", word == "@-":
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

// maxFile limits the size of a file of arguments.
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
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // editors of Windows begin files with it
	var all map[string]json.RawMessage
	var syntax *json.SyntaxError
	switch err := json.Unmarshal(text, &all); {
	case errors.As(err, &syntax):
		return fmt.Errorf("arguments are one JSON object: this is no JSON at byte %d", syntax.Offset)
	case err != nil || all == nil:
		return fmt.Errorf("arguments are one JSON object: this is %s", kindOf(text))
	}
	if err := Unambiguous(text); err != nil {
		return err
	}
	for name, value := range all {
		g.whole[name] = value
	}
	return nil
}

// Unambiguous returns an error for JSON of which readers make different values: a key occurs twice, or a text is no Unicode. The reader of the standard
// library would take the last value, or put U+FFFD there, without a word.
func Unambiguous(text []byte) error {
	_, ds := schema.ParseJSON("", text)
	for _, d := range ds {
		switch d.Code {
		case "duplicate-key":
			return fmt.Errorf("line %d, column %d: %s: %s", d.Pos.Line, d.Pos.Column, d.Message, d.Hint)
		case "invalid-utf8":
			return fmt.Errorf("line %d, column %d: %s: write the text in UTF-8", d.Pos.Line, d.Pos.Column, d.Message)
		}
	}
	return nil
}

func (g *Given) readPair(word string) error {
	for at, r := range word {
		if r == utf8.RuneError && !strings.HasPrefix(word[at:], string(r)) {
			return fmt.Errorf("byte %d is not UTF-8: write the text in UTF-8", at+1)
		}
	}
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
	case p.json:
		if err := Unambiguous([]byte(value)); err != nil {
			return err
		}
	}
	g.pairs = append(g.pairs, p)
	return nil
}

// Object returns the arguments as a JSON object for a tool with that inputSchema.
func (g *Given) Object(schema json.RawMessage) (json.RawMessage, error) {
	shapes := newShapes(schema)
	all := map[string]json.RawMessage{}
	for name, value := range g.whole {
		all[name] = value
	}
	seen := map[string]bool{}
	for _, p := range g.pairs {
		in := place{name: p.name}
		value := p.raw(shapes, in)
		switch list := shapes.kinds(in).only(ofList); {
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

// Explain adds to a violation by a name=text that was taken for a string a hint to write name:=JSON, if the JSON would violate nothing.
func (g *Given) Explain(ctx context.Context, schema, in json.RawMessage, all []Violation) {
	shapes := newShapes(schema)
	for _, p := range g.pairs {
		value := json.RawMessage(p.value)
		if p.json || !json.Valid(value) || kindOf(p.raw(shapes, place{name: p.name})) != "string" {
			continue
		}
		ofPair := func(v Violation) bool { return v.of(p.name) }
		if !slices.ContainsFunc(all, ofPair) {
			continue
		}
		if other, err := Check(ctx, schema, with(in, p.name, value)); err != nil || slices.ContainsFunc(other, ofPair) {
			continue
		}
		for i := range all {
			if ofPair(all[i]) {
				all[i].Message += fmt.Sprintf(" (%s:=%s gives it as %s)", p.name, value, nouns[kindOf(value)])
			}
		}
	}
}

// nouns has the types of JSON as a sentence names them.
var nouns = map[string]string{"string": "a string", "number": "a number", "boolean": "a boolean", "null": "null", "array": "a list", "object": "an object"}

// with returns an object with one member replaced.
func with(object json.RawMessage, name string, value json.RawMessage) json.RawMessage {
	all := map[string]json.RawMessage{}
	_ = json.Unmarshal(object, &all)
	all[name] = value
	text, _ := json.Marshal(all)
	return text
}

// joined returns a list with the items of both. null is an item.
func joined(a, b json.RawMessage) json.RawMessage {
	first, ok := items(a)
	second, also := items(b)
	if !ok || !also {
		return b
	}
	list, _ := json.Marshal(slices.Concat(first, second))
	return list
}

func items(raw json.RawMessage) (all []json.RawMessage, ok bool) {
	if kindOf(raw) == "null" {
		return []json.RawMessage{raw}, true
	}
	return all, json.Unmarshal(raw, &all) == nil
}

// raw returns the value of a word as JSON: the text after := as it is, and that after = as what the schema allows at the place, else a string.
func (p pair) raw(s *shapes, in place) json.RawMessage {
	if p.json {
		return json.RawMessage(p.value)
	}
	quoted, _ := json.Marshal(p.value)
	switch allowed := s.kinds(in); {
	case allowed&ofText != 0:
		return quoted
	case json.Valid([]byte(p.value)) && allowed&kindNames[kindOf([]byte(p.value))] != 0:
		return json.RawMessage(p.value)
	case allowed.only(ofList) && in.lists < maxLists:
		in.lists++
		return slices.Concat(json.RawMessage("["), p.raw(s, in), json.RawMessage("]"))
	}
	return quoted // the schema says what is wrong with it
}

// kindOf returns the type of JSON, as schemas call it.
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
