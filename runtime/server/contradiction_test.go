package server

import (
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// A handler sends a user to no page that is a script or a file, tells a password, or is read on its way.
func TestLET01PagesAreForUsers(t *testing.T) {
	for url, want := range map[string]string{
		"https://example.com/connect": "", "http://localhost:8080/connect": "",
		"javascript:alert(1)": "/url: ", "file:///etc/passwd": "/url: ", "http://example.com/connect": "write an https URL", "https://u:p@example.com/": "no password",
	} {
		err := contradiction(wire.OpElicit, []byte(`{"mode":"url","message":"m","url":"`+url+`"}`))
		if err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", url, err)
		}
	}
}
