package manifest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/pretty"
)

// NewTool is a tool to add to a manifest.
type NewTool struct {
	Name        string
	Description string  // "" for a reminder to write one
	Task        Support // "" for none
}

// node is the tool's entry in a manifest.
func (t NewTool) node() *schema.Node {
	text := func(s string) *schema.Node { return &schema.Node{Kind: schema.String, Text: s} }
	object := func(members ...schema.Member) *schema.Node {
		return &schema.Node{Kind: schema.Object, Members: members}
	}
	about := t.Description
	if about == "" {
		about = "TODO: what " + t.Name + " does, and when to call it."
	}
	tool := object(schema.Member{Key: "description", Value: text(about)})
	if t.Task != "" {
		tool.Members = append(tool.Members, schema.Member{Key: "execution", Value: object(schema.Member{Key: "taskSupport", Value: text(string(t.Task))})})
	}
	input := object(schema.Member{Key: "type", Value: text("object")}, schema.Member{Key: "properties", Value: object()})
	tool.Members = append(tool.Members, schema.Member{Key: "inputSchema", Value: input})
	return tool
}

// AddTool returns the text of a manifest with one more tool: at the end of its tools, or in its place where they are sorted. The existing text is not
// changed. The error says why that is not possible: there is a tool of that name, or the tools are not written in block style.
func AddTool(file string, data []byte, t NewTool) ([]byte, error) {
	root, ds := schema.Parse(file, data)
	switch {
	case root != nil && answer(root) != nil:
		return nil, fmt.Errorf("%s is a saved answer to tools/list: mcpkiln import makes a manifest of it", file)
	case ds.HasErrors() || !root.Is(schema.Object):
		return nil, fmt.Errorf("%s can not be read: mcpkiln generate says why", file)
	}
	tools, added := root.Get("tools"), t.node()
	if m := tools.Member(t.Name); m != nil {
		return nil, fmt.Errorf("%s: there is a tool %q already", m.KeyPos, t.Name)
	}
	text := insert(data, root, tools, schema.Member{Key: t.Name, Value: added})
	if now, ds := schema.Parse(file, text); ds.HasErrors() || !isAdded(root, now, t.Name, added) {
		entry := (&pretty.Writer{}).Append(nil, &schema.Node{Kind: schema.Object, Members: []schema.Member{{Key: t.Name, Value: added}}}, 2)
		return nil, fmt.Errorf("%s: tools are not written as a block of names, so nothing can be added to them; write this yourself:\n%s", file, entry)
	}
	return text, nil
}

// insert puts a member after the tool that it follows, with the indentation of the tools, or adds the key tools with it at the end of
// the manifest.
func insert(data []byte, root, tools *schema.Node, m schema.Member) []byte {
	object := &schema.Node{Kind: schema.Object, Members: []schema.Member{m}}
	w := &pretty.Writer{}
	if tools == nil {
		object = &schema.Node{Kind: schema.Object, Members: []schema.Member{{Key: "tools", Value: object}}}
		return append(endLine(data), w.Append(nil, object, 0)...)
	}
	if !tools.Is(schema.Object) || len(tools.Members) == 0 {
		return nil
	}
	indent := int(tools.Members[0].KeyPos.Column) - 1
	lines := strings.SplitAfter(string(data), "\n")
	last := endOf(lines, tools, placeOf(tools.Members, m.Key), indent)
	between := ""
	if len(tools.Members) > 1 && blankBefore(lines, int(tools.Members[1].KeyPos.Line)) {
		between = "\n"
	}
	before := endLine([]byte(strings.Join(lines[:last], "")))
	added := w.Append([]byte(between), object, indent)
	return bytes.Join([][]byte{before, added, []byte(strings.Join(lines[last:], ""))}, nil)
}

// fewestSorted is how many tools in sorted order are taken to be sorted on purpose: then branches that add tools write in different places, and merge.
const fewestSorted = 3

// placeOf is the index of the tool after which one of this name is added: the last one, unless tools are sorted. Nothing is added before the first,
// since a comment above it could belong to all tools.
func placeOf(tools []schema.Member, name string) int {
	byName := func(a, b schema.Member) int { return strings.Compare(a.Key, b.Key) }
	if len(tools) < fewestSorted || !slices.IsSortedFunc(tools, byName) || name < tools[0].Key {
		return len(tools) - 1
	}
	behind, _ := slices.BinarySearchFunc(tools, schema.Member{Key: name}, byName)
	return behind - 1
}

// endOf is the number of the last line of a tool. Comments and empty lines above the next tool belong to that one.
func endOf(lines []string, tools *schema.Node, tool, indent int) int {
	last, end, least := int(tools.Members[tool].KeyPos.Line), len(lines), indent
	if tool+1 < len(tools.Members) {
		end, least = int(tools.Members[tool+1].KeyPos.Line)-1, indent+1
	}
	for n := last; n < end; n++ {
		line := lines[n]
		text := strings.TrimLeft(line, " ")
		if strings.TrimSpace(text) == "" {
			continue
		}
		if len(line)-len(text) < least {
			break
		}
		last = n + 1
	}
	return last
}

// blankBefore reports whether there is an empty line before a line, or before the comments above it.
func blankBefore(lines []string, line int) bool {
	for n := line - 2; n >= 0; n-- {
		switch text := strings.TrimSpace(lines[n]); {
		case text == "":
			return true
		case text[0] != '#':
			return false
		}
	}
	return false
}

// endLine returns text that ends with a newline.
func endLine(text []byte) []byte {
	if len(text) > 0 && text[len(text)-1] != '\n' {
		return append(bytes.Clone(text), '\n')
	}
	return bytes.Clone(text)
}

// isAdded reports whether now is before with the tool added, and nothing else.
func isAdded(before, now *schema.Node, name string, tool *schema.Node) bool {
	if now == nil || now.Get("tools").Get(name) == nil || !schema.Equal(now.Get("tools").Get(name), tool) {
		return false
	}
	without := func(n *schema.Node, key string) *schema.Node {
		c := *n
		c.Members = slices.DeleteFunc(slices.Clone(n.Members), func(m schema.Member) bool { return m.Key == key })
		return &c
	}
	tools := without(now.Get("tools"), name)
	if before.Get("tools") == nil {
		return len(tools.Members) == 0 && schema.Equal(without(now, "tools"), before)
	}
	return schema.Equal(tools, before.Get("tools")) && schema.Equal(without(now, "tools"), without(before, "tools"))
}
