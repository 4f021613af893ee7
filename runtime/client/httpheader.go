package client

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// describe adds the headers that repeat what a request says, so that a gateway can route without reading the body (EXT14).
func describe(h http.Header, d *wire.Dialect, r *round) {
	if d.HTTP.MethodHeader != "" {
		h.Set(d.HTTP.MethodHeader, r.call.op.Name)
	}
	if name := r.values.Text(r.call.op.Header); d.HTTP.NameHeader != "" && r.call.op.Header != wire.SlotNone {
		h.Set(d.HTTP.NameHeader, encodeHeader(&d.HTTP, name))
	}
	for _, p := range r.call.params {
		if value, ok := p.value(r.values[wire.SlotArguments]); ok {
			h.Set(d.HTTP.ParamPrefix+p.header, encodeHeader(&d.HTTP, value))
		}
	}
}

// encodeHeader returns a value as a header can hold it: what is not plain printable ASCII, begins or ends with space, or looks as if it
// were encoded, is encoded.
func encodeHeader(rules *wire.HTTP, value string) string {
	plain := strings.TrimSpace(value) == value && !strings.HasPrefix(value, rules.EncodedPrefix)
	for i := range len(value) {
		plain = plain && value[i] >= ' ' && value[i] <= '~'
	}
	if plain || rules.EncodedPrefix == "" {
		return value
	}
	return rules.EncodedPrefix + base64.StdEncoding.EncodeToString([]byte(value)) + rules.EncodedSuffix
}

// param is an argument that a header repeats: a property of the tool's schema that says so, reached by properties alone.
type param struct {
	header string
	path   []string
}

// value is the argument as text; false: it is absent or null.
func (p *param) value(arguments []byte) (string, bool) {
	for _, name := range p.path {
		if len(arguments) == 0 || arguments[0] != '{' {
			return "", false
		}
		arguments = memberOf(arguments, name)
	}
	var text string
	switch {
	case len(arguments) == 0 || string(arguments) == "null" || arguments[0] == '{' || arguments[0] == '[':
		return "", false
	case json.Unmarshal(arguments, &text) == nil:
		return text, true
	}
	return string(arguments), true
}

const headerKeyword = "x-mcp-header"

// schemaNode is what of a schema decides about headers.
type schemaNode struct {
	Type       any
	Header     json.RawMessage `json:"x-mcp-header"`
	Properties map[string]json.RawMessage
}

// paramsOf reads which arguments of a tool headers repeat. A declaration that is not valid is an error: the tool can not be called.
func paramsOf(definition json.RawMessage) (all []param, err error) {
	var tool struct{ InputSchema json.RawMessage }
	if err := json.Unmarshal(definition, &tool); err != nil || !bytes.Contains(tool.InputSchema, []byte(headerKeyword)) {
		return nil, nil
	}
	seen := map[string]bool{}
	err = eachParam(tool.InputSchema, nil, func(p param) error {
		if key := strings.ToLower(p.header); !seen[key] {
			seen[key] = true
			all = append(all, p)
			return nil
		}
		return fmt.Errorf("two properties have the header %q", p.header)
	})
	return all, err
}

func eachParam(schema json.RawMessage, path []string, visit func(param) error) error {
	var node schemaNode
	if json.Unmarshal(schema, &node) != nil {
		return nil // true or false
	}
	if node.Header != nil {
		var header string
		if json.Unmarshal(node.Header, &header) != nil || !isToken(header) {
			return fmt.Errorf("%s is no name of a header", node.Header)
		}
		if node.Type != "string" && node.Type != "integer" && node.Type != "boolean" || len(path) == 0 {
			return fmt.Errorf("the property with the header %q is no string, integer or boolean", header)
		}
		if err := visit(param{header, path}); err != nil {
			return err
		}
	}
	for name, property := range node.Properties {
		if err := eachParam(property, append(path[:len(path):len(path)], name), visit); err != nil {
			return err
		}
	}
	return nil
}

func isToken(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}
