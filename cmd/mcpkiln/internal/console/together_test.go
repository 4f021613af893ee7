//go:build unix

package console_test

import (
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// TestKeysThatComeTogetherGoToTheirFields: a key after one that leaves a field changes the next field, or nothing if that was the last one.
func TestKeysThatComeTogetherGoToTheirFields(t *testing.T) {
	const no = `{"Action":"decline","Content":null}`
	page := client.Question{Server: "shop", URL: "https://login.example/", Host: "login.example"}
	for name, c := range map[string]struct {
		q          client.Question
		keys, want string
	}{
		"texts":    {of(`"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string"}`), "ab\rcd\ref\rgh\r", `{"Action":"accept","Content":{"a":"ab","b":"cd","c":"ef"}}`},
		"booleans": {of(`"a":{"type":"boolean"},"b":{"type":"boolean"}`), "yny", `{"Action":"accept","Content":{"a":true,"b":false}}`},
		"choices":  {of(`"a":{"type":"string","enum":["s","m"],"default":"s"},"b":{"type":"string","enum":["s","m"],"default":"s"}`), "j\r\rj", `{"Action":"accept","Content":{"a":"m","b":"s"}}`},
		"back":     {of(`"a":{"type":"string"},"b":{"type":"string"}`), "ab\rcd\x1b[Zx\r\r", `{"Action":"accept","Content":{"a":"abx","b":"cd"}}`},
		"consent":  {of(""), "n\ry", no},
		"a page":   {page, "n\ryes\r", no},
		"enter":    {page, "\ry\r", no},
		"escape":   {of(`"a":{"type":"string"}`), "ab\r\x1b", `{"Action":"accept","Content":{"a":"ab"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			a := ask(t, "PATH=", c.q)
			a.Sees("enter")
			a.Types(c.keys)
			a.answers(c.want + " <nil>")
		})
	}
}
