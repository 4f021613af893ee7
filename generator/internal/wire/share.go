package wire

import (
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/naming"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// Shared is what the wires of a package have in common. A function is made once for all messages of the same content, of whatever
// revision, and so is an object of params, such as the _meta of every request.
type Shared struct {
	Union    *revision.Union // of all revisions, served or not
	newest   *model.Wire     // the first wire that was made
	messages map[string]*model.Message
	objects  map[string]*model.WireObject
	shapes   map[string]*model.WireShape
	idents   map[string]bool
}

// once returns the function for a message with the content of made: an existing one, or made, which it then names.
func (s *Shared) once(made *model.Message, rule, suffix string) (of *model.Message, fresh bool) {
	key := string(appendContent(strconv.AppendBool([]byte(made.Struct), made.Append), made.Root))
	if of = s.messages[key]; of != nil {
		return of, false
	}
	if s.messages == nil {
		s.messages, s.objects, s.idents = map[string]*model.Message{}, map[string]*model.WireObject{}, map[string]bool{}
		s.shapes = map[string]*model.WireShape{}
	}
	s.messages[key] = made
	stem := s.stem(made, rule, suffix)
	made.Func = "append" + stem
	if !made.Append {
		made.Func = "read" + stem
		name(made.Root, stem)
		s.share(made.Struct, made.Root)
	}
	return made, true
}

// stem is what the name of a function is made of: the name of the message; for params with one member beside _meta, the name of that member, since
// several methods have the same params.
func (s *Shared) stem(m *model.Message, rule, suffix string) string {
	stem := strings.ToUpper(rule[:1]) + rule[1:] + suffix
	if first := m.Root.Members; m.Struct == "Params" && first[0].Slot != nil && (len(first) == 1 || first[1].Name == metaMember) {
		if only := first[0].Slot.Field + suffix; !s.idents[only] {
			stem = only
		}
	}
	s.idents[stem] = true
	return stem
}

// name names the rules of o and of the objects below it.
func name(o *model.WireObject, stem string) {
	o.Ident = naming.Unexported(stem)
	for _, m := range o.Members {
		if m.Object != nil {
			name(m.Object, stem+naming.GoName(m.Name))
		}
		if m.Shape != nil {
			m.Shape.Ident = naming.Unexported(stem + m.Slot.Field)
		}
	}
	for _, form := range o.Forms {
		name(form.Object, stem+naming.GoName(form.Tag))
	}
}

// share replaces objects and shapes below a reader's root by equal ones of an earlier reader of the same struct.
func (s *Shared) share(structName string, root *model.WireObject) {
	for _, m := range root.Members {
		if m.Shape != nil {
			m.Shape = first(s.shapes, string(appendShape([]byte(m.Slot.Field), m.Shape)), m.Shape)
		}
		if m.Object != nil {
			s.share(structName, m.Object)
			m.Object = first(s.objects, string(appendContent([]byte(structName), m.Object)), m.Object)
		}
	}
	for _, form := range root.Forms {
		s.share(structName, form.Object)
	}
}

// first returns the value of key in seen, and adds v if there is none.
func first[V any](seen map[string]*V, key string, v *V) *V {
	if seen[key] == nil {
		seen[key] = v
	}
	return seen[key]
}

// appendShape appends everything in a shape except its names, so that equal shapes have equal texts.
func appendShape(b []byte, s *model.WireShape) []byte {
	if s == nil {
		return append(b, '-')
	}
	b = strconv.AppendBool(appendTexts(append(b, '('), append([]string{s.Kind}, s.Enum...)...), s.Null)
	b = appendShape(appendShape(b, s.Others), s.Items)
	for i := range s.Members {
		m := &s.Members[i]
		b = appendShape(strconv.AppendBool(appendTexts(b, m.Name), m.Required), &m.Shape)
	}
	return append(b, ')')
}

// appendContent does so for an object.
func appendContent(b []byte, o *model.WireObject) []byte {
	b = appendTexts(append(b, '{'), o.Key, o.Splice)
	for _, m := range o.Members {
		b = strconv.AppendBool(appendTexts(b, m.Name, m.Literal, m.Call), m.Required)
		if m.Slot != nil {
			b = strconv.AppendInt(appendTexts(b, m.Slot.Field), int64(m.Slot.Kind), 10)
		}
		if m.Shape != nil {
			b = appendShape(b, m.Shape)
		}
		if m.Object != nil {
			b = appendContent(b, m.Object)
		}
		b = append(b, ';')
	}
	for _, form := range o.Forms {
		b = appendContent(appendTexts(b, form.Tag), form.Object)
	}
	return append(b, '}')
}

// appendTexts appends how many texts there are, and each after its length.
func appendTexts(b []byte, texts ...string) []byte {
	b = strconv.AppendInt(b, int64(len(texts)), 10)
	for _, t := range texts {
		b = append(append(strconv.AppendInt(append(b, ' '), int64(len(t)), 10), ' '), t...)
	}
	return b
}
