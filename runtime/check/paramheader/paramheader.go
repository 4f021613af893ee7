// Package paramheader finds the arguments of a tool that HTTP headers repeat (EXT14): properties of its inputSchema with x-mcp-header, reached
// through the keyword properties alone; a declaration anywhere else is invalid. It is for the packages of the generator; of clients, which leave out a tool that declares one
// wrongly; and of servers, which refuse to list such a tool, and compare the headers of a call with its arguments.
package paramheader

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/check/keyword"
)

// Keyword marks the property of such an argument.
const Keyword = "x-mcp-header"

// Param is an argument that a header repeats.
type Param struct {
	Header    string   // the header's name without the prefix Mcp-Param-
	Path      []string // the names of the properties that lead to it, its own last
	Sensitive bool     // it is x-sensitive, which a server refuses
	Inexact   bool     // it is not Exact, which a server refuses, too
}

// Of returns the Params of a tool's definition. An invalid declaration is an error.
func Of(definition json.RawMessage) (all []Param, err error) {
	seen := map[string]bool{}
	err = walk(definition, func(p Param, err error) error {
		key := strings.ToLower(p.Header)
		switch {
		case err != nil:
			return err
		case seen[key]:
			return fmt.Errorf("two properties have the header %q", p.Header)
		}
		seen[key] = true
		all = append(all, p)
		return nil
	})
	return all, err
}

// Valid returns the Params of a tool's definition, without those whose declarations are invalid.
func Valid(definition json.RawMessage) (all []Param) {
	_ = walk(definition, func(p Param, err error) error {
		if err == nil {
			all = append(all, p)
		}
		return nil
	})
	return all
}

// walk visits each declaration in a tool's definition, with the error if it is invalid, until visit returns an error.
func walk(definition json.RawMessage, visit func(Param, error) error) error {
	return each(members(definition)["inputSchema"], place{at: "/inputSchema", reached: true}, visit)
}

// place is where a value stands in a definition.
type place struct {
	at      string       // its JSON Pointer
	keys    keyword.Keys // what its keys are, if it is an object
	path    []string     // the names of the properties that lead to it, if it is reached
	reached bool         // by the keyword properties alone
}

// below is the place of the value under a key.
func (p place) below(key string) place {
	next := place{at: p.at + "/" + check.PointerStep(key), keys: p.keys.Below(key), path: p.path}
	switch p.keys {
	case keyword.Keywords:
		next.reached = p.reached && key == "properties"
	case keyword.Names:
		next.reached, next.path = p.reached, append(p.path[:len(p.path):len(p.path)], key)
	}
	return next
}

// each is walk for the value at a place.
func each(value json.RawMessage, p place, visit func(Param, error) error) error {
	if !check.Mentions(value, Keyword) {
		return nil
	}
	n := members(value)
	if declared := n[Keyword]; declared != nil && p.keys == keyword.Keywords {
		header, err := read(declared, n["type"], p)
		if err := visit(Param{header, p.path, string(n["x-sensitive"]) == "true", !Exact(value)}, err); err != nil {
			return fmt.Errorf("%s/%s: %w", p.at, Keyword, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(n)) {
		if err := each(n[name], p.below(name), visit); err != nil {
			return err
		}
	}
	for i, item := range items(value) {
		if err := each(item, place{at: p.at + "/" + strconv.Itoa(i), keys: p.keys}, visit); err != nil {
			return err
		}
	}
	return nil
}

// read returns the header that the schema at a place declares; kind is its type.
func read(declared, kind json.RawMessage, p place) (header string, err error) {
	switch {
	case !p.reached || len(p.path) == 0:
		return "", errors.New("clients do not find the argument here: move it to a property of the inputSchema, or of an object among its properties")
	case json.Unmarshal(declared, &header) != nil || !IsToken(header):
		return "", fmt.Errorf("%s is no name of a header", declared)
	}
	if t := text(kind); t != "string" && t != "integer" && t != "boolean" {
		return "", fmt.Errorf("the property with the header %q is no string, integer or boolean", header)
	}
	return header, nil
}

// members returns the members of a JSON object by their exact names; nil for any other value.
func members(object json.RawMessage) (all map[string]json.RawMessage) {
	_ = json.Unmarshal(object, &all)
	return all
}

// items returns the items of a JSON array; nil for any other value.
func items(array json.RawMessage) (all []json.RawMessage) {
	_ = json.Unmarshal(array, &all)
	return all
}

// text returns the value of a JSON string, "" for any other value.
func text(value json.RawMessage) (s string) {
	_ = json.Unmarshal(value, &s)
	return s
}

// IsToken reports whether s can be the name of a header: a token of RFC 9110.
func IsToken(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}
