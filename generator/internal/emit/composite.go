package emit

import (
	"slices"
	"strconv"
	"strings"
)

// maxWidth is where lists in wires wrap; a tab counts as tabWidth.
const maxWidth, tabWidth = 140, 4

// composite is a composite literal, or a value in one. A literal is written on one line, though its last item may run on to further lines. If
// that line would be too wide, each line has as many items as fit. A table always has one item on each line.
type composite struct {
	field string      // "" in a list
	text  string      // the value, or the type of a literal
	items []composite // of a literal
	table bool
}

// render is the literal as code without indentation: depth is that of its first line, width that of the text before it in this line.
func (c composite) render(depth, width int) string {
	text := c.text
	if c.field != "" {
		text = c.field + ": " + text
	}
	if c.items == nil {
		return text
	}
	within := 0
	if c.table {
		within = fieldWidth
	}
	items := make([]string, len(c.items))
	for i, item := range c.items {
		items[i] = item.render(depth+1, within)
	}
	if c.table && len(items) > 0 {
		return c.divided(text, slices.Collect(slices.Chunk(items, 1)))
	}
	line := text + "{" + strings.Join(items, ", ") + "}"
	first, _, _ := strings.Cut(line, "\n")
	dividedBefore := len(items) > 0 && strings.Contains(strings.Join(items[:len(items)-1], ""), "\n")
	if depth*tabWidth+width+len(first) < maxWidth && !dividedBefore {
		return line
	}
	return c.divided(text, distribute(items, ", ", depth+1))
}

// divided is the literal with its items on lines of their own.
func (c composite) divided(text string, lines [][]string) string {
	item := 0
	for i := 0; i < len(lines); {
		n := aligned(c.items[item:], lines[i:])
		width := 0
		for _, f := range c.items[item : item+n] {
			width = max(width, len(f.field))
		}
		for j, f := range c.items[item : item+n] {
			begin := &lines[i+j][0]
			*begin = f.field + ":" + strings.Repeat(" ", width-len(f.field)) + (*begin)[len(f.field)+1:]
		}
		for range max(n, 1) {
			item, i = item+len(lines[i]), i+1
		}
	}
	return text + "{\n" + join(lines, ", ") + ",\n}"
}

// aligned is the number of lines, counted from the first, for which gofmt aligns the values of the fields that begin them. A field that takes several
// lines ends them; so does a line with several fields, which is still one of them.
func aligned(items []composite, lines [][]string) int {
	for i, line := range lines {
		switch {
		case items[i].field == "" || strings.Contains(line[0], "\n"):
			return i
		case len(line) > 1:
			return i + 1
		}
	}
	return len(lines)
}

// fill puts as many items on a line as fit. An item that takes several lines shares none of them with another item.
func fill(items []string, separator string, depth int) string {
	return join(distribute(items, separator, depth), separator)
}

// distribute divides items over lines as fill does.
func distribute(items []string, separator string, depth int) [][]string {
	var lines [][]string
	begin, width := 0, 0 // of the last line
	for i, item := range items {
		alone := strings.Contains(item, "\n") || i > 0 && strings.Contains(items[i-1], "\n")
		if width += len(separator) + len(item); i > 0 && !alone && width < maxWidth {
			lines[len(lines)-1] = items[begin : i+1]
		} else {
			lines = append(lines, items[i:i+1])
			begin, width = i, depth*tabWidth+len(item)
		}
	}
	return lines
}

func join(lines [][]string, separator string) string {
	all := make([]string, len(lines))
	for i, line := range lines {
		all[i] = strings.Join(line, separator)
	}
	return strings.Join(all, strings.TrimSpace(separator)+"\n")
}

// texts is []string{"url"}.
func texts(field string, list []string) composite {
	c := composite{field: field, text: "[]string", items: []composite{}}
	for _, text := range list {
		c.items = append(c.items, composite{text: strconv.Quote(text)})
	}
	return c
}

// quotedField is Name: "tools/call".
func quotedField(name, value string) composite {
	return composite{field: name, text: strconv.Quote(value)}
}

// trueField is Handshake: true.
func trueField(name string) composite { return composite{field: name, text: "true"} }

// rowOf is {Name: "tools/call", Op: wire.OpCallTool}, however wide.
func rowOf(fields []composite) string {
	all := make([]string, len(fields))
	for i, f := range fields {
		all[i] = f.render(0, 0)
	}
	return "{" + strings.Join(all, ", ") + "}"
}
