package rpc

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxShown is how much of a name that a peer sent is sent back to it, in bytes. Names of tools have at most 128.
const maxShown = 128

// Cut is a name as a peer wrote it, cut where it is long: an error is never as large as what it refuses.
func Cut[T string | []byte](name T) string { return CutTo(name, maxShown) }

// CutTo is text if it has at most that many bytes, else as many runes of it as fit, and an ellipsis. What is cut is a copy: it does not
// keep the rest of text.
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

// Quoted is Cut in quotes, for a message.
func Quoted[T string | []byte](name T) string { return strconv.Quote(Cut(name)) }

// maxText is how much of a text of a peer an error shows, in bytes.
const maxText = 4 << 10

// Shown is text of a peer as a person may see it: cut where it is long, and with what a terminal would obey, or what is invisible, written
// as Go writes it in quotes. Tabs and ends of lines stay.
func Shown(text string) string {
	text = CutTo(text, maxText)
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

func hidden(r rune) bool { return r != '\n' && r != '\t' && !strconv.IsGraphic(r) }
