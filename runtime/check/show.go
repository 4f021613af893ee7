package check

import (
	"bytes"
	"cmp"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	showBytes  = 60
	hugeNumber = "a number whose exponent is beyond ±1,000,000"
)

// show returns a JSON value as one line (see printable), the same for all its spellings (LET14). Of long objects and arrays, and of values that may
// contain a hidden one, it returns only the kind.
func (d *Decoder) show(raw []byte) string {
	for len(raw) > 0 && isSpace(raw[len(raw)-1]) {
		raw = raw[:len(raw)-1]
	}
	if len(raw) == 0 {
		return nothing
	}
	if d.hidden != "" {
		if holder := mayHold(raw); holder != "" {
			return holder
		}
	}
	if d.scanned && Valid(raw, d.limits) != nil {
		return printable(string(raw)) // the caller was wrong, and a canonical form needs valid JSON
	}
	if raw[0] == '"' {
		return showString(raw)
	}
	many := container(raw)
	c := canonicalizer{data: raw, limit: math.MaxInt, movesLeft: math.MaxInt}
	if many != "" {
		c.limit = showBytes
	}
	switch c.value(0); {
	case c.full():
		return many
	case c.inexact:
		return cmp.Or(many, hugeNumber)
	}
	return printable(string(c.out))
}

// mayHold names the kind of a JSON value that may contain a hidden one; it returns "" for other values. Any string may: models write objects as
// strings, in many spellings, even where a schema allows strings.
func mayHold[T string | []byte](text T) string {
	if len(text) > 0 && text[0] == '"' {
		return "a string"
	}
	return container(text)
}

// container names the kind of an object or array; it returns "" for other values.
func container[T string | []byte](text T) string {
	switch {
	case len(text) == 0:
		return ""
	case text[0] == '{':
		return "an object"
	case text[0] == '[':
		return "an array"
	}
	return ""
}

// showString is show for a string. Of a long one it copies only the part that is shown, and counts the rest.
func showString(raw []byte) string {
	var room [2 * showBytes]byte
	b, total := append(room[:0], '"'), len(`""`)
	for rest := raw[1 : len(raw)-1]; len(rest) > 0; {
		n := bytes.IndexByte(rest, '\\')
		if n < 0 {
			n = len(rest)
		}
		piece := rest[:n]
		if n == 0 {
			var one [2 * showBytes]byte
			n = escapeLen(rest, 0)
			text, _, _ := unescape(one[:0], rest[:n], 0)
			quoted := appendString(one[:0], string(text))
			piece = quoted[1 : len(quoted)-1]
		}
		if rest, total = rest[n:], total+len(piece); len(b) <= showBytes {
			b = append(b, piece[:min(len(piece), showBytes+utf8.UTFMax)]...) // a character that this cuts begins after what is shown
		}
	}
	return printableOf(string(append(b, '"')), showBytes, total)
}

// quote returns a name in quotes, as one line (see printable).
func quote(s string) string {
	var room [64]byte
	return printableUpTo(string(appendString(room[:0], s)), maxShownExactly)
}

// maxShownExactly bounds what a violation shows in full: paths, names, patterns and enums, which its reader has to know exactly.
const maxShownExactly = 4096

// printable shortens a text and replaces what could disturb a terminal or a reader: line ends and tabs by spaces, other control characters and direction marks
// by escapes.
func printable(s string) string { return printableUpTo(s, showBytes) }

// printableUpTo is printable for a text that is shown up to most bytes, which only hostile texts exceed.
func printableUpTo(s string, most int) string {
	return printableOf(s, max(most, showBytes), len(s))
}

// printableOf is printableUpTo for a text of total bytes; s is all of it, or a prefix longer than most.
func printableOf(s string, most, total int) string {
	if total <= most && isGraphicASCII(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		if i >= most {
			b.WriteString("… (" + plural(total, "byte") + ")")
			break
		}
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteByte(' ')
		case r == utf8.RuneError || !unicode.IsGraphic(r):
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isGraphicASCII(s string) bool {
	for i := range len(s) {
		if s[i]-' ' > '~'-' ' {
			return false
		}
	}
	return true
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// list quotes and joins names, as many as fit into maxShownExactly.
func list(names []string, sep string) string {
	return join(len(names), sep, func(i int) string { return quote(names[i]) })
}

// join joins n texts, as many as fit into maxShownExactly.
func join(n int, sep string, text func(i int) string) string {
	var room [128]byte
	b := room[:0]
	for i := range n {
		if i > 0 {
			b = append(b, sep...)
		}
		t := text(i)
		if i > 0 && len(b)+len(t) > maxShownExactly {
			b = append(b, "… ("+strconv.Itoa(n)+" in all)"...)
			break
		}
		b = append(b, t...)
	}
	return string(b)
}
