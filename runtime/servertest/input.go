package servertest

import (
	"encoding/json"
	"reflect"

	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// arguments returns the JSON of the arguments that a tool is called with. A generated input type has a plain field, not a pointer, for a property with a
// default. While a test has not set the field, the argument is left out, so that the default applies, as for a client that does not know the property.
func (c *Client) arguments(t *server.Tool, in any) json.RawMessage {
	if in == nil {
		return nil
	}
	raw := c.encode(in)
	if t == nil || reflect.Indirect(reflect.ValueOf(in)).Kind() != reflect.Struct {
		return raw
	}
	var definition struct {
		InputSchema struct {
			Properties map[string]struct {
				Default json.RawMessage `json:"default"`
			} `json:"properties"`
		} `json:"inputSchema"`
	}
	_ = json.Unmarshal([]byte(t.Definition), &definition)
	args := membersOf(raw)
	for name, p := range definition.InputSchema.Properties {
		if p.Default != nil && unset(args[name]) {
			delete(args, name)
		}
	}
	return c.encode(args)
}

// unset reports whether a member is absent, or the JSON of a zero value of Go.
func unset(v json.RawMessage) bool {
	switch string(v) {
	case "", `""`, "0", "false", "null":
		return true
	}
	return false
}
