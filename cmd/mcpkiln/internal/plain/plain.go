// Package plain makes untrusted text safe to print: a terminal shows escape sequences in it instead of obeying them. It is for the commands that
// print what a server sent.
//
// What a server sends can have sequences that move the cursor, change colours, rename the window, or type for the user. Everything that the
// command prints goes through Writer, so that no code can forget it; the texts of the bar and of forms go through Text.
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

// Text writes control characters, all but newlines and tabs, as Go escapes: ESC is \x1b. It also escapes marks that change the direction of
// writing, which make text look like other text, invisible characters, in which a name or an instruction can hide, and bytes that are no UTF-8.
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
		visible := false // the character before is, see joins
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

// joins reports whether s begins with a character that a joiner may be next to: emoji and some scripts need joiners, and ASCII does not.
func joins(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r > unicode.MaxASCII && r != utf8.RuneError && !isSuspect(r)
}

func isJoiner(r rune) bool { return r == '\u200c' || r == '\u200d' }

// Line is like Text, on one line.
func Line(s string) string { return Text(strings.Join(strings.Fields(s), " ")) }

// mark begins each line of a server's text that stands among lines of this program, so that it is not taken for one.
const mark = "  | "

// Marked returns the lines of a text, each behind a mark.
func Marked(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(strings.TrimRight(mark+line, " ") + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// MarkWidth is the width of the mark, in cells.
const MarkWidth = len(mark)

// Quote is like Text, with each line marked. All that ends a line for a terminal ends one here.
func Quote(s string) string { return Marked(strings.Split(Text(strings.TrimRight(s, "\r\n")), "\n")) }

// JSON returns the same JSON with the characters that Text escapes as \u escapes. Valid JSON has such characters only in strings.
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

// isSuspect reports whether a terminal would obey a character, or not show it. The variation selectors for emoji and text are allowed.
func isSuspect(r rune) bool {
	if r < utf8.RuneSelf {
		return r != '\n' && r != '\t' && unicode.IsControl(r)
	}
	return r != '\ufe0e' && r != '\ufe0f' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// Writer returns a writer that writes Text of its input to w. A character must not be split over two writes.
func Writer(w io.Writer) io.Writer { return writer{w} }

type writer struct{ w io.Writer }

// Write implements io.Writer.
func (w writer) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.w, Text(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
