package typing

import (
	"math/big"
	"slices"
	"unicode/utf8"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/naming"
	"github.com/mcpkiln/mcpkiln/runtime/check/pattern"
	"github.com/mcpkiln/mcpkiln/schema"
)

// text lowers strings: to an enum if the values are listed, else to a string with bounds, pattern and format.
func (l *lowering) text(s *shape, p place) model.Value {
	var also []model.Assertion
	if s.enum != nil {
		also = l.textAssertions(nil, s.str.formats, p)
		return model.Value{Type: l.enum(s, p), Checks: also}
	}
	rule := &model.StringRule{At: l.ruleAt(first(s.str.at, s.kindsAt), p), Min: s.str.min, Max: s.str.max}
	patterns, formats := s.str.patterns, s.str.formats
	if len(patterns) > 0 {
		rule.Pattern, patterns = patterns[0].text, patterns[1:]
	}
	if len(formats) > 0 {
		rule.Format, formats = formats[0].text, formats[1:]
	}
	also = l.textAssertions(patterns, formats, p)
	if *rule == (model.StringRule{}) {
		rule = nil
	} else if t, ok := l.formatted(s, rule); ok && !p.validateOnly {
		return model.Value{Type: t, Checks: also}
	}
	return model.Value{Type: model.String{Rule: rule}, Checks: also}
}

// textAssertions returns assertions for the patterns and formats that do not fit into one rule.
func (l *lowering) textAssertions(patterns, formats []textRule, p place) []model.Assertion {
	var also []model.Assertion
	add := func(rule model.StringRule) {
		d := l.newFunc("check", p.hint)
		one := model.KindCase{Kind: model.KindString, Value: model.Value{Type: model.String{Rule: &rule}}}
		d.Body = &model.Check{Value: model.Value{Type: &model.ByKind{Allowed: model.KindAny, Cases: []model.KindCase{one}}}}
		also = append(also, &model.Conjunct{Decl: d})
	}
	for _, w := range patterns {
		add(model.StringRule{At: l.at(w.at), Pattern: w.text})
	}
	for _, w := range formats {
		add(model.StringRule{At: l.at(w.at), Format: w.text})
	}
	return also
}

// enum lowers an enum of strings to a named string type with constants, or in validators to a model.Choice.
func (l *lowering) enum(s *shape, p place) model.Type {
	at := l.ruleAt(s.enum.at, p)
	var texts []string
	for _, v := range s.enum.values {
		if v.Kind == schema.String {
			texts = append(texts, v.Text)
		}
	}
	if p.validateOnly {
		return &model.Choice{At: at, Values: texts, Const: s.enum.isConst}
	}
	d := l.declare(p, s)
	e := &model.Enum{At: at, Const: s.enum.isConst}
	for i, word := range naming.Distinct(texts, constWord) {
		e.Values = append(e.Values, model.EnumValue{Name: word, Text: texts[i], Doc: s.enum.docs[texts[i]]})
	}
	d.Body = e
	return model.Named{Decl: d}
}

// constWord is the part of a constant's name that follows from its value.
func constWord(text string) string {
	if text == "" {
		return "Empty"
	}
	if word := naming.GoWords(text); word != "" {
		return word
	}
	return "Value"
}

// fits reports whether an enum's value satisfies the other keywords.
func (s *stringFacet) fits(text string) bool {
	n := utf8.RuneCountInString(text)
	if s.min != nil && n < *s.min || s.max != nil && n > *s.max {
		return false
	}
	for _, p := range s.patterns {
		if re, err := pattern.Compile(p.text); err == nil && !re.MatchString(text) {
			return false
		}
	}
	return true
}

// number lowers numbers: integers to int64, unless the schema names larger ones; others to float64, unless float64 would round numbers that the
// schema lists, or integers of a branch. Numbers that fit neither are check.Literal, as are those for which goType asks for json.Number.
func (l *lowering) number(s *shape, p place) model.Value {
	at := first(s.num.at, s.kindsAt)
	if s.enum != nil {
		at = s.enum.at
	}
	rule := &model.NumberRule{At: l.ruleAt(at, p)}
	multiple := s.num.multiple
	asWritten := l.goTypeOf(s) == "json.Number" && !p.validateOnly
	n := l.numberSet(s, deepest)
	rounded := slices.ContainsFunc(n.listed, roundedByFloat64) || !p.validateOnly && n.exact
	integers := s.integer || rounded && n.integers
	asInt64 := integers && !p.validateOnly && !asWritten && !n.beyondInt64
	if asInt64 && multiple != nil {
		multiple = LCM(multiple, big.NewRat(1, 1))
	}
	rule.Integer = s.integer && !asInt64 && s.enum == nil
	if s.enum != nil {
		rule.Const = s.enum.isConst
		rule.Enum = numbers(s, s.integer || asInt64)
	} else {
		s.num.bounds(rule, s.integer || asInt64)
		if multiple != nil {
			rule.MultipleOf = Decimal(multiple)
		}
	}
	if p.validateOnly {
		return model.Value{Type: model.Decimal{Rule: orNil(rule)}} // validators store no value
	}
	if asInt64 {
		if rule.MultipleOf == "1" {
			rule.MultipleOf = ""
		}
		return model.Value{Type: model.Int{Rule: orNil(rule)}}
	}
	if s.integer || asWritten || rounded {
		return model.Value{Type: model.Decimal{Rule: orNil(rule)}}
	}
	return model.Value{Type: model.Number{Rule: orNil(rule)}}
}

func orNil(r *model.NumberRule) *model.NumberRule {
	if r.At == "" && r.Min == "" && r.Max == "" && r.MultipleOf == "" && !r.Integer && r.Enum == nil {
		return nil
	}
	return r
}

// bounds fills in minimum and maximum. With integers, a bound that is a fraction becomes the integer that means the same.
func (s *numberFacet) bounds(rule *model.NumberRule, integers bool) {
	if b := s.min; b != nil {
		value := b.value
		rule.Min, rule.ExclusiveMin = b.text, b.exclusive
		if integers {
			if !value.IsInt() {
				value, rule.ExclusiveMin = new(big.Rat).SetInt(ceil(value)), false
			}
			rule.Min = Decimal(value)
		}
		rule.RoundedMin = roundedByFloat64(value)
	}
	if b := s.max; b != nil {
		value := b.value
		rule.Max, rule.ExclusiveMax = b.text, b.exclusive
		if integers {
			if !value.IsInt() {
				below := new(big.Int).Sub(ceil(value), big.NewInt(1))
				value, rule.ExclusiveMax = new(big.Rat).SetInt(below), false
			}
			rule.Max = Decimal(value)
		}
		rule.RoundedMax = roundedByFloat64(value)
	}
}

func ceil(x *big.Rat) *big.Int {
	q, m := new(big.Int).DivMod(x.Num(), x.Denom(), new(big.Int))
	if m.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

// numbers returns the numbers of an enum as texts: with integers, without fraction and exponent.
func numbers(s *shape, integers bool) []string {
	var all []string
	for _, v := range s.enum.values {
		switch x := v.Rat(); {
		case v.Kind != schema.Number || x == nil:
		case integers:
			all = append(all, Decimal(x))
		default:
			all = append(all, v.Text)
		}
	}
	return all
}

// fits reports whether an enum's value satisfies the other keywords.
func (s *numberFacet) fits(v *schema.Node, integer bool) bool {
	x := v.Rat()
	switch {
	case x == nil:
		return true
	case integer && !x.IsInt(), s.multiple != nil && !new(big.Rat).Quo(x, s.multiple).IsInt():
		return false
	}
	low, high := s.min == nil || x.Cmp(s.min.value) > 0, s.max == nil || x.Cmp(s.max.value) < 0
	low = low || x.Cmp(s.min.value) == 0 && !s.min.exclusive
	high = high || x.Cmp(s.max.value) == 0 && !s.max.exclusive
	return low && high
}
