package lower

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/typing"
	"github.com/mcpkiln/mcpkiln/generator/internal/wire"
)

// result lowers the protocol's own tool result, for tools that have no outputSchema.
func (l *packageLowering) result() {
	if wire.ResultOf(l.in.Revisions) == "" {
		rev := l.in.Revisions[0]
		l.diags.ReportAt(rev.Pos, "", "no-tools", "", "revision %s has no method that calls a tool", rev.Name)
		return
	}
	name := l.in.Union.ToolResult
	n := l.protocol.Node(name)
	ref := l.types.Lower(typing.Root{Document: l.protocol.Doc, Node: n, Name: name, Keep: true, Use: model.Encode, Sent: true})
	l.pkg.Result = &model.Result{TypeRef: ref}
	for _, v := range l.sentChecks.Views(wire.SentCall) {
		at := slices.IndexFunc(l.pkg.Wires, func(w *model.Wire) bool { return w.Revision == v.Revision })
		l.pkg.Wires[at].CheckResult = v.Check
	}
	l.later = append(l.later, l.textResult)
}

// textResult finds how a block of text is written in Go: the member of the content's union whose tag is "text".
func (l *packageLowering) textResult() {
	r := l.pkg.Result
	content := propOf(r.Decl, "content")
	if content == nil {
		return
	}
	list, ok := content.Value.Type.(*model.Slice)
	if !ok {
		return
	}
	blocks, ok := list.Elem.Type.(model.Named)
	if !ok {
		return
	}
	union, ok := blocks.Decl.Body.(*model.Union)
	if !ok {
		return
	}
	for _, m := range union.Members {
		if text := propOf(m.Decl, "text"); text != nil && slices.Contains(m.Form.Tags, model.Tag{Text: "text"}) {
			r.Text = model.TextResult{Content: content.Name, Blocks: blocks.Decl.Name, Block: m.Decl.Name, Text: text.Name}
		}
	}
}

func propOf(d *model.Decl, key string) *model.Prop {
	s, ok := d.Body.(*model.Struct)
	if !ok {
		return nil
	}
	for _, p := range s.Props {
		if p.Key == key {
			return p
		}
	}
	return nil
}
