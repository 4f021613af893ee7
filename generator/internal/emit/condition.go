package emit

import (
	"slices"
	"strconv"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// condition writes the body of a validator that does not consume the value.
func (s *source) condition(d *model.Decl) {
	switch b := d.Body.(type) {
	case *model.Not:
		s.line("d.Not(&", d.Stem, ", ", b.Branch.Decode, ")")
	case *model.If:
		if b.Then != nil || b.Else != nil {
			why := "nil"
			if b.Because != "" {
				why = "&" + d.Stem
			}
			s.line("d.If(", why, ", ", b.If.Decode, ", ", funcName(b.Then), ", ", funcName(b.Else), ")")
		}
	case *model.Dependents:
		s.line("d.Needs(&", d.Stem, ")")
	case *model.When:
		s.when(b)
	case *model.NameOf:
		s.line("d.Name(", b.Schema.Decode, ")")
	case *model.Matched:
		s.matched(d, b)
	case *model.Contains:
		s.line("d.Contains(&", d.Stem, ", ", b.Item.Decode, ")")
	case *model.Unevaluated:
		s.unevaluated(d, b)
	case *model.Evaluated:
		s.evaluated(d, b)
	}
}

// call is the statement that calls a validator; empty for nil, which allows everything.
func call(d *model.Decl) string {
	if d == nil {
		return ""
	}
	return d.Decode + "(d)"
}

// evaluation is the statement that calls a function with the body model.Evaluated; empty for nil. e is the record that the function fills.
func evaluation(d *model.Decl, e string) string {
	if d == nil {
		return ""
	}
	return d.Decode + "(d, " + e + ")"
}

func funcName(d *model.Decl) string {
	if d == nil {
		return "nil"
	}
	return d.Decode
}

// conditional writes an if statement of which one branch may be empty.
//
//	if d.Fits(checkThingIf) {
//		evaluateThingThen(d, e)
//	} else {
//		evaluateThingElse(d, e)
//	}
func (s *source) conditional(condition, then, otherwise string) {
	switch {
	case then == "" && otherwise == "":
		return
	case then == "":
		s.open("if !", condition, " {")
		s.line(otherwise)
	default:
		s.open("if ", condition, " {")
		s.line(then)
	}
	if then != "" && otherwise != "" {
		s.close("} else {")
		s.depth++
		s.line(otherwise)
	}
	s.close("}")
}

// when writes
//
//	d.When("card", checkThingCard)
func (s *source) when(b *model.When) {
	for i, key := range b.Keys {
		s.line("d.When(", goString(key), ", ", b.Schemas[i].Decode, ")")
	}
}

// matched writes
//
//	for k := d.Match(&thingMatched); k.Next(); {
//		switch k.Index {
//		case 0:
//			checkThingPattern1(d)
//		default:
//			checkThingRest(d)
//		}
//	}
func (s *source) matched(d *model.Decl, b *model.Matched) {
	if b.AdditionalProperties == nil && !slices.ContainsFunc(b.Schemas, func(d *model.Decl) bool { return d != nil }) {
		s.line("k := d.Match(&", d.Stem, ")")
		s.line("k.Next()") // refuses names that match no pattern
		return
	}
	s.open("for k := d.Match(&", d.Stem, "); k.Next(); {")
	s.open("switch k.Index {")
	for i, schema := range b.Schemas {
		if schema != nil {
			s.label("case ", strconv.Itoa(i), ":")
			s.line(call(schema))
		}
	}
	if b.AdditionalProperties != nil {
		s.label("case check.Other:")
		s.line(call(b.AdditionalProperties))
	}
	s.close("}")
	s.close("}")
}

// unevaluated writes
//
//	e := d.Evaluate(&thingUnevaluated)
//	evaluateThing(d, &e)
//	for e.Next() {
//		checkThingRest(d)
//	}
func (s *source) unevaluated(d *model.Decl, b *model.Unevaluated) {
	s.line("e := d.Evaluate(&", d.Stem, ")")
	if b.Evaluated != nil {
		s.line(evaluation(b.Evaluated, "&e"))
	}
	if b.Schema == nil {
		s.line("e.Next()")
		return
	}
	s.open("for e.Next() {")
	s.line(call(b.Schema))
	s.close("}")
}

// evaluated writes
//
//	e.Properties(&thing)
//	if d.Fits(checkThingAnyOf1) {
//		evaluateThingAnyOf1(d, e)
//	}
func (s *source) evaluated(d *model.Decl, b *model.Evaluated) {
	if b.All {
		s.line("e.All()")
	}
	if b.First > 0 {
		s.line("e.First(", strconv.Itoa(b.First), ")")
	}
	if len(b.Names)+len(b.Patterns) > 0 {
		s.line("e.Properties(&", d.Stem, ")")
	}
	for _, found := range b.Found {
		s.line("e.Found(", found.Decode, ")")
	}
	for _, step := range b.Steps {
		condition := "d.HasKey(" + goString(step.Key) + ")"
		if step.If != nil {
			condition = "d.Fits(" + step.If.Decode + ")"
		}
		s.conditional(condition, evaluation(step.Then, "e"), evaluation(step.Else, "e"))
	}
}

// condition adds the table of a condition.
func (t *tables) condition(d *model.Decl) {
	switch b := d.Body.(type) {
	case *model.Not:
		t.add(d.Stem, "Not", at(b.At), text("Key", b.Key), flag("Lacks", b.Lacks), text("Allowed", b.Allowed))
	case *model.If:
		if b.Because != "" && (b.Then != nil || b.Else != nil) {
			t.add(d.Stem, "Because", text("Then", ifElse(b.Then == nil, "", b.Because)), text("Else", ifElse(b.Else == nil, "", b.Unless)))
		}
	case *model.Dependents:
		t.add(d.Stem, "Dependents", at(b.At), text("Keyword", b.Keyword), needs(b))
	case *model.Matched:
		additional := [...]string{"AdditionalProperties: check.Skip", "", "AdditionalProperties: check.Refuse"}
		which := 0
		if b.AdditionalProperties != nil {
			which = 1
		} else if b.Refuse {
			which = 2
		}
		t.add(d.Stem, "Keys", at(b.At), t.patterns(b.Patterns), additional[which])
	case *model.Contains:
		t.add(d.Stem, "Contains", at(b.At), bound("Min", &b.Min), bound("Max", b.Max))
	case *model.Unevaluated:
		keyword := "unevaluatedProperties"
		if b.Items {
			keyword = "unevaluatedItems"
		}
		t.add(d.Stem, "Unevaluated", at(b.At), text("Keyword", keyword), flag("Items", b.Items), flag("Refuse", b.Schema == nil))
	case *model.Evaluated:
		if len(b.Names)+len(b.Patterns) > 0 {
			t.add(d.Stem, "Evaluates", list("Names", b.Names), t.patterns(b.Patterns))
		}
	}
}

func needs(b *model.Dependents) string {
	all := make([]string, len(b.Keys))
	for i, key := range b.Keys {
		all[i] = "{" + text("Key", key) + ifElse(key == "", "", ", ") + list("Names", b.Names[i]) + "}"
	}
	return exprs("Needs", "check.Need", all)
}

func (t *tables) patterns(sources []string) string {
	if len(sources) == 0 {
		return "" // so that package format is not imported
	}
	all := make([]string, len(sources))
	for i, source := range sources {
		all[i] = "{" + text("Source", source) + "}"
	}
	return exprs("Patterns", "*"+t.format("Pattern"), all)
}
