package emit

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// TypesFile returns types.gen.go: every Go type of decls. header is the comment above the package clause.
func TypesFile(header, pkg string, decls []*model.Decl) []byte {
	s := sized(len(decls) * 512)
	afterOneLine := false
	for _, d := range decls {
		if d.Name == "" || d.Same != nil && !d.Renamed() {
			continue
		}
		if oneLine := isOneLine(d); !oneLine || !afterOneLine {
			s.line()
			afterOneLine = oneLine
		}
		if d.Same != nil {
			s.alias("", d)
			continue
		}
		switch b := d.Body.(type) {
		case *model.Struct:
			s.structType(d, b)
		case *model.Enum, *model.Mixed:
			s.enumType(d)
		case *model.Union:
			s.unionType(d, b)
		case *model.Defined:
			s.definedType(d, b)
		}
	}
	return s.file(header, pkg)
}

// isOneLine reports whether d is written as one line, an alias: such lines are grouped without blank lines.
func isOneLine(d *model.Decl) bool {
	_, union := d.Body.(*model.Union) // whose comment lists its members
	return d.Same != nil && !union && len(d.Doc) == 0 && len(d.Constants()) == 0
}

// doc writes the comment of a type, if it has one: the name, then the schema's description.
func (s *source) doc(name string, lines []string) {
	switch {
	case len(lines) == 0:
		return
	case isPredicate(lines[0]):
		lines = withSubject(name, lines)
	case !strings.HasPrefix(lines[0], name+" "):
		lines = append([]string{name + ": " + lines[0]}, lines[1:]...)
	}
	s.comment(lines...)
}

// typeDoc writes the comment of d's type.
func (s *source) typeDoc(d *model.Decl) {
	if b, ok := d.Body.(*model.Union); ok {
		s.unionDoc(d, b)
		return
	}
	s.doc(d.Name, d.Doc)
}

func (s *source) unionDoc(d *model.Decl, b *model.Union) {
	names := make([]string, len(b.Members))
	for i, m := range b.Members {
		names[i] = m.TypeName()
	}
	is := "is one of " + strings.Join(names, ", ") + "."
	if len(d.Doc) > 0 {
		s.doc(d.Name, append(slices.Clip(d.Doc), "", "It "+is))
	} else {
		s.comment(d.Name + " " + is)
	}
}

// isPredicate reports whether a description continues a sentence that begins with the name, as in the embedded protocol documents:
// "is a piece of text".
func isPredicate(line string) bool {
	first, _ := utf8.DecodeRuneInString(line)
	return unicode.IsLower(first)
}

func withSubject(name string, lines []string) []string {
	return append([]string{name + " " + lines[0]}, lines[1:]...)
}

// structType writes
//
//	// Line is one position of an order.
//	type Line struct {
//		// Stock keeping unit.
//		SKU   string               `json:"sku"`
//		AdditionalProperties map[string]check.Raw `json:"-"`
//	}
func (s *source) structType(d *model.Decl, b *model.Struct) {
	s.typeDoc(d)
	run := make([]tagged, 0, len(b.Props)+1)
	flush := func() { s.taggedRows(run); run = run[:0] }
	s.open("type ", d.Name, " struct {")
	for _, p := range b.Props {
		if p.Name == "" {
			continue
		}
		if doc := fieldDoc(p); len(doc) > 0 {
			flush()
			s.comment(doc...)
		}
		run = append(run, tagged{p.Name, s.typ(&p.Value, p.Storage), p.Tag})
	}
	switch {
	case b.Field != "" && b.Array != nil:
		flush()
		s.comment("The items after these.")
		run = append(run, tagged{name: b.Field, typ: "[]" + s.typ(&b.AdditionalValue, b.AdditionalValue.Storage)})
	case b.Field != "":
		flush()
		s.comment("Additional properties.")
		run = append(run, tagged{b.Field, "map[string]" + s.typ(&b.AdditionalValue, b.AdditionalValue.Storage), "-"})
	}
	flush()
	s.close("}")
	if b.Field == "" && !slices.ContainsFunc(b.Props, func(p *model.Prop) bool { return p.Name != "" }) {
		s.b = append(s.b[:len(s.b)-len(" {\n}\n")], "{}\n"...)
	}
}

// fieldDoc is the description of a property, and its default.
func fieldDoc(p *model.Prop) []string {
	doc := p.Doc
	if len(doc) > 0 && isPredicate(doc[0]) {
		doc = withSubject(p.Name, doc)
	}
	if p.Default == nil {
		return doc
	}
	text := "Default " + p.DefaultText + "."
	switch {
	case p.DefaultText == "null":
		text = "Default null: an absent value is read as null."
	case p.Presence == model.Optional:
		text = "Default " + p.DefaultText + ", which decoding sets; not set, it is not written."
	}
	return append(slices.Clip(doc), text)
}

// enumType writes
//
//	// Side is buy or sell.
//	type Side string
//
//	const (
//		SideBuy  Side = "buy"
//		SideSell Side = "sell"
//	)
func (s *source) enumType(d *model.Decl) {
	s.typeDoc(d)
	s.line("type ", d.Name, " string")
	if len(d.Constants()) == 0 {
		return
	}
	s.line()
	s.valuesDoc(d)
	s.open("const (")
	var run []row
	for _, v := range d.Constants() {
		if len(v.Doc) > 0 {
			s.rows(run)
			run = nil
			s.comment(v.Doc...)
		}
		run = append(run, row{v.Name, d.Name + " = " + goString(v.Text)})
	}
	s.rows(run)
	s.close(")")
}

// valuesDoc writes a comment above constants whose values need one.
func (s *source) valuesDoc(d *model.Decl) {
	if _, ok := d.Body.(*model.Mixed); ok {
		s.comment("Each " + d.Name + " is a JSON text.")
	}
}

// unionType writes
//
//	// Shape is one of *Circle, *Square.
//	type Shape interface{ isShape() }
//
//	func (*Circle) isShape() {}
//	func (*Square) isShape() {}
func (s *source) unionType(d *model.Decl, b *model.Union) {
	s.typeDoc(d)
	s.line("type ", d.Name, " interface{ ", b.Method, "() }")
	s.line()
	var run []row
	for _, m := range b.Members {
		header := "func (" + m.TypeName() + ") " + b.Method + "()"
		if runes(header) > maxOneLine {
			s.rows(run)
			run = nil
			s.line(header, " {")
			s.line("}")
			continue
		}
		run = append(run, row{header, "{}"})
	}
	s.rows(run)
}

// maxOneLine is the longest function header that gofmt leaves on one line with an empty body.
const maxOneLine = 98

// alias writes
//
//	// Side is buy or sell.
//	type Side = part03.Side
//
//	const (
//		SideBuy  = part03.SideBuy
//		SideSell = part03.SideSell
//	)
//
// path is the package that declares the type under the same name; if it is empty, d is an alias of another declaration of its own package.
func (s *source) alias(path string, d *model.Decl) {
	to := d.Origin()
	name := func(text string) string { return text }
	if path != "" {
		to, name = d, func(text string) string { return s.use(path, text) }
	}
	s.typeDoc(d)
	s.line("type ", d.Name, " = ", name(to.Name))
	constants := d.Constants()
	if len(constants) == 0 {
		return
	}
	values := make([]row, len(constants))
	for i, v := range constants {
		values[i] = row{v.Name, "= " + name(to.Constants()[i].Name)}
	}
	s.line()
	s.valuesDoc(d)
	s.open("const (")
	s.rows(values)
	s.close(")")
}

// definedType writes
//
//	// BatchID is a string.
//	type BatchID string
func (s *source) definedType(d *model.Decl, b *model.Defined) {
	s.typeDoc(d)
	s.line("type ", d.Name, " ", s.typ(&b.Value, b.Value.Storage))
}

// typ returns the Go type of a value with its storage.
func (s *source) typ(v *model.Value, storage model.Storage) string {
	t := s.goType(v)
	switch storage {
	case model.StorePointer:
		return "*" + t
	case model.StoreOptional:
		return s.runtime("Optional") + "[" + t + "]"
	case model.StoreNullable:
		return s.runtime("Nullable") + "[" + t + "]"
	case model.StoreNullablePointer:
		return s.runtime("Nullable") + "[*" + t + "]"
	default:
		return t
	}
}

// goType is the Go type of a value that is present.
func (s *source) goType(v *model.Value) string {
	switch t := v.Type.(type) {
	case model.String:
		return "string"
	case model.Formatted:
		return s.formatted(t)
	case model.Int:
		return "int64"
	case model.Number:
		return "float64"
	case model.Decimal:
		return s.runtime("Literal")
	case model.Bool:
		return "bool"
	case *model.Slice:
		return "[]" + s.typ(&t.Elem, t.Elem.Storage)
	case *model.Map:
		return "map[string]" + s.typ(&t.Elem, t.Elem.Storage)
	case model.Named:
		return t.Decl.Name
	default:
		return s.runtime("Raw")
	}
}

// formatted is the Go type of a string with a format.
func (s *source) formatted(t model.Formatted) string {
	switch t.Package {
	case "":
		return "[]byte"
	case "check":
		return s.runtime(t.Name)
	}
	return s.use(t.Package, t.Name)
}
