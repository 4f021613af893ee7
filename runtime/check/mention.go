package check

import "bytes"

var escapedASCII, escapedSlash = []byte(`\u00`), []byte(`\/`)

// Mentions is false if a JSON text has no member or string of that name, which is not empty and of ASCII. Whether it has one, only reading
// tells: an escape may stand for any character of it (LET14).
func Mentions(text []byte, name string) bool {
	return bytes.Contains(text, []byte(name)) || bytes.Contains(text, escapedASCII) || bytes.IndexByte([]byte(name), '/') >= 0 && bytes.Contains(text, escapedSlash)
}
