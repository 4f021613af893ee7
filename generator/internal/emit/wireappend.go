package emit

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// appendBody is the parameters, result and body of the function that writes a message. An optional member whose field is zero is left out, a
// required one is always written.
//
//	(b []byte, r *wire.CallResult) []byte {
//		w := wire.Open(b).Raw(`"content":`, r.Content).OptionalBool(`"isError":`, r.IsError)
//		if len(r.ServerInfo) > 0 || len(r.Meta) > 0 {
//			w = w.Object(`"_meta":`).OptionalRaw(`"serverInfo":`, r.ServerInfo).Members(r.Meta).Close()
//		}
//		return w.Close()
//	}
func appendBody(m *model.Message) string {
	a := &appender{m: m, writer: "wire.Open(b)"}
	a.members(m.Root)
	a.call("Close")
	a.statement("return ", 1)
	return "(b []byte, " + m.Var + " *wire." + m.Struct + ") []byte {\n" + strings.Join(a.body, "\n") + "\n}"
}

// appender writes the body of an appender: a statement with a call for each member, and one more for each object that is written
// under a condition.
type appender struct {
	m        *model.Message
	body     []string // statements
	declared bool     // w is declared
	writer   string   // what the calls of the next statement begin with
	calls    []string
}

func (a *appender) call(method string, args ...string) {
	a.calls = append(a.calls, method+"("+strings.Join(args, ", ")+")")
}

// statement ends a statement: a chain of the collected calls, as many on a line as fit.
func (a *appender) statement(before string, depth int) {
	a.body = append(a.body, a.chain(before, depth))
	a.writer, a.calls = "w", nil
}

// chain is the collected calls as one expression.
func (a *appender) chain(before string, depth int) string {
	return fill(append([]string{before + a.writer}, a.calls...), ".", depth)
}

func (a *appender) members(o *model.WireObject) {
	for _, m := range o.Members {
		a.member(m)
	}
	if o.Splice != "" {
		a.call("Members", a.field(o.Splice))
	}
}

func (a *appender) field(name string) string { return a.m.Var + "." + name }

// memberKey is `"name":`.
func memberKey(m *model.WireMember) string { return "`" + m.Quoted + ":`" }

func (a *appender) member(m *model.WireMember) {
	slot, opening, closing := optional(m)
	switch {
	case m.Literal != "":
		a.call("Constant", memberKey(m), "`"+m.Literal+"`")
	case m.Call != "":
		a.call("Key", memberKey(m))
		a.writer, a.calls = "wire.Writer("+m.Call+"("+a.chain("", 1)+", "+a.m.Var+"))", nil
	case m.Required && m.Slot != nil:
		a.call(writerMethod(m.Slot), memberKey(m), a.field(m.Slot.Field))
	case slot != nil && closing != "":
		a.call("Optional"+writerMethod(slot), "`"+opening+"`", a.field(slot.Field), strconv.Quote(closing))
	case slot != nil:
		a.call("Optional"+writerMethod(slot), "`"+opening+"`", a.field(slot.Field))
	default:
		a.object(m)
	}
}

// optional is the slot of an optional member, or of an optional object with that slot alone, with the text before and behind its value.
func optional(m *model.WireMember) (slot *model.WireSlot, opening, closing string) {
	switch {
	case m.Required || m.Literal != "" || m.Call != "":
		return nil, "", ""
	case m.Object == nil:
		return m.Slot, m.Quoted + ":", ""
	case len(m.Object.Members) > 1 || m.Object.Splice != "":
		return nil, "", ""
	}
	slot, opening, closing = optional(m.Object.Members[0])
	return slot, m.Quoted + ":{" + opening, closing + "}"
}

// object writes an object with its members, if it is required or one of them is present.
func (a *appender) object(m *model.WireMember) {
	conditions := a.conditions(m)
	if conditions != nil {
		a.flush()
		a.body = append(a.body, "if "+strings.Join(conditions, " || ")+" {")
	}
	a.call("Object", memberKey(m))
	a.members(m.Object)
	a.call("Close")
	if conditions != nil {
		a.statement("w = ", 2)
		a.body = append(a.body, "}")
	}
}

// flush ends the current statement, before an if statement.
func (a *appender) flush() {
	switch {
	case !a.declared:
		a.declared = true
		a.statement("w := ", 1)
	case a.writer != "w" || len(a.calls) > 0:
		a.statement("w = ", 1)
	}
}

// writerMethod is the method of wire.Writer that writes a slot.
func writerMethod(s *model.WireSlot) string {
	name, ok := map[model.SlotKind]string{
		model.StringSlot: "String", model.BoolSlot: "Bool", model.FloatSlot: "Float", model.RawSlot: "Raw", model.StringsSlot: "Strings",
		model.IDSlot: "ID", model.MillisSlot: "Millis", model.TimeSlot: "Time",
	}[s.Kind]
	if !ok {
		panic(fmt.Sprintf("emit: slots of kind %d are never written", s.Kind))
	}
	return name
}

// conditions are the conditions of which one must hold for m to be written; nil: it is always written.
func (a *appender) conditions(m *model.WireMember) (any []string) {
	switch {
	case m.Required || m.Literal != "" || m.Call != "":
		return nil
	case m.Object == nil:
		return []string{a.nonZero(m.Slot)}
	}
	for _, inner := range m.Object.Members {
		of := a.conditions(inner)
		if of == nil {
			return nil
		}
		any = append(any, of...)
	}
	if m.Object.Splice != "" {
		any = append(any, "len("+a.field(m.Object.Splice)+") > 0")
	}
	return any
}

func (a *appender) nonZero(s *model.WireSlot) string {
	v := a.field(s.Field)
	switch s.Kind {
	case model.BoolSlot:
		return v
	case model.StringSlot:
		return v + ` != ""`
	case model.RawSlot, model.StringsSlot:
		return "len(" + v + ") > 0"
	case model.IDSlot:
		return "!" + v + ".IsZero()"
	default:
		return v + " != 0"
	}
}
