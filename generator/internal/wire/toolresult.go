package wire

import (
	_ "embed" // toolresult.bin
	"maps"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// toolResultFile holds the Protocol of a tool's result: most packages need no more of the union of all revisions, and loading the revisions that are
// not served took a tenth of a run for ten tools. A test compares it with the revisions, and writes it with -update, as make golden does.
const toolResultFile = "toolresult.bin"

//go:embed toolresult.bin
var packedToolResult string

// ToolResult is NewProtocol of all embedded revisions for the definition of a tool's result.
func ToolResult() *Protocol { return unpackToolResult(packedToolResult) }

func unpackToolResult(data string) *Protocol {
	packed, err := schema.OpenPacked(data)
	if err != nil {
		panic("generator/internal/wire: " + toolResultFile + ": " + err.Error())
	}
	n := packed.Unpack("")
	p := &Protocol{defs: n.Get("$defs"), omittedIn: map[*schema.Node][]string{}}
	for _, m := range MembersOf(n.Get("omittedIn")) {
		var names []string
		for _, name := range m.Value.Items {
			names = append(names, name.Text)
		}
		p.omittedIn[n.Lookup(m.Key)] = names
	}
	n.Members = n.Members[:1]
	p.Doc, _ = schema.NewDocument(n, nil) // it can not fail, as in NewProtocol
	return p
}

// packToolResult makes the content of toolResultFile.
func packToolResult(revisions []*revision.Revision) []byte {
	p := NewProtocol(revisions, revision.NewUnion(revisions...).ToolResult)
	omitted := &schema.Node{Kind: schema.Object}
	for _, n := range slices.SortedFunc(maps.Keys(p.omittedIn), func(a, b *schema.Node) int { return strings.Compare(a.Pointer, b.Pointer) }) {
		names := &schema.Node{Kind: schema.Array}
		for _, name := range p.omittedIn[n] {
			names.Items = append(names.Items, &schema.Node{Kind: schema.String, Text: name})
		}
		omitted.Members = append(omitted.Members, schema.Member{Key: n.Pointer, Value: names})
	}
	return schema.Pack(&schema.Node{Kind: schema.Object, Members: []schema.Member{{Key: "$defs", Value: p.defs}, {Key: "omittedIn", Value: omitted}}})
}
