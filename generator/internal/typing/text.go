package typing

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// EscapeInvisible rewrites JSON for a Go raw string. Backquotes and characters that editors do not show (bidirectional marks, zero-width
// joiners, byte order marks) become \u escapes, which mean the same (VAL08). They occur only within JSON strings.
func EscapeInvisible(jsonText string) string {
	if strings.IndexFunc(jsonText, mustEscape) < 0 {
		return jsonText
	}
	var b strings.Builder
	for _, r := range jsonText {
		switch {
		case !mustEscape(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// mustEscape reports whether r can not be in a Go raw string, or is not shown by editors.
func mustEscape(r rune) bool {
	if r < 0x80 {
		return r == '`' || r == 0x7F
	}
	return !unicode.IsGraphic(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}
