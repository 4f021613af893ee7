package generator

import (
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/schema"
)

// Whoever puts an argument that is named like a secret into a header is warned, unless it says that it is none.
func TestLET04SecretsInHeadersAreWarnedOf(t *testing.T) {
	const head = "server: {name: s, version: \"1\"}\ngo: {package: p, out: p}\ntools: {login: {inputSchema: {type: object, properties: {"
	for property, warned := range map[string]bool{
		`password: {type: string, x-mcp-header: Password}`:                          true,
		`api_key: {type: string, x-mcp-header: Authorization}`:                      true,
		`key: {type: string, title: API key, x-mcp-header: Key}`:                    true,
		`login: {type: object, properties: {pin: {type: string, x-mcp-header: P}}}`: true,
		`password: {type: string}`:                                                  false,
		`region: {type: string, x-mcp-header: Region}`:                              false,
		`token: {type: string, x-mcp-header: Token, x-sensitive: false}`:            false,
	} {
		r, err := Generate(t.Context(), Config{Manifest: Source{"mcpkiln.yaml", []byte(head + property + "}}}}\n")}, Import: "example.com/p", Out: "p"})
		if err != nil || r.Diagnostics.HasErrors() {
			t.Fatal(err, r.Diagnostics)
		}
		found := false
		for _, d := range r.Diagnostics {
			found = found || d.Code == "tool-header" && d.Severity == schema.Warning && strings.Contains(d.Message, "named like a secret")
		}
		if found != warned {
			t.Errorf("%s: %v", property, r.Diagnostics)
		}
	}
}
