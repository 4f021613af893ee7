package emit

import "github.com/mcpkiln/mcpkiln/generator/internal/model"

// var request20260728MetaLogLevel = wire.Shaped{Slot: wire.SlotLogLevel, Shape: wire.Shape{Kind: check.KindString, Enum: …}}
func (s *source) shapeVar(m *model.WireMember) {
	s.variable(m.Shape.Ident, "wire.Shaped", composite{field: "Slot", text: "wire.Slot" + m.Slot.Field},
		composite{field: "Shape", text: "wire.Shape", items: shapeFields(m.Shape)})
}

// Kind: check.KindObject, Names: []string{"name"}, Members: []wire.Shape{{Kind: check.KindString}}
func shapeFields(s *model.WireShape) []composite {
	fields := []composite{}
	if s.Kind != "" {
		fields = append(fields, composite{field: "Kind", text: "check." + s.Kind})
	}
	if s.Null {
		fields = append(fields, composite{field: "Null", text: "true"})
	}
	if len(s.Enum) > 0 {
		fields = append(fields, composite{field: "Enum", text: "check.Enum", items: []composite{texts("Values", s.Enum)}})
	}
	if len(s.Members) > 0 {
		var names, required []string
		members := composite{field: "Members", text: "[]wire.Shape"}
		for _, m := range s.Members {
			names = append(names, m.Name)
			if m.Required {
				required = append(required, m.Name)
			}
			members.items = append(members.items, composite{items: shapeFields(&m.Shape)})
		}
		fields = append(append(fields, objectRule(names, required)...), members)
	}
	for _, of := range []struct {
		field string
		shape *model.WireShape
	}{{"Others", s.Others}, {"Items", s.Items}} {
		if of.shape != nil {
			fields = append(fields, composite{field: of.field, text: "&wire.Shape", items: shapeFields(of.shape)})
		}
	}
	return fields
}
