package schema

import (
	"bytes"
	"path/filepath"
	"strings"
)

// MaxDepth bounds the nesting of a source file.
const MaxDepth = 256

const byteOrderMark = "\uFEFF"

// Parse reads a file as JSON or YAML: by its extension, else by its first byte. The Node is nil if the text can not
// be read at all; duplicate keys and the like are reported and the rest is still returned.
func Parse(file string, data []byte) (*Node, Diagnostics) {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".json":
		return ParseJSON(file, data)
	case ".yaml", ".yml":
		return ParseYAML(file, data)
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(data, []byte(byteOrderMark)), " \t\r\n")
	if len(text) > 0 && (text[0] == '{' || text[0] == '[') {
		return ParseJSON(file, data)
	}
	return ParseYAML(file, data)
}
