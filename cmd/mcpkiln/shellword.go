package main

import (
	"fmt"
	"strings"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
)

// shellSafe matches a name that a shell takes literally.
var shellSafe = lazyregexp.New(`^[A-Za-z0-9_][\w.:-]*$`)

// shellWord returns a text as one word of a shell, to be pasted from a terminal. Characters that a terminal would not show as they are, which
// are escaped when they are printed, stand in it as octal escapes of $'…'.
func shellWord(text string) string {
	switch {
	case shellSafe().MatchString(text):
		return text
	case plain.Text(text) == text && !strings.ContainsAny(text, "\n\t"):
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	var b strings.Builder
	for _, r := range text {
		switch shown := plain.Text(string(r)); {
		case r == '\\' || r == '\'':
			b.WriteString(`\` + string(r))
		case r == '\n' || r == '\t' || shown != string(r):
			for _, c := range []byte(string(r)) {
				fmt.Fprintf(&b, `\%03o`, c)
			}
		default:
			b.WriteRune(r)
		}
	}
	return "$'" + b.String() + "'"
}

// shellJSON returns JSON as one word of a shell.
func shellJSON(raw []byte) string { return shellWord(string(plain.JSON(raw))) }
