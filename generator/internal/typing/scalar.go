package typing

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/naming"
	"github.com/mcpkiln/mcpkiln/runtime/check/pattern"
	"github.com/mcpkiln/mcpkiln/schema"
)

// text is a string: an enum if its values are listed, else bounded by length, pattern and format.
func (l *lowering) text(s *shape, p place) model.Value {
	var also []model.Assertion
	if s.enum != nil {
		also = l.words(nil, s.str.formats, p)
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
	also = l.words(patterns, formats, p)
	if *rule == (model.StringRule{}) {
		rule = nil
	} else if t, ok := l.formatted(s, rule); ok && !p.validateOnly {
		return model.Value{Type: t, Checks: also}
	}
	return model.Value{Type: model.String{Rule: rule}, Checks: also}
}

// words returns assertions for the patterns and formats that do not fit into one rule.
func (l *lowering) words(patterns, formats []word, p place) []model.Assertion {
	var also []model.Assertion
	add := func(rule model.StringRule) {
		d := l.newFunc("check", p.hint)
		one := model.KindCase{Kind: model.KindString, Value: model.Value{Type: model.String{Rule: &rule}}}
		d.Body = &model.Check{Value: model.Value{Type: &model.ByKind{Allowed: model.KindAny, Cases: []model.KindCase{one}}}}
		also = append(also, &model.Also{Decl: d})
	}
	for _, w := range patterns {
		add(model.StringRule{At: l.at(w.at), Pattern: w.text})
	}
	for _, w := range formats {
		add(model.StringRule{At: l.at(w.at), Format: w.text})
	}
	return also
}

// enum is a named string type with constants, or in validators the choice alone.
func (l *lowering) enum(s *shape, p place) model.Type {
	at := l.ruleAt(s.enum.at, p)
	var texts []string
	for _, v := range s.enum.values {
		if v.Kind == schema.String {
			texts = append(texts, v.Text)
		}
	}
	if p.validateOnly {
		return &model.Choice{At: at, Values: texts, Const: s.enum.single}
	}
	d := l.declare(p, s)
	e := &model.Enum{At: at, Const: s.enum.single}
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

// number is an int64 for integers, unless the schema names larger ones; else a float64, unless that would round what the schema lists, or the
// integers of one of its forms.
func (l *lowering) number(s *shape, p place) model.Value {
	at := first(s.num.at, s.kindsAt)
	if s.enum != nil {
		at = s.enum.at
	}
	rule := &model.NumberRule{At: l.ruleAt(at, p)}
	multiple := s.num.multiple
	exactly := l.goTypeOf(s) == "json.Number" && !p.validateOnly
	listed := l.listed(s, deepest)
	rounded := slices.ContainsFunc(listed, roundedByFloat64) || !p.validateOnly && l.hasExactForm(s, deepest)
	integers := s.integer || rounded && l.areIntegers(s, deepest)
	small := integers && !p.validateOnly && !exactly && !l.beyondInt64(s, listed, deepest)
	if small {
		multiple = LCM(multiple, big.NewRat(1, 1))
	}
	rule.Integer = s.integer && !small && s.enum == nil
	if s.enum != nil {
		rule.Const = s.enum.single
		rule.Enum = numbers(s, s.integer || small)
	} else {
		l.bounds(s, rule)
		if multiple != nil {
			rule.MultipleOf = Decimal(multiple)
		}
	}
	if p.validateOnly {
		return model.Value{Type: model.Decimal{Rule: orNil(rule)}} // validators hold no value
	}
	if small {
		if rule.MultipleOf == "1" {
			rule.MultipleOf = ""
		}
		return model.Value{Type: model.Int{Rule: orNil(rule)}}
	}
	if s.integer || exactly || rounded {
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

// bounds fills in minimum and maximum; those of an int64 become integers that mean the same.
func (l *lowering) bounds(s *shape, rule *model.NumberRule) {
	if b := s.num.min; b != nil {
		value := b.value
		rule.Min, rule.ExclusiveMin = b.text, b.exclusive
		if s.integer {
			if !value.IsInt() {
				value, rule.ExclusiveMin = new(big.Rat).SetInt(ceil(value)), false
			}
			rule.Min = Decimal(value)
		}
		rule.RoundedMin = roundedByFloat64(value)
	}
	if b := s.num.max; b != nil {
		value := b.value
		rule.Max, rule.ExclusiveMax = b.text, b.exclusive
		if s.integer {
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

// listed returns the numbers of an enum, or of the constants that a group of s chooses from; nil if other numbers are allowed, too.
func (l *lowering) listed(s *shape, depth int) []*big.Rat {
	if s.enum != nil {
		return rats(s.enum.values)
	}
	for _, g := range s.groups {
		if depth == 0 {
			break
		}
		if all := l.listedIn(g, depth-1); all != nil {
			return all
		}
	}
	return nil
}

func (l *lowering) listedIn(g group, depth int) (all []*big.Rat) {
	for _, b := range l.shapes(g) {
		if b.kinds&model.KindNumber == 0 {
			continue
		}
		some := l.listed(b, depth)
		if some == nil {
			return nil
		}
		all = append(all, some...)
	}
	return all
}

// hasExactForm reports whether a group of s has a form whose values float64 would round, alone: another form that is any number takes
// them as numbers.
func (l *lowering) hasExactForm(s *shape, depth int) bool {
	if depth == 0 {
		return false
	}
	return slices.ContainsFunc(s.groups, func(g group) bool {
		forms := slices.DeleteFunc(l.shapes(g), func(b *shape) bool { return b.kinds&model.KindNumber == 0 })
		anyNumber := func(b *shape) bool {
			return !b.integer && b.enum == nil && b.num.at == nil && b.groups == nil && b.goType == ""
		}
		return !slices.ContainsFunc(forms, anyNumber) && slices.ContainsFunc(forms, func(b *shape) bool { return l.isExact(s, b, depth) })
	})
}

// isExact reports whether the numbers of a form of s are not those of a float64.
func (l *lowering) isExact(s, form *shape, depth int) bool {
	switch {
	case form.enum != nil:
		return slices.ContainsFunc(rats(form.enum.values), roundedByFloat64)
	case form.goType == "json.Number", l.hasExactForm(form, depth-1):
		return true
	}
	return form.integer && !(withinFloat64(higher(s.num.min, form.num.min)) && withinFloat64(lower(s.num.max, form.num.max)))
}

// withinFloat64 reports whether there is such a bound, and every integer up to it is exact as a float64.
func withinFloat64(b *bound) bool {
	return b != nil && new(big.Rat).Abs(b.value).Cmp(new(big.Rat).SetInt64(1<<53)) <= 0
}

// rats returns the numbers among values.
func rats(values []*schema.Node) (all []*big.Rat) {
	for _, v := range values {
		if x := v.Rat(); x != nil {
			all = append(all, x)
		}
	}
	return all
}

// roundedByFloat64 reports whether x is not written as it was read when a float64 holds it (VAL12).
func roundedByFloat64(x *big.Rat) bool {
	f, _ := x.Float64()
	written, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64)) // 2^60 is exact, and written with fewer digits
	return !ok || written.Cmp(x) != 0
}

// areIntegers reports whether s, an enum, or the forms of a group say that all numbers are integers.
func (l *lowering) areIntegers(s *shape, depth int) bool {
	if s.enum != nil {
		return s.integer || !slices.ContainsFunc(rats(s.enum.values), func(x *big.Rat) bool { return !x.IsInt() })
	}
	return s.integer || depth > 0 && slices.ContainsFunc(s.groups, func(g group) bool {
		return !slices.ContainsFunc(l.shapes(g), func(b *shape) bool { return b.kinds&model.KindNumber != 0 && !l.areIntegers(b, depth-1) })
	})
}

// beyondInt64 reports whether the schema, or a form of it, names an integer that int64 can not hold; listed are those that it lists.
func (l *lowering) beyondInt64(s *shape, listed []*big.Rat, depth int) bool {
	all := slices.Clip(listed)
	for _, b := range []*bound{s.num.min, s.num.max} {
		if b != nil {
			all = append(all, b.value)
		}
	}
	if s.num.multiple != nil {
		all = append(all, s.num.multiple)
	}
	low, high := new(big.Rat).SetInt64(math.MinInt64), new(big.Rat).SetInt64(math.MaxInt64)
	if slices.ContainsFunc(all, func(x *big.Rat) bool { return x.Cmp(low) < 0 || x.Cmp(high) > 0 }) {
		return true
	}
	return depth > 0 && !s.integer && slices.ContainsFunc(s.groups, func(g group) bool {
		return slices.ContainsFunc(l.shapes(g), func(b *shape) bool {
			return b.kinds&model.KindNumber != 0 && (b.goType == "json.Number" || l.beyondInt64(b, l.listed(b, depth-1), depth-1))
		})
	})
}

// numbers returns the values of an enum of numbers, in digits alone if they are integers.
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
