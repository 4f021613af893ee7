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
	"iter"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text shows control characters, all but newlines and tabs, as they are written in Go: an escape is \x1b. So are marks that turn the
// direction of writing, because they make text look like other text, characters that show nothing, because a name or an instruction can hide in
// them, and bytes that are no UTF-8.
func Text(s string) string {
	if strings.IndexFunc(s, isSuspect) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for r, text := range characters(strings.ReplaceAll(s, "\r\n", "\n")) {
		switch {
		case r < 0:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case r == 0 && text != "\x00":
			b.WriteString(text)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

// characters yields each character of s: as a rune if it is to be shown escaped, -1 if it is no UTF-8, and 0 if it may stay as it is.
func characters(s string) iter.Seq2[rune, string] {
	return func(yield func(rune, string) bool) {
		visible := false // of the one before, see joins
		for len(s) > 0 {
			r, n := utf8.DecodeRuneInString(s)
			escaped, text := r, s[:n]
			s = s[n:]
			switch {
			case r == utf8.RuneError && n == 1:
				escaped = -1
			case !isSuspect(r) || isJoiner(r) && visible && joins(s):
				escaped = 0
			}
			visible = joins(text)
			if !yield(escaped, text) {
				return
			}
		}
	}
}

// joins reports whether s begins with a character that joiners stand beside: emoji and some scripts need them, and ASCII does not.
func joins(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r > unicode.MaxASCII && r != utf8.RuneError && !isSuspect(r)
}

func isJoiner(r rune) bool { return r == '\u200c' || r == '\u200d' }

// Line is Text on one line.
func Line(s string) string { return Text(strings.Join(strings.Fields(s), " ")) }

// JSON is the same JSON, in which what Text shows is escaped. Valid JSON has such characters in strings alone.
func JSON(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for r, text := range characters(string(raw)) {
		switch {
		case r < 0:
			out = utf8.AppendRune(out, utf8.RuneError)
		case r == 0 && text != "\x00":
			out = append(out, text...)
		default:
			for _, unit := range utf16.Encode([]rune{r}) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
		}
	}
	return out
}

// isSuspect reports whether a terminal would obey a character, or not show it. Of the selectors of variants the two for emoji and text pass.
func isSuspect(r rune) bool {
	if r < utf8.RuneSelf {
		return r != '\n' && r != '\t' && unicode.IsControl(r)
	}
	return r != '\ufe0e' && r != '\ufe0f' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
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
