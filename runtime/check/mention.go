package check

import "bytes"

// escapedASCII begins the escapes of ASCII characters, behind the backslash.
var escapedASCII = []byte("u00")

// Mentions is false if a JSON text has no member or string of that name, which is not empty and of ASCII. Whether it has one, only reading
// tells: an escape may stand for any character of it (LET14), a slash as \/, ASCII as \u0020 to \u007f.
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
