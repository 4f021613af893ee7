// Package markdown writes texts into Markdown so that they stay texts: nothing in them is read as markup, as HTML, as the end of a table's cell or
// of a block of code. It is for those who write Markdown of what others say.
package markdown

import (
	"fmt"
	"strings"
	"unicode"
)

// marks are the characters that begin markup somewhere in a line.
var marks = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\\", "\\\\", "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`,
	"|", `\|`, "~", `\~`, "$", `\$`)

// Text is s as a part of a line or of a table's cell: one line, without markup. See Begin for the beginning of a line.
func Text(s string) string { return marks.Replace(oneLine(s)) }

// Begin is a line of Text and Code that stands at the beginning of a line, where more characters begin markup.
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

// Code is s as code within a line or a table's cell.
func Code(s string) string {
	s = oneLine(s)
	if s == "" {
		return ""
	}
	if !strings.ContainsAny(s, "`|\\") {
		return "`" + s + "`"
	}
	// Inside of a table nothing keeps a bar in a code span from what stands before it.
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

// Block is a block of code, with a fence that is longer than any in it.
func Block(language, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fmt.Sprintf("%s%s\n%s\n%s\n", fence, language, strings.TrimRight(text, "\n"), fence)
}

// oneLine is s with a space for each run of white space, and without control characters, those that turn the direction of writing among them.
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
