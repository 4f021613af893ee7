// Package paramheader reads which arguments of a tool HTTP headers repeat (EXT14): properties of its inputSchema that say so, reached by
// properties alone. It is for the packages of clients, which leave out a tool that says it wrongly, and of
// servers, which refuse to list such a tool.
package paramheader

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Keyword marks the property of such an argument.
const Keyword = "x-mcp-header"

// Param is such an argument.
type Param struct {
	Header    string   // without the prefix that all of them have
	Path      []string // of the property
	Sensitive bool     // it is x-sensitive, which a server refuses
}

// node is what of a schema decides about headers.
type node struct {
	Type       any
	Header     json.RawMessage `json:"x-mcp-header"`
	Sensitive  any             `json:"x-sensitive"`
	Properties map[string]json.RawMessage
}

// Of reads them from a tool's definition. A declaration that is not valid is an error.
func Of(definition json.RawMessage) (all []Param, err error) {
	var tool struct{ InputSchema json.RawMessage }
	if err := json.Unmarshal(definition, &tool); err != nil || !bytes.Contains(tool.InputSchema, []byte(Keyword)) {
		return nil, nil
	}
	seen := map[string]bool{}
	err = each(tool.InputSchema, nil, func(p Param) error {
		if key := strings.ToLower(p.Header); !seen[key] {
			seen[key] = true
			all = append(all, p)
			return nil
		}
		return fmt.Errorf("two properties have the header %q", p.Header)
	})
	return all, err
}

func each(schema json.RawMessage, path []string, visit func(Param) error) error {
	var n node
	if json.Unmarshal(schema, &n) != nil {
		return nil // true or false
	}
	if n.Header != nil {
		var header string
		if json.Unmarshal(n.Header, &header) != nil || !IsToken(header) {
			return fmt.Errorf("%s is no name of a header", n.Header)
		}
		if n.Type != "string" && n.Type != "integer" && n.Type != "boolean" || len(path) == 0 {
			return fmt.Errorf("the property with the header %q is no string, integer or boolean", header)
		}
		if err := visit(Param{header, path, n.Sensitive == true}); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(n.Properties)) {
		if err := each(n.Properties[name], append(path[:len(path):len(path)], name), visit); err != nil {
			return err
		}
	}
	return nil
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
