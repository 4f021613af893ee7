package emit

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// What a writer is, for messages that are written here.
const writerStub = `package p
type Writer []byte
func Open(b []byte) Writer { return b }
func (w Writer) Raw(string, []byte) Writer { return w }
func (w Writer) OptionalRaw(string, []byte) Writer { return w }
func (w Writer) Key(string) Writer { return w }
func (w Writer) Object(string) Writer { return w }
func (w Writer) Close() Writer { return w }
type message struct{ Fa, Fx, Fy, Fz []byte }
func appendTask(b []byte, r *message) []byte { return b }
`

// Objects under a condition stand anywhere: first, behind each other, within each other, and behind what another function writes.
func TestVAL11AppendersOfAnyMessageCompile(t *testing.T) {
	raw := func(name string) *model.WireMember {
		return &model.WireMember{Name: name, Quoted: `"` + name + `"`, Slot: &model.WireSlot{Field: "F" + name, Kind: model.RawSlot}}
	}
	object := func(members ...*model.WireMember) *model.WireMember {
		return &model.WireMember{Name: "o", Quoted: `"o"`, Object: &model.WireObject{Members: members}}
	}
	maybe := object(raw("x"), raw("y"))
	call := &model.WireMember{Name: "c", Quoted: `"c"`, Required: true, Call: "appendTask"}
	for _, row := range []struct {
		name    string
		members []*model.WireMember
		ifs     int
	}{
		{"first", []*model.WireMember{maybe, raw("a")}, 1},
		{"behind each other", []*model.WireMember{maybe, maybe}, 2},
		{"within another", []*model.WireMember{object(raw("z"), maybe)}, 2},
		{"behind a call", []*model.WireMember{raw("a"), call, maybe}, 1},
		{"around a call", []*model.WireMember{raw("z"), maybe, call, raw("a"), maybe}, 2},
		{"last call", []*model.WireMember{maybe, call}, 1},
	} {
		a := &appender{m: &model.Message{Var: "r", Struct: "message"}, writer: "Open(b)"}
		a.members(&model.WireObject{Members: row.members})
		a.call("Close")
		a.statement("return ", 1)
		body := strings.ReplaceAll(strings.Join(a.body, "\n"), "wire.", "")
		source := writerStub + "func write(b []byte, r *message) []byte {\n" + body + "\n}"
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, "p.go", source, 0)
		if err == nil {
			_, err = new(types.Config).Check("p", files, []*ast.File{file}, nil)
		}
		if err != nil || strings.Count(body, "if ") != row.ifs {
			t.Errorf("%s: %v\n%s", row.name, err, body)
		}
	}
}
