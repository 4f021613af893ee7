package check

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const showBytes = 60

// show makes one safe line of a JSON value. Objects and arrays that may hold what is hidden are not shown.
func (d *Decoder) show(raw []byte) string {
	if len(raw) == 0 {
		return nothing
	}
	many := ""
	switch raw[0] {
	case '{':
		many = "an object"
	case '[':
		many = "an array"
	default:
		return safe(string(respell(raw, len(raw))))
	}
	if d.hidden != "" {
		return many
	}
	if raw = respell(raw, showBytes); len(raw) > showBytes {
		return many
	}
	return safe(string(raw))
}

// respell is a value as this package writes it, or more than room bytes of it: what is said of equal values is equal, whatever their white
// space and escapes (LET14). A text with a wrong escape, which nothing else is said of, stays as it is.
func respell(raw []byte, room int) []byte {
	if bytes.IndexByte(raw, '\\') < 0 && !bytes.ContainsAny(raw, " \t\r\n") {
		return raw
	}
	b := make([]byte, 0, min(len(raw), 2*room))
	for i := 0; i < len(raw) && len(b) <= room; i++ {
		switch c := raw[i]; c {
		case ' ', '\t', '\r', '\n':
		case '"':
			start := i + 1
			for i = start; i < len(raw) && raw[i] != '"'; i++ {
				if raw[i] != '\\' {
					continue
				}
				n := escapeLen(raw, i)
				if n == 0 {
					return raw
				}
				i += n - 1
			}
			b = appendString(b, string(appendUnescaped(nil, raw[start:i])))
		default:
			b = append(b, c)
		}
	}
	return b
}

// quote makes one safe line of a name.
func quote(s string) string {
	var room [64]byte
	return fact(string(appendString(room[:0], s)), factBytes)
}

// factBytes is how much a violation says at most of what its reader has to know exactly: paths, names, patterns, enums.
const factBytes = 4096

// safe shortens what was found and escapes what could disturb a terminal or a reader: controls, direction marks, line ends.
func safe(s string) string { return fact(s, showBytes) }

// fact is safe with room bytes, which only hostile texts exceed.
func fact(s string, room int) string {
	room = max(room, showBytes)
	if len(s) <= room && isGraphicASCII(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		if i >= room {
			b.WriteString("… (" + plural(len(s), "byte") + ")")
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
		if s[i] < ' ' || s[i] > '~' {
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

// list shows names, quoted, as many as factBytes hold.
func list(names []string, sep string) string {
	return listed(len(names), sep, func(i int) string { return quote(names[i]) })
}

// listed joins n texts, as many as factBytes hold.
func listed(n int, sep string, text func(i int) string) string {
	var room [128]byte
	b := room[:0]
	for i := range n {
		if i > 0 {
			b = append(b, sep...)
		}
		t := text(i)
		if i > 0 && len(b)+len(t) > factBytes {
			b = append(b, "… ("+strconv.Itoa(n)+" in all)"...)
			break
		}
		b = append(b, t...)
	}
	return string(b)
}
