package schema

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestLine is how much of a source line is shown, in bytes.
const longestLine = 120

// Render returns the diagnostic with its source line and a caret under the column. If the line is too long to be shown whole, as in a file of one
// line, the JSON Pointer is shown, too. src is the text of
// the file; without it, or without a line, only the first line is returned. The result ends without a newline.
func (d Diagnostic) Render(src []byte) string {
	all := sourceLine(src, int(d.Pos.Line))
	if len(all) == 0 || d.Pos.Column == 0 {
		return d.String()
	}
	first := d.String()
	if len(all) > longestLine && d.Pointer != "" {
		first += "\n  at " + printable(lastPart(d.Pointer))
	}
	line, column := window(all, int(d.Pos.Column))
	return first + "\n  " + printable(line) + "\n  " + indent(line, column) + "^"
}

// lastPart is a JSON Pointer, cut at its beginning if it is too long.
func lastPart(pointer string) string {
	if len(pointer) <= longestLine {
		return pointer
	}
	end := pointer[len(pointer)-longestLine:]
	return ellipsis + end[max(0, strings.IndexByte(end, '/')):]
}

// sourceLine is a line of a text, without its end; nothing if there is no such line.
func sourceLine(src []byte, number int) []byte {
	if number == 0 {
		return nil
	}
	for ; number > 1; number-- {
		end := bytes.IndexByte(src, '\n')
		if end < 0 {
			return nil
		}
		src = src[end+1:]
	}
	if end := bytes.IndexByte(src, '\n'); end >= 0 {
		src = src[:end]
	}
	return bytes.TrimSuffix(src, []byte("\r"))
}

// ellipsis marks where a line was cut.
const ellipsis = "…"

// window cuts a line that is too long for a terminal (a saved answer is often one line) around the column.
func window(line []byte, column int) (string, int) {
	const before = 60
	column = min(column, len(line)+1)
	if len(line) <= longestLine {
		return string(line), column
	}
	start := max(0, column-1-before)
	end := min(len(line), start+longestLine)
	for start > 0 && start < len(line) && !utf8.RuneStart(line[start]) {
		start--
	}
	for end < len(line) && !utf8.RuneStart(line[end]) {
		end++
	}
	cut, column := string(line[start:end]), column-start
	if start > 0 {
		cut, column = ellipsis+cut, column+len(ellipsis)
	}
	if end < len(line) {
		cut += ellipsis
	}
	return cut, column
}

// printable replaces characters that would affect the terminal, such as escape sequences and bidirectional controls.
func printable(line string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || unicode.IsGraphic(r) {
			return r
		}
		return utf8.RuneError
	}, line)
}

// indent is as wide as the line before the column: tabs stay tabs, wide characters take two places.
func indent(line string, column int) string {
	var b strings.Builder
	for i, r := range line {
		switch {
		case i >= column-1:
			return b.String()
		case r == '\t':
			b.WriteByte('\t')
		case unicode.Is(unicode.Mn, r):
		case isWide(r):
			b.WriteString("  ")
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// isWide covers the scripts and symbols that terminals draw in two columns.
func isWide(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) ||
		0x3000 <= r && r <= 0x303E || 0xFF01 <= r && r <= 0xFF60 || 0x1F300 <= r && r <= 0x1FAFF
}
