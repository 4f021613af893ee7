// Package plain makes text of others safe to print: a terminal shows it, and does nothing that it says. It is for
// the commands that print what a server sent.
//
// What a server sends can hold sequences that move the cursor, recolour, rename the window, or type for the user. Everything that the
// command prints goes through Writer, so no place that prints can forget that; what the command itself draws on a terminal, a bar or a
// form, is made of Text.
package plain

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text shows control characters, all but newlines and tabs, as they are written in Go: an escape is \x1b. So are marks that turn the
// direction of writing, because they make text look like other text, and bytes that are no UTF-8.
func Text(s string) string {
	i := strings.IndexFunc(s, isUnsafe)
	if i < 0 && utf8.ValidString(s) {
		return s
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case !isUnsafe(r):
			b.WriteString(s[:n])
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		s = s[n:]
	}
	return b.String()
}

// Line is Text on one line.
func Line(s string) string { return Text(strings.Join(strings.Fields(s), " ")) }

// JSON is the same JSON, in which what Text shows is escaped. Valid JSON has such characters in strings alone.
func JSON(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for _, r := range string(raw) {
		if isUnsafe(r) {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

func isUnsafe(r rune) bool {
	return r != '\n' && r != '\t' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// Writer writes Text of what it is given. A character must not be spread over two writes.
func Writer(w io.Writer) io.Writer { return writer{w} }

type writer struct{ w io.Writer }

// Write implements io.Writer.
func (w writer) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.w, Text(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
