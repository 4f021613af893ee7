package emit

import (
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// read writes statements that validate a value and read it into the variable to.
func (s *source) read(to string, v *model.Value, storage model.Storage) {
	defer s.unlessRefused(v.Checks)()
	s.assertions(v.Checks)
	switch {
	case v.Null && (storage == model.StoreNullable || storage == model.StoreNullablePointer):
		s.readNullable(to, v, storage)
	case v.Null:
		s.open("if !d.Null() {")
		s.readBare(to, v, storage)
		s.close("}")
	default:
		s.readBare(to, v, storage)
	}
}

// readNullable writes
//
//	if !check.ReadNull(d, &v.Memo) {
//		v.Memo = check.NonNull(d.String(nil))
//	}
func (s *source) readNullable(to string, v *model.Value, storage model.Storage) {
	s.open("if !check.ReadNull(d, &", to, ") {")
	if storage == model.StoreNullablePointer {
		s.line(to, " = check.NonNull(check.New(d, ", v.Type.(model.Named).Decl.Decode, "))")
	} else if e, ok := s.expr(v); ok {
		s.line(to, " = check.NonNull(", e, ")")
	} else {
		s.line("check.ReadSome(d, &", to, ".Optional, ", v.Type.(model.Named).Decl.Decode, ")")
	}
	s.close("}")
}

// readBare is read for a value that is not null.
func (s *source) readBare(to string, v *model.Value, storage model.Storage) {
	e, ok := s.expr(v)
	switch {
	case storage == model.StorePointer:
		s.line(to, " = check.New(d, ", v.Type.(model.Named).Decl.Decode, ")")
	case storage == model.StoreOptional && ok:
		s.line(to, " = check.Some(", e, ")")
	case storage == model.StoreOptional:
		s.line("check.ReadSome(d, ", strings.TrimPrefix("&"+to, "&*"), ", ", v.Type.(model.Named).Decl.Decode, ")")
	case ok:
		s.line(to, " = ", e)
	case to == "*v":
		s.line(v.Type.(model.Named).Decl.Decode, "(d, v)")
	default:
		s.line(v.Type.(model.Named).Decl.Decode, "(d, &", to, ")")
	}
}

// expr returns the expression that reads a value, if one expression is enough.
func (s *source) expr(v *model.Value) (string, bool) {
	switch t := v.Type.(type) {
	case *model.Slice:
		return sliceExpr(t), true
	case *model.Map:
		rule := "nil"
		if t.Rule != nil {
			rule = "&" + t.Rule.Var
		}
		return "check.Map(d, " + rule + ", " + t.Func.Decode + ")", true
	case model.Named:
		_, ok := t.Decl.Body.(*model.Enum)
		return t.Decl.Name + "(d.Enum(&" + t.Decl.Stem + "))", ok
	}
	return scalarExpr(v), true
}

// scalarExpr is the method of the decoder that reads a scalar, with its rule.
func scalarExpr(v *model.Value) string {
	switch t := v.Type.(type) {
	case model.String:
		return "d.String(" + stringRef(t.Rule) + ")"
	case model.Formatted:
		return "d." + t.Name + "(" + stringRef(t.Rule) + ")"
	case model.Int:
		return "d.Int(" + numberRef(t.Rule) + ")"
	case model.Number:
		return "d.Float(" + numberRef(t.Rule) + ")"
	case model.Decimal:
		return "d.Literal(" + numberRef(t.Rule) + ")"
	case model.Bool:
		return "d.Bool(" + valuesRef(v.Values) + ")"
	default:
		return "d.Raw(" + valuesRef(v.Values) + ")"
	}
}

// sliceExpr reads a slice: in one call of the runtime for scalars, else element by element.
func sliceExpr(t *model.Slice) string {
	rule := "nil"
	if t.Rule != nil {
		rule = "&" + t.Rule.Var
	}
	if t.Func != nil {
		return "check.List(d, " + rule + ", " + t.Func.Decode + ")"
	}
	switch e := t.Elem.Type.(type) {
	case model.String:
		return "d.Strings(" + rule + ", " + stringRef(e.Rule) + ")"
	case model.Int:
		return "d.Ints(" + rule + ", " + numberRef(e.Rule) + ")"
	case model.Number:
		return "d.Floats(" + rule + ", " + numberRef(e.Rule) + ")"
	case model.Bool:
		return "d.Bools(" + rule + ")"
	case model.Named:
		return "check.Enums[" + e.Decl.Name + "](d, " + rule + ", &" + e.Decl.Stem + ")"
	default:
		return "d.Raws(" + rule + ")"
	}
}

func stringRef(r *model.StringRule) string {
	if r == nil {
		return "nil"
	}
	return "&" + r.Var
}

func numberRef(r *model.NumberRule) string {
	if r == nil {
		return "nil"
	}
	return "&" + r.Var
}

func valuesRef(r *model.ValuesRule) string {
	if r == nil {
		return "nil"
	}
	return "&" + r.Var
}

func decimalOf(i int) string { return strconv.Itoa(i) }
