package rpc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// TestTSK27TextOfAPeerIsShownOnOneLine: a line of its own would pass for one of whoever prints it.
func TestTSK27TextOfAPeerIsShownOnOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"a\nb":           "a | b",
		"\r\na\r\n\r\nb": "a | b",
		"a\tb":           "a\tb",
		"a\u2028\x1b[2J": `a\u2028\x1b[2J`,
		"a\u0085b":       `a\u0085b`,
		"é 漢":            "é 漢",
	} {
		if got := rpc.Printable(text); got != want {
			t.Errorf("Printable(%q) = %q, want %q", text, got, want)
		}
	}
	if err := fmt.Errorf("it says: %w", &rpc.Error{Code: 1, Message: "no\nroot: yes"}); strings.Contains(err.Error(), "\n") {
		t.Errorf("%q", err)
	}
}
