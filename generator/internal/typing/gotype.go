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

// goTypeOf returns the Go type, such as time.Time, that a schema asks for, or that the manifest asks for by a format or kind; empty for the default.
// Schemas of protocol documents always have the default.
func (l *lowering) goTypeOf(s *shape) string {
	switch kinds := s.kinds &^ model.KindNull; {
	case s.goType != "", l.protocol, s.enum != nil:
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

// formatted returns the Go type for the format of a string, if goTypeOf asks for one. Base64 always has one.
func (l *lowering) formatted(s *shape, rule *model.StringRule) (model.Type, bool) {
	if rule.Format == byteFormat {
		return model.Formatted{Name: "Bytes", Rule: rule}, true
	}
	name := l.goTypeOf(s)
	if name == "" || rule.Format == "" || !slices.Contains(schema.GoTypesOf(rule.Format), name) {
		return nil, false
	}
	pkg, name, _ := strings.Cut(name, ".")
	return model.Formatted{Package: pkg, Name: name, Rule: rule}, true
}
