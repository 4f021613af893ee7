package check_test

import (
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

func TestSensitiveNamesAreThoseOfTheDefinition(t *testing.T) {
	definition := `{"inputSchema":{"properties":{"a/b":{"x-sensitive":true},"open":{"x-sensitive":false},"in":{"items":{"properties":{"pin":{"x-sensitive":true}}}}},` +
		`"$defs":{"D":{"properties":{"pin":{"x-sensitive":true}}}}},"outputSchema":{"anyOf":[{"properties":{"token":{"x-sensitive":true}}}]}}`
	if got := check.Sensitive(definition); got != "/a~1b/pin/token" {
		t.Error(got)
	}
}
