package wire

import (
	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// divide makes forms of each object below o whose definition is an anyOf or oneOf, told apart by the text of a member (LET05): each form has the slots
// that its own definition has. at is the definition of o.
func divide(o *model.WireObject, at revision.Place) {
	for _, m := range o.Members {
		inner, ok := at.At(m.Name)
		if m.Object == nil || !ok {
			continue
		}
		key, forms := inner.Forms()
		if forms == nil {
			divide(m.Object, inner)
			continue
		}
		of := &model.WireObject{Key: key}
		for _, f := range forms {
			of.Forms = append(of.Forms, &model.WireForm{Tag: f.Tag, Object: formOf(m.Object, f.Place)})
		}
		m.Object = of
	}
}

// formOf is o with only the members that the definition of one form has.
func formOf(o *model.WireObject, at revision.Place) *model.WireObject {
	form := &model.WireObject{}
	for _, m := range o.Members {
		if inner, ok := at.At(m.Name); ok {
			own := *m
			own.Required = inner.Required
			form.Members = append(form.Members, &own)
		}
	}
	return form
}
