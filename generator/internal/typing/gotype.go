package typing

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
)

func (r *reader) readGoType(s *shape, _, v *schema.Node) {
	if schema.IsGoType(v.Text) {
		s.goType = v.Text
	}
}

// goTypeOf is the Go type that a schema, or the manifest for all of its kind, asks for; empty where the usual one stands.
// Protocol documents stay as they are.
func (l *lowering) goTypeOf(s *shape) string {
	switch kinds := s.kinds &^ model.KindNull; {
	case s.goType != "", l.keep, s.enum != nil:
		return s.goType
	case kinds == model.KindString && len(s.str.formats) > 0:
		return l.GoTypes[s.str.formats[0].text]
	case kinds == model.KindNumber && s.integer:
		return l.GoTypes["integer"]
	case kinds == model.KindNumber:
		return l.GoTypes["number"]
	}
	return ""
}

// formatted is the type of a string whose format has a Go type, if that is asked for. Base64 always has one.
func (l *lowering) formatted(s *shape, rule *model.StringRule) (model.Type, bool) {
	if rule.Format == byteFormat {
		return model.Formatted{Name: "Bytes", Rule: rule}, true
	}
	name := l.goTypeOf(s)
	if !slices.Contains(schema.GoTypesOf(rule.Format), name) {
		return nil, false
	}
	pkg, name, _ := strings.Cut(name, ".")
	return model.Formatted{Package: pkg, Name: name, Rule: rule}, true
}
