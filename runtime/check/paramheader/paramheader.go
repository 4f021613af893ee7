// Package paramheader finds the arguments of a tool that HTTP headers repeat (EXT14): properties of its inputSchema with x-mcp-header, reached
// through the keyword properties alone. It is for the packages of the generator; of clients, which leave out a tool that declares one
// wrongly; and of servers, which refuse to list such a tool, and compare the headers of a call with its arguments.
package paramheader

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check"
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
	schema := members(definition)["inputSchema"]
	if !check.Mentions(schema, Keyword) {
		return nil
	}
	return each(schema, nil, visit)
}

// each is walk for the schema of the property at path and those below.
func each(schema json.RawMessage, path []string, visit func(Param, error) error) error {
	n := members(schema)
	if declared := n[Keyword]; declared != nil {
		header, err := read(declared, n["type"], path)
		if err := visit(Param{header, path, string(n["x-sensitive"]) == "true", !Exact(schema)}, err); err != nil {
			return err
		}
	}
	properties := members(n["properties"])
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if err := each(properties[name], append(path[:len(path):len(path)], name), visit); err != nil {
			return err
		}
	}
	return nil
}

// read returns the header that the property at path declares; kind is the property's type.
func read(declared, kind json.RawMessage, path []string) (header string, err error) {
	if json.Unmarshal(declared, &header) != nil || !IsToken(header) {
		return "", fmt.Errorf("%s is no name of a header", declared)
	}
	if t := text(kind); t != "string" && t != "integer" && t != "boolean" || len(path) == 0 {
		return "", fmt.Errorf("the property with the header %q is no string, integer or boolean", header)
	}
	return header, nil
}

// members returns the members of a JSON object by their exact names; nil for any other value.
func members(object json.RawMessage) (all map[string]json.RawMessage) {
	_ = json.Unmarshal(object, &all)
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
