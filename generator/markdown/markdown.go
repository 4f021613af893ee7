// Package markdown escapes text for Markdown: nothing in it is read as markup, as HTML, or as the end of a table cell or of a code block. It is for
// those who write untrusted text into Markdown.
package markdown

import (
	"fmt"
	"strings"
	"unicode"
)

// marks are the characters that begin markup somewhere in a line.
var marks = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\\", "\\\\", "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`,
	"|", `\|`, "~", `\~`, "$", `\$`)

// Text returns s escaped as a part of a line or of a table cell: one line, without markup. See Begin for the beginning of a line.
func Text(s string) string { return marks.Replace(oneLine(s)) }

// Begin returns a text of Text and Code for the beginning of a line, where more characters begin markup.
func Begin(line string) string {
	digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
	rest := line[digits:]
	switch {
	case rest != "" && digits == 0 && strings.ContainsRune("#+-=:", rune(rest[0])),
		rest != "" && digits > 0 && (rest[0] == '.' || rest[0] == ')'):
		return line[:digits] + `\` + rest
	}
	return line
}

// Code returns s as a code span within a line or a table cell.
func Code(s string) string {
	s = oneLine(s)
	if s == "" {
		return ""
	}
	if !strings.ContainsAny(s, "`|\\") {
		return "`" + s + "`"
	}
	// As HTML: in a table a bar ends the cell even in a code span, and can not be escaped after a backslash.
	var b strings.Builder
	for _, r := range s {
		if r < unicode.MaxASCII && r != ' ' && !isWord(r) {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return "<code>" + b.String() + "</code>"
}

func isWord(r rune) bool {
	return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// Block returns a fenced code block, with a fence that is longer than any in the text.
func Block(language, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fmt.Sprintf("%s%s\n%s\n%s\n", fence, language, strings.TrimRight(text, "\n"), fence)
}

// oneLine returns s with a space for each run of white space, and without control characters and marks that change the direction of writing.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
