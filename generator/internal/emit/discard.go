package emit

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// discard writes statements that validate a value without storing it.
func (s *source) discard(v *model.Value) {
	defer s.unlessRefused(v.Checks)()
	s.assertions(v.Checks)
	if takes(v.Checks) {
		return
	}
	if v.Null {
		s.open("if !d.Null() {")
		defer s.close("}")
	}
	switch t := v.Type.(type) {
	case *model.Choice:
		s.line("d.Enum(&", t.Var, ")")
	case *model.Never:
		s.line("d.Kind(&", t.Var, ")")
	case *model.Slice:
		s.discardSlice(t)
	case *model.Map:
		s.discardMap(t)
	case *model.ByKind:
		s.discardKinds(t)
	case *model.ByIndex:
		s.discardItems(t)
	case *model.Object:
		s.members(t.Struct, s.discardProp, func() { s.discard(&t.Struct.AdditionalValue) })
	case model.Named:
		s.line(call(t.Decl))
	case model.Raw:
		if v.Values == nil {
			s.line("d.Skip()")
		} else {
			s.line("d.Alias(&", v.Values.Var, ")")
		}
	case model.String:
		s.line("d.Text(", stringRef(t.Rule), ")")
	default:
		s.line(scalarExpr(v))
	}
}

// takes reports whether an assertion consumes the value, so that nothing is left to read.
func takes(all []model.Assertion) bool {
	return slices.ContainsFunc(all, func(a model.Assertion) bool {
		g, ok := a.(*model.Group)
		return ok && g.Alone
	})
}

// validator is the function that validates a whole value, if a single one does.
func validator(v *model.Value) (string, bool) {
	if len(v.Checks) > 0 || v.Null {
		return "", false
	}
	switch t := v.Type.(type) {
	case model.Named:
		return t.Decl.Decode, t.Decl.Decode != ""
	case model.Raw:
		return "(*check.Decoder).Skip", v.Values == nil
	}
	return "", false
}

// discardSlice writes
//
//	d.Each(nil, checkLine)
//
// or, where no single function validates an item,
//
//	for ok := d.Array(nil); ok; ok = d.Item() {
//		d.Text(nil)
//	}
func (s *source) discardSlice(t *model.Slice) {
	rule := "nil"
	if t.Rule != nil {
		rule = "&" + t.Rule.Var
	}
	s.discardEach("d.Each("+rule+", ", "for ok := d.Array("+rule+"); ok; ok = d.Item() {", &t.Elem)
}

func (s *source) discardMap(t *model.Map) {
	rule := "nil"
	if t.Rule != nil {
		rule = "&" + t.Rule.Var
	}
	s.discardEach("d.EachMember("+rule+", ", "for f := d.Object("+rule+"); f >= 0; f = d.Next() {", &t.Elem)
}

// discardEach writes the call that begins with each and ends with the function that validates an element, or loop where no single function does.
func (s *source) discardEach(each, loop string, elem *model.Value) {
	if check, ok := validator(elem); ok {
		s.line(each, check, ")")
		return
	}
	s.open(loop)
	s.discard(elem)
	s.close("}")
}

// discardKinds writes
//
//	switch d.Kind(nil) {
//	case check.KindString:
//		d.Text(&name)
//	default:
//		d.Skip()
//	}
func (s *source) discardKinds(t *model.ByKind) {
	if len(t.Cases) == 0 && t.Allowed == model.KindAny {
		s.line("d.Skip()")
		return
	}
	rule, rest := "nil", t.Allowed
	if t.Var != "" {
		rule = "&" + t.Var
	}
	s.open("switch d.Kind(", rule, ") {")
	for _, c := range t.Cases {
		rest &^= c.Kind
		s.label("case ", kindNames(c.Kind), ":")
		s.discard(&c.Value)
	}
	if t.Allowed == model.KindAny {
		s.label("default:")
		s.line("d.Skip()")
	} else if rest != 0 {
		s.label("case ", kindNames(rest), ":")
		s.line("d.Skip()")
	}
	s.close("}")
}

// discardItems writes
//
//	switch d.Index() {
//	case 0:
//		d.Text(&first)
//	default:
//		d.Skip()
//	}
func (s *source) discardItems(t *model.ByIndex) {
	s.open("switch d.Index() {")
	for i := range t.Cases {
		s.label("case ", decimalOf(i), ":")
		s.discard(&t.Cases[i])
	}
	s.label("default:")
	s.discard(&t.Items)
	s.close("}")
}

// kindWords are the names of the kinds in package check, without the prefix Kind, in the order of the bits of model.Kind.
var kindWords = [...]string{"Null", "Bool", "Number", "String", "Array", "Object"}

func kindList(k model.Kind, separator string) string {
	var all []string
	for i, word := range kindWords {
		if k>>i&1 != 0 {
			all = append(all, "check.Kind"+word)
		}
	}
	return strings.Join(all, separator)
}

// kindRule is a set of kinds in a table.
func kindRule(k model.Kind, integer bool) string {
	all := kindList(k, " | ")
	if integer {
		all = strings.Replace(all, "check.KindNumber", "check.KindInteger", 1)
	}
	return all
}

func kindNames(k model.Kind) string { return kindList(k, ", ") }

// assertions writes what is validated of a value beside its type.
//
//	d.Also(checkShapeNot)
func (s *source) assertions(all []model.Assertion) {
	for _, a := range all {
		switch a := a.(type) {
		case *model.Conjunct:
			s.line("d.Also(", a.Decl.Decode, ")")
		case *model.Group:
			s.group(a)
		}
	}
}

// unlessRefused opens the block that validates a member whose name the sole pattern matches, and returns the function that closes it.
//
//	if d.NameMatches(&thingName) {
func (s *source) unlessRefused(all []model.Assertion) func() {
	for _, a := range all {
		if p, ok := a.(*model.SolePattern); ok {
			s.open("if d.NameMatches(&", p.Var, ") {")
			return func() { s.close("}") }
		}
	}
	return func() {}
}
