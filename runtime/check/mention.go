package check

import "bytes"

// escapedASCII begins the escapes of ASCII characters, after the backslash.
var escapedASCII = []byte("u00")

// Mentions reports whether a JSON text may have a member or a string of that name, which is ASCII and not empty. Only reading the text shows whether
// it really has one: any character may be escaped (LET14), a slash as \/, ASCII as \u0020 to \u007f.
func Mentions[N string | []byte](text []byte, name N) bool {
	if bytes.Contains(text, []byte(name)) {
		return true
	}
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 || i+1 == len(text) {
			return false
		}
		if bytes.HasPrefix(text[i+1:], escapedASCII) || text[i+1] == '/' && bytes.IndexByte([]byte(name), '/') >= 0 {
			return true
		}
		text = text[i+2:]
	}
}
