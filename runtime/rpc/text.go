package rpc

import (
	"strings"
	"unicode/utf8"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// unquote decodes a JSON string. Nearly all have no escapes and need no decoder.
func unquote(token []byte) (string, bool) {
	last := len(token) - 1
	if last < 1 || token[0] != '"' || token[last] != '"' {
		return "", false
	}
	if text := token[1:last]; plain(text) {
		return string(text), true
	}
	d := check.Get(token, check.Limits{})
	defer d.Put()
	s := d.String(nil)
	return strings.Clone(s), d.Finish() == nil
}

// plain reports whether the text between the quotes of a string is the string's value, and valid.
func plain(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c == '"' || c == '\\' {
			return false
		}
	}
	return utf8.Valid(text)
}

// sameString reports whether token is a JSON string with the value want, however it is escaped.
func sameString(token []byte, want string) bool {
	s, ok := unquote(token)
	return ok && s == want
}
