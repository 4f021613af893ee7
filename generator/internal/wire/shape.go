package wire

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// shaped are the slots whose values the runtime validates against their definitions: what a client says of itself and asks for, in the handshake or
// in each request. A slot in one message alone is written after the name of the message. Capabilities are not validated: one that is not an object
// counts as not declared.
var shaped = []string{"clientInfo", "logLevel", "complete arguments"}

// shapeOfSlot is the shape of a slot, nil if it is read without one or its definition allows every value. Some clients write null for no arguments,
// which is allowed.
func (l *wireLowering) shapeOfSlot(rule *revision.Message, slot *revision.Slot) *model.WireShape {
	if !slices.Contains(shaped, slot.Name) && !slices.Contains(shaped, rule.Name+" "+slot.Name) {
		return nil
	}
	at := l.rev.Place(rule, slot).Schemas
	if len(at) == 0 {
		return nil
	}
	shape := definedShape(at[0].Document, at[0].Node, 0)
	if shape != nil {
		shape.Null = slot.Name == "arguments"
	}
	return shape
}

// maxShapeDepth limits definitions that contain themselves. The protocol's definitions are less than half as deep.
const maxShapeDepth = 16

var shapeKinds = map[string]string{"object": "KindObject", "array": "KindArray", "string": "KindString", "boolean": "KindBool"}

// definedShape is the type, properties and enum of a schema, nil if it has no type. Other keywords are left out.
func definedShape(doc *schema.Document, n *schema.Node, depth int) *model.WireShape {
	if n == nil || n.Kind != schema.Object || depth > maxShapeDepth {
		return nil
	}
	if ref := n.Get("$ref"); ref.Is(schema.String) {
		target, _ := doc.Resolve(ref.Text, ref)
		return definedShape(doc, target, depth+1)
	}
	of := &model.WireShape{}
	if t := n.Get("type"); t.Is(schema.String) {
		of.Kind = shapeKinds[t.Text]
	}
	switch of.Kind {
	case "":
		return nil
	case "KindString":
		of.Enum = texts(n.Get("enum"))
	case "KindArray":
		of.Items = definedShape(doc, n.Get("items"), depth+1)
	case "KindObject":
		shapeMembers(of, doc, n, depth+1)
	}
	return of
}

// shapeMembers fills in the properties of an object.
func shapeMembers(of *model.WireShape, doc *schema.Document, n *schema.Node, depth int) {
	of.Others = definedShape(doc, n.Get("additionalProperties"), depth)
	properties := n.Get("properties")
	if properties == nil {
		return
	}
	required := texts(n.Get("required"))
	for _, m := range properties.Members {
		p := model.WireProperty{Name: m.Key, Required: slices.Contains(required, m.Key)}
		if inner := definedShape(doc, m.Value, depth); inner != nil {
			p.Shape = *inner
		}
		of.Members = append(of.Members, p)
	}
	slices.SortFunc(of.Members, func(a, b model.WireProperty) int { return strings.Compare(a.Name, b.Name) })
}

func texts(list *schema.Node) (all []string) {
	if list == nil {
		return nil
	}
	for _, item := range list.Items {
		all = append(all, item.Text)
	}
	return all
}
