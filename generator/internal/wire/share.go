package wire

import (
	"fmt"
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
	key := fmt.Sprint(made.Append, made.Struct, content(made.Root))
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
			m.Shape = first(s.shapes, m.Slot.Field+" "+shapeContent(m.Shape), m.Shape)
		}
		if m.Object != nil {
			s.share(structName, m.Object)
			m.Object = first(s.objects, structName+" "+content(m.Object), m.Object)
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

// shapeContent is a text of everything in a shape except its names.
func shapeContent(s *model.WireShape) string {
	if s == nil {
		return "any"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %t %q (%s) (%s)", s.Kind, s.Null, s.Enum, shapeContent(s.Others), shapeContent(s.Items))
	for _, m := range s.Members {
		fmt.Fprintf(&b, " %q %t (%s)", m.Name, m.Required, shapeContent(&m.Shape))
	}
	return b.String()
}

// content is a text of everything in an object except its names.
func content(o *model.WireObject) string {
	var b strings.Builder
	for _, m := range o.Members {
		fmt.Fprintf(&b, "%q %t %q %q", m.Name, m.Required, m.Literal, m.Call)
		if m.Slot != nil {
			fmt.Fprintf(&b, " %v", *m.Slot)
		}
		if m.Shape != nil {
			b.WriteString(" " + shapeContent(m.Shape))
		}
		if m.Object != nil {
			b.WriteString("{" + content(m.Object) + "}")
		}
		b.WriteByte(';')
	}
	for _, form := range o.Forms {
		fmt.Fprintf(&b, "%q %q {%s}", o.Key, form.Tag, content(form.Object))
	}
	return b.String() + o.Splice
}
