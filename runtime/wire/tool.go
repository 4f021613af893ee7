package wire

import (
	"bytes"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/wire/edit"
)

// AppendTool appends a tool as the revision lists it. definition is the tool without its member execution, whose value is the argument execution; "": it
// has none.
func (r *Revision) AppendTool(b []byte, definition, execution string) []byte {
	shown := schemaObjects(edit.AppendOmitting(nil, definition, r.View.ToolOmits), r.View.ToolObjects)
	if r.ToolExecution == "" || execution == "" {
		return append(b, shown...)
	}
	b = AppendMembers(append(b, '{'), shown)
	b = append(check.Member(b, string(check.AppendString(nil, r.ToolExecution))+":"), execution...)
	return append(b, '}')
}

// schemaObjects replaces the values true and false, which are schemas, by equivalent objects, among the members of the objects at paths.
func schemaObjects(object []byte, paths []string) []byte {
	if bytes.Contains(object, []byte("true")) || bytes.Contains(object, []byte("false")) {
		for _, path := range paths {
			object = edit.At(object, path+"/"+edit.EveryMember, schemaObject)
		}
	}
	return object
}

func schemaObject(schema []byte) (object []byte, changed bool) {
	switch string(schema) {
	case "true":
		return []byte("{}"), true
	case "false":
		return []byte(`{"not":{}}`), true
	}
	return schema, false
}
