package emit

import (
	"slices"
	"strconv"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// readers writes the variables with the rules by which a wire reads messages, then its readers, a line each. done has the objects and shapes whose
// variables are written already.
func (s *source) readers(w *model.Wire, done map[any]bool) {
	reads := slices.DeleteFunc(slices.Clone(w.Functions), func(m *model.Message) bool { return m.Append })
	if len(reads) == 0 {
		return
	}
	s.line()
	for _, m := range reads {
		m.Root.Walk(func(o *model.WireObject) {
			if !done[o] {
				s.ruleVar(o)
			}
			done[o] = true
			for _, member := range o.Members {
				if member.Shape != nil && !done[member.Shape] {
					s.shapeVar(member)
					done[member.Shape] = true
				}
			}
		})
	}
	s.line()
	s.readFuncs(reads)
}

// func readCallTool20251125(d *check.Decoder, p *wire.Params) { callTool20251125.Read(d, p) }
func (s *source) readFuncs(all []*model.Message) {
	decoder := s.runtime("Decoder")
	var lines []row
	for _, m := range all {
		header, body := "func "+m.Func+"(d *"+decoder+", "+m.Var+" *wire."+m.Struct+")", m.Root.Ident+".Read(d, "+m.Var+")"
		if len(header)+len(body) <= maxOneLine {
			lines = append(lines, row{header, "{ " + body + " }"})
			continue
		}
		s.rows(lines)
		lines = nil
		s.oneLine(header, body)
	}
	s.rows(lines)
}

// ruleVar is the rule of an object, or of one that has forms:
//
//	var callTool20251125 = wire.Rule{
//		Names: []string{"name", "arguments"}, Required: []string{"name"}, Reads: wire.Reads{wire.SlotName, wire.SlotArguments},
//	}
func (s *source) ruleVar(o *model.WireObject) {
	if len(o.Forms) > 0 {
		s.formsVar(o)
		return
	}
	var names, required []string
	reads := composite{field: "Reads", text: "wire.Reads"}
	for _, m := range o.Members {
		names = append(names, m.Name)
		if m.Required {
			required = append(required, m.Name)
		}
		reads.items = append(reads.items, composite{text: readerOf(m)})
	}
	s.variable(o.Ident, "wire.Rule", append(objectRule(names, required), reads)...)
}

// Names: []string{"name", "arguments"}, Required: []string{"name"}
func objectRule(names, required []string) []composite {
	if len(required) == 0 {
		return []composite{texts("Names", names)}
	}
	return []composite{texts("Names", names), texts("Required", required)}
}

// readerOf is wire.SlotName, or &request20260728Meta for a member with a rule of its own.
func readerOf(m *model.WireMember) string {
	switch {
	case m.Object != nil:
		return "&" + m.Object.Ident
	case m.Shape != nil:
		return "&" + m.Shape.Ident
	}
	return "wire.Slot" + m.Slot.Field
}

// var complete20251125Ref = wire.Forms{Union: check.Union{Keyword: "anyOf", Key: "type", Forms: []check.Form{…}}, Reads: []*wire.Rule{…}}
func (s *source) formsVar(o *model.WireObject) {
	forms, reads := composite{field: "Forms", text: "[]check.Form"}, composite{field: "Reads", text: "[]*wire.Rule"}
	for _, form := range o.Forms {
		forms.items = append(forms.items, composite{items: []composite{{field: "Kinds", text: "check.KindObject"}, texts("Tags", []string{form.Tag})}})
		reads.items = append(reads.items, composite{text: "&" + form.Object.Ident})
	}
	union := composite{field: "Union", text: "check.Union", items: []composite{
		{field: "Keyword", text: `"anyOf"`}, {field: "Key", text: strconv.Quote(o.Key)}, forms,
	}}
	s.variable(o.Ident, "wire.Forms", union, reads)
}

// variable writes a variable of the type of.
func (s *source) variable(ident, of string, fields ...composite) {
	before := "var " + ident + " = "
	s.block(before + composite{text: of, items: fields}.render(0, len(before)))
}
