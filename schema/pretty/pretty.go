package pretty

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/mcpkiln/mcpkiln/schema"
)

// Width is the greatest length of lines, in characters, where they can be divided.
const Width = 110

// step is the indentation of each level.
const step = 2

// Writer writes values with comments.
type Writer struct {
	// Comments are the lines above a value that is a member of an object, without their #. An empty line stays one. Invisible characters are escaped.
	Comments map[*schema.Node][]string
}

// Append appends the members of an object, indented by that many spaces. Each ends with a newline.
func (w *Writer) Append(b []byte, object *schema.Node, indent int) []byte {
	for i := range object.Members {
		m := &object.Members[i]
		b = w.comment(b, m.Value, indent)
		b = w.member(b, m, indent)
	}
	return b
}

// lineEnds replaces all line breaks of YAML by newlines.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

func (w *Writer) comment(b []byte, n *schema.Node, indent int) []byte {
	for _, text := range w.Comments[n] {
		for line := range strings.Lines(lineEnds.Replace(text) + "\n") { // none may end the comment
			if line == "\n" {
				b = append(b, line...)
				continue
			}
			b = append(pad(b, indent), "# "...)
			for _, r := range strings.TrimSuffix(line, "\n") { // YAML allows no control characters, and a reader is to see what is there
				b = append(b, visible(r)...)
			}
			b = append(b, '\n')
		}
	}
	return b
}

// member appends a key and its value, at the beginning of a line or after the dash of an item.
func (w *Writer) member(b []byte, m *schema.Member, indent int) []byte {
	if len(m.Key) > longestKey {
		b = append(append(pad(b, indent), "? "...), inline(m.Key)...)
		return w.value(append(pad(append(b, '\n'), indent), ':'), m.Value, indent)
	}
	b = append(pad(b, indent), inline(m.Key)...)
	return w.value(append(b, ':'), m.Value, indent)
}

// longestKey is how many bytes a key before a colon may have; YAML allows 1024 characters, with the quotes and escapes.
const longestKey = 400

// value appends a value after a colon or a dash; the key or dash is indented by indent.
func (w *Writer) value(b []byte, n *schema.Node, indent int) []byte {
	if n.Kind == schema.String {
		return append(appendText(append(b, ' '), n.Text, indent+step, Width-column(b)), '\n')
	}
	if line, ok := w.fits(b, n); ok {
		return append(append(append(b, ' '), line...), '\n')
	}
	if n.Kind == schema.Object {
		return w.Append(append(b, '\n'), n, indent+step)
	}
	b = append(b, '\n')
	for _, item := range n.Items {
		b = w.item(b, item, indent+step)
	}
	return b
}

// item appends one item of a list. The first member of an object follows the dash on its line.
func (w *Writer) item(b []byte, n *schema.Node, indent int) []byte {
	start := len(b)
	b = append(pad(b, indent), '-')
	if _, short := w.fits(b, n); short || n.Kind != schema.Object || len(w.Comments[n.Members[0].Value]) > 0 {
		return w.value(b, n, indent)
	}
	b = w.Append(b[:start], n, indent+step)
	b[start+indent] = '-'
	return b
}

// fits is a value on one line, if it fits on the last line of b.
func (w *Writer) fits(b []byte, n *schema.Node) (string, bool) {
	line, ok := w.flow(n)
	empty := len(n.Members)+len(n.Items) == 0
	return line, ok && (empty || column(b)+1+utf8.RuneCountInString(line) <= Width)
}

// flow is a value on one line; false if it would be hard to read there, or has comments inside.
func (w *Writer) flow(n *schema.Node) (string, bool) {
	switch n.Kind {
	case schema.Object, schema.Array:
		if deep(n) {
			return "", false
		}
	case schema.String:
		return inline(n.Text), true
	default:
		return string(n.JSON()), true
	}
	var parts []string
	for i := range n.Members {
		if len(w.Comments[n.Members[i].Value]) > 0 {
			return "", false
		}
		one, _ := w.flow(n.Members[i].Value)
		parts = append(parts, inline(n.Members[i].Key)+": "+one)
	}
	if n.Kind == schema.Object {
		return "{" + strings.Join(parts, ", ") + "}", true
	}
	for _, item := range n.Items {
		one, _ := w.flow(item)
		parts = append(parts, one)
	}
	return "[" + strings.Join(parts, ", ") + "]", true
}

// deep reports whether an object or a list has objects in it, or lists of lists.
func deep(n *schema.Node) bool {
	nested := func(v *schema.Node) bool { return len(v.Members) > 0 || n.Kind == schema.Array && len(v.Items) > 0 }
	for i := range n.Members {
		v := n.Members[i].Value
		if nested(v) || v.Kind == schema.Array && deep(v) || len(n.Members[i].Key) > longestKey {
			return true
		}
	}
	for _, item := range n.Items {
		if nested(item) {
			return true
		}
	}
	return false
}

func pad(b []byte, n int) []byte { return append(b, strings.Repeat(" ", n)...) }

// column is how many characters the last line has.
func column(b []byte) int { return utf8.RuneCount(b[bytes.LastIndexByte(b, '\n')+1:]) }
