package rpc

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxShown bounds how much of a name that a peer sent is sent back to it, in bytes. The name of a tool has at most as many.
const maxShown = 128

// Cut returns a name that a peer sent, cut if it is long, so that an error is never as large as what it refuses.
func Cut[T string | []byte](name T) string { return CutTo(name, maxShown) }

// CutTo returns text if it has at most that many bytes; else as many runes of it as fit, followed by an ellipsis. A text that is cut is a copy, which
// does not keep the rest alive.
func CutTo[T string | []byte](text T, most int) string {
	if len(text) <= most {
		return string(text)
	}
	end := most
	for end > most-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return string(text[:end]) + "…"
}

// Quoted is Cut with quotes around the name, for error messages.
func Quoted[T string | []byte](name T) string { return strconv.Quote(Cut(name)) }

// maxText bounds how much of a peer's text is shown, in bytes.
const maxText = 4 << 10

// Printable returns a peer's text as a person may see it: on one line, because a second one could pass for someone else's, cut if it is long, and
// with control and invisible characters escaped as in Go. Tabs stay.
func Printable(text string) string {
	text = CutTo(text, maxText)
	if strings.ContainsFunc(text, endsLine) {
		text = strings.Join(strings.FieldsFunc(text, endsLine), " | ")
	}
	if utf8.ValidString(text) && !strings.ContainsFunc(text, hidden) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		if hidden(r) || r == utf8.RuneError && n == 1 {
			quoted := strconv.Quote(text[:n])
			b.WriteString(quoted[1 : len(quoted)-1])
		} else {
			b.WriteString(text[:n])
		}
		text = text[n:]
	}
	return b.String()
}

// PrintableLines is Printable for a text whose line breaks are kept: a result, or a text of this side.
func PrintableLines(text string) string {
	lines := strings.Split(CutTo(text, maxText), "\n")
	for i, line := range lines {
		lines[i] = Printable(line)
	}
	return strings.Join(lines, "\n")
}

func endsLine(r rune) bool { return r == '\n' || r == '\r' }

func hidden(r rune) bool { return r != '\t' && !strconv.IsGraphic(r) }
