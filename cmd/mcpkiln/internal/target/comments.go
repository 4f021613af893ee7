package target

import "bytes"

// plainJSON replaces what editors let stand in an mcp.json, comments and a comma before a closing bracket, by white space. Line breaks stay where they are,
// and so does all that it does not understand: that is reported as it was written.
func plainJSON(text []byte) []byte {
	out := bytes.Clone(text)
	last := -1 // where the last character is that is neither white space nor in a comment
	for i := 0; i < len(out); i++ {
		switch c := out[i]; c {
		case ' ', '\t', '\n', '\r':
			continue
		case '"':
			i = stringEnd(out, i)
		case '/':
			end := commentEnd(out, i)
			if end < 0 {
				return out
			}
			blank(out[i:end])
			i = end - 1
			continue
		case ',':
			if last < 0 || bytes.IndexByte([]byte("{[,:"), out[last]) >= 0 {
				return out
			}
		case '}', ']':
			if last >= 0 && out[last] == ',' {
				out[last] = ' '
			}
		}
		last = min(i, len(out)-1)
	}
	return out
}

// stringEnd returns where the last quote of the string at i is, or the end of the text.
func stringEnd(text []byte, i int) int {
	for i++; i < len(text) && text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i
}

// commentEnd returns where the comment at i ends, -1 if there is none or it has no end.
func commentEnd(text []byte, i int) int {
	switch rest := text[i:]; {
	case bytes.HasPrefix(rest, []byte("//")):
		if n := bytes.IndexByte(rest, '\n'); n >= 0 {
			return i + n
		}
		return len(text)
	case bytes.HasPrefix(rest, []byte("/*")):
		if n := bytes.Index(rest[2:], []byte("*/")); n >= 0 {
			return i + n + 4
		}
	}
	return -1
}

func blank(text []byte) {
	for i, c := range text {
		if c != '\n' {
			text[i] = ' '
		}
	}
}
