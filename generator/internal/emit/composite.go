package emit

import (
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"
)

// maxWidth is where lists in wires wrap; a tab counts as tabWidth.
const maxWidth, tabWidth = 140, 4

// composite is a composite literal, or a value in one. It is written on one line, of which only the last item may take more lines, or, if
// that is too wide, with as many of its items on each line as fit.
type composite struct {
	field string      // "" in a list
	text  string      // the value, or the type of a literal
	items []composite // of a literal
}

// code is the literal as code: depth is the indentation of its first line, width that of the text before it in this line.
func (c composite) code(depth, width int) jen.Code { return jen.Op(c.render(depth, width)) }

func (c composite) render(depth, width int) string {
	text := c.text
	if c.field != "" {
		text = c.field + ": " + text
	}
	if c.items == nil {
		return text
	}
	items := make([]string, len(c.items))
	for i, item := range c.items {
		items[i] = item.render(depth+1, 0)
	}
	line := text + "{" + strings.Join(items, ", ") + "}"
	first, _, _ := strings.Cut(line, "\n")
	dividedBefore := len(items) > 0 && strings.Contains(strings.Join(items[:len(items)-1], ""), "\n")
	if depth*tabWidth+width+len(first) < maxWidth && !dividedBefore {
		return line
	}
	return text + "{\n" + fill(items, ", ", depth+1) + ",\n}"
}

// fill puts as many items on a line as fit. An item of several lines shares none with others.
func fill(items []string, separator string, depth int) string {
	var lines []string
	width := 0
	for i, item := range items {
		alone := strings.Contains(item, "\n") || i > 0 && strings.Contains(items[i-1], "\n")
		if width += len(separator) + len(item); i > 0 && !alone && width < maxWidth {
			lines[len(lines)-1] += separator + item
		} else {
			lines = append(lines, item)
			width = depth*tabWidth + len(item)
		}
	}
	return strings.Join(lines, strings.TrimSpace(separator)+"\n")
}

// texts is []string{"url"}.
func texts(field string, list []string) composite {
	c := composite{field: field, text: "[]string", items: []composite{}}
	for _, text := range list {
		c.items = append(c.items, composite{text: strconv.Quote(text)})
	}
	return c
}
