package schema

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// str reads the string that starts at p.at and moves past it. After p.fail the result is invalid.
func (p *jsonParser) str() string {
	start := p.at + 1
	for i := start; i < len(p.data); i++ {
		switch c := p.data[i]; {
		case c == '"':
			p.at = i + 1
			return string(p.data[start:i])
		case c == '\\' || c >= utf8.RuneSelf:
			return p.slowString(start, i)
		case c < 0x20:
			p.fail(i, "syntax", "write it as an escape such as \\n", "control character 0x%02x in a string", c)
			return ""
		}
	}
	p.fail(p.at, "syntax", "", "the string that starts here does not end")
	return ""
}

// slowString continues at i, the first byte of the string that is not plain ASCII.
func (p *jsonParser) slowString(start, i int) string {
	b := append(make([]byte, 0, 2*(i-start)+32), p.data[start:i]...)
	for i < len(p.data) {
		c := p.data[i]
		switch {
		case c == '"':
			p.at = i + 1
			return string(b)
		case c == '\\':
			var ok bool
			if b, i, ok = p.escape(b, i); !ok {
				return ""
			}
		case c < 0x20:
			p.fail(i, "syntax", "write it as an escape such as \\n", "control character 0x%02x in a string", c)
			return ""
		default:
			r, size := utf8.DecodeRune(p.data[i:])
			if r == utf8.RuneError && size == 1 {
				p.fail(i, "invalid-utf8", "save the file as UTF-8", "byte 0x%02x is not UTF-8", c)
				return ""
			}
			b = append(b, p.data[i:i+size]...)
			i += size
		}
	}
	p.fail(start-1, "syntax", "", "the string that starts here does not end")
	return ""
}

// escape decodes the escape at i, appends it and returns where it ends.
func (p *jsonParser) escape(b []byte, i int) ([]byte, int, bool) {
	if i+1 < len(p.data) {
		switch c := p.data[i+1]; c {
		case '"', '\\', '/':
			return append(b, c), i + 2, true
		case 'b':
			return append(b, '\b'), i + 2, true
		case 'f':
			return append(b, '\f'), i + 2, true
		case 'n':
			return append(b, '\n'), i + 2, true
		case 'r':
			return append(b, '\r'), i + 2, true
		case 't':
			return append(b, '\t'), i + 2, true
		case 'u':
			return p.unicode(b, i)
		}
	}
	p.fail(i, "syntax", "write a backslash as \\\\", "unknown escape in a string")
	return b, i, false
}

func (p *jsonParser) unicode(b []byte, i int) ([]byte, int, bool) {
	r, ok := p.hex4(i)
	if !ok {
		p.fail(i, "syntax", "", "\\u needs four hexadecimal digits")
		return b, i, false
	}
	end := i + 6
	if utf16.IsSurrogate(r) {
		low, ok := p.hex4(end)
		if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
			p.fail(i, "invalid-utf8", "", "half of a surrogate pair is no character")
			return b, i, false
		}
		end += 6
	}
	return utf8.AppendRune(b, r), end, true
}

// hex4 reads the \uXXXX at i.
func (p *jsonParser) hex4(i int) (rune, bool) {
	if i+6 > len(p.data) || p.data[i] != '\\' || p.data[i+1] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(string(p.data[i+2:i+6]), 16, 32)
	return rune(v), err == nil
}
