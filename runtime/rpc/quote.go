package rpc

import (
	"strconv"
	"unicode/utf8"
)

// maxShown is how much of a name that a peer sent is sent back to it, in bytes. Names of tools have at most 128.
const maxShown = 128

// Cut is a name as a peer wrote it, cut where it is long: an error is never as large as what it refuses.
func Cut[T string | []byte](name T) string {
	if len(name) <= maxShown {
		return string(name)
	}
	end := maxShown
	for end > maxShown-utf8.UTFMax && !utf8.RuneStart(name[end]) {
		end--
	}
	return string(name[:end]) + "…"
}

// Quoted is Cut in quotes, for a message.
func Quoted[T string | []byte](name T) string { return strconv.Quote(Cut(name)) }
