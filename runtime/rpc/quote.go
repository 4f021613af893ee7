package rpc

import (
	"strconv"
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
