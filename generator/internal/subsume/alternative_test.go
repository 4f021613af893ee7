package subsume

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/schema"
)

// TestVAL03ManyAlternatives bounds the work for unions of many schemas: it grows with their number where something tells them apart, and with
// the pairs of them where that has to be searched for.
func TestVAL03ManyAlternatives(t *testing.T) {
	const (
		linear    = 4 // times the work for three times as many
		quadratic = 10
	)
	object := func(rest string) string {
		return `{"type": "object", "required": ["kind"], "properties": {` + rest + `}}`
	}
	for _, c := range []struct {
		in, alternative string
		most            int
		want            answer
	}{
		{`{"oneOf": [%s]}`, object(`"kind": {"const": %d}`), linear, some},
		{`{"oneOf": [%s]}`, object(`"kind": {"const": "k%d"}, "p%[1]d": {"type": "string"}`), linear, some},
		{`{"oneOf": [%s]}`, object(`"kind": {"enum": ["a%d", "b%[1]d"]}`), linear, some},
		{`{"oneOf": [%s]}`, object(`"kind": {"allOf": [{"type": "integer"}, {"const": %d}]}`), linear, some},
		{`{"oneOf": [%s]}`, `{"type": "array", "minItems": %d, "maxItems": %[1]d}`, quadratic, some},
		{`{"oneOf": [%s]}`, object(`"kind": {"type": "integer", "minimum": %d0, "maximum": %[1]d5}`), quadratic, some},
		{`{"oneOf": [%s]}`, `{"const": %d}`, linear, some},
		{`{"oneOf": [%s], "not": {"required": ["kind"]}}`, object(`"kind": {"const": %d}`), linear, none},
		{`{"oneOf": [%s], "properties": {"kind": {"minimum": 9999}}}`, object(`"kind": {"const": %d}`), linear, none},
		{`{"anyOf": [%s]}`, object(`"kind": {"const": %d}`), linear, some},
		{`{"type": "object", "required": ["v"], "properties": {"v": {"type": "array", "minItems": 1, "items": {"oneOf": [%s]}}}}`, object(`"kind": {"const": %d}`), linear, some},
		{`{"type": "object", "required": ["v"], "properties": {"v": {"oneOf": [%s]}}}`, `{"required": ["kind"], "properties": {"kind": {"const": %d}}}`, linear, some},
		{`{"type": "object", "required": ["kind"], "oneOf": [%s]}`, `{"properties": {"kind": {"const": %d}}}`, linear, some},
		{`{"not": {"oneOf": [%s]}, "type": "string"}`, `{"required": ["kind"], "properties": {"kind": {"const": %d}}}`, linear, some},
		{`{"oneOf": [true, %s], "type": "string"}`, `{"const": "k%d"}`, linear, some},
		{`{"not": {"oneOf": [{"required": ["a"]}, %s]}, "type": "string"}`, `{"const": "k%d"}`, linear, some},
		{`{"not": {"oneOf": [%s]}, "required": ["kind"]}`, object(`"kind": {"const": %d}`), linear, some},
		{`{"not": {"anyOf": [%s]}, "required": ["kind"], "type": "object"}`, object(`"kind": {"const": %d}`), linear, some},
	} {
		work := func(n int) int {
			all := make([]string, n)
			for i := range all {
				all[i] = fmt.Sprintf(c.alternative, i+1)
			}
			d := documentOf(t, fmt.Sprintf(c.in, strings.Join(all, ", ")))
			s := newSolver(unbounded)
			if o := s.value(goal{{site{d, d.Root}, true}}); o.answer != c.want {
				t.Errorf("%s of %d %s: %v, want %v", c.in, n, c.alternative, o.answer, c.want)
			}
			return s.steps
		}
		if few, many := work(100), work(300); many > c.most*few {
			t.Errorf("%s of %s: %d steps for 100, %d for 300", c.in, c.alternative, few, many)
		}
	}
}

// TestREV08Alternatives has two schemas each: where no value meets both, oneOf says no more than anyOf.
func TestREV08Alternatives(t *testing.T) {
	const tagged = `{"type": "object", "required": ["k"], "properties": {"k": %s}}`
	for _, c := range []struct {
		a, b     string
		excluded bool // seen at once
		want     Relation
	}{
		{fmt.Sprintf(tagged, `{"const": 1}`), fmt.Sprintf(tagged, `{"const": "1"}`), true, Equal},
		{fmt.Sprintf(tagged, `{"const": 1}`), fmt.Sprintf(tagged, `{"const": 1.0}`), false, Wider},
		{fmt.Sprintf(tagged, `{"enum": [1, null]}`), fmt.Sprintf(tagged, `{"enum": ["null", 2]}`), true, Equal},
		{fmt.Sprintf(tagged, `{"enum": [1, null]}`), fmt.Sprintf(tagged, `{"enum": ["a", null]}`), false, Wider},
		{fmt.Sprintf(tagged, `{"const": {"a": 1}}`), fmt.Sprintf(tagged, `{"const": {"a": 1.0}}`), false, Wider},
		{fmt.Sprintf(tagged, `{"const": 1}`), `{"type": "object", "properties": {"k": {"const": 2}}}`, true, Equal},
		{`{"type": "object", "properties": {"k": {"const": 1}}}`, `{"type": "object", "properties": {"k": {"const": 2}}}`, false, Wider},
		{`{"required": ["k"], "properties": {"k": {"const": 1}}}`, `{"required": ["k"], "properties": {"k": {"const": 2}}}`, true, Wider}, // of a text, both hold
		{`{"$ref": "#/$defs/A"}`, fmt.Sprintf(tagged, `{"$ref": "#/$defs/B"}`), true, Equal},
		{`{"$ref": "#/$defs/A", "minProperties": 1}`, fmt.Sprintf(tagged, `{"anyOf": [{"const": 1}, {"const": 2}]}`), false, Wider},
		{`{"enum": ["a", 1]}`, `{"enum": ["b", 1.5]}`, true, Equal},
		{`{"enum": ["a", 1]}`, `{"enum": ["b", 1.0]}`, false, Wider},
	} {
		text := func(keyword string) string {
			return `{"` + keyword + `": [` + c.a + `, ` + c.b + `], "$defs": {"A": {"allOf": [` + fmt.Sprintf(tagged, `{"const": 1}`) + `]}, "B": {"const": 2}}}`
		}
		one, either := documentOf(t, text("oneOf")), documentOf(t, text("anyOf"))
		all := atom{site{one, one.Root}, one.Root.Get("oneOf"), schema.Object, true}.alternatives()
		if got := len(all) == 2 && all[0].excludes(all[1]) && all[1].excludes(all[0]); got != c.excluded {
			t.Errorf("%s and %s exclude each other: %v, want %v", c.a, c.b, got, c.excluded)
		}
		if v := Compare(one, either); v.Relation() != c.want {
			t.Errorf("oneOf and anyOf of %s and %s: %v, want %v", c.a, c.b, v.Relation(), c.want)
		}
	}
}

// TestREV08AbsentPropertiesFirst has a union of objects with several ways not to meet each of the others: a property that is absent is the cheapest.
func TestREV08AbsentPropertiesFirst(t *testing.T) {
	const (
		tagged = `{"anyOf": [{"properties": {"kind": {"const": []}, "n": {"type": "array"}, "o": {"type": "object"}}, "required": ["kind"], "type": "object"},
			{"additionalProperties": true, "minProperties": 2, "properties": {"kind": {"const": "k2"}, "p": {"type": "boolean"}}, "required": ["kind"], "type": "object"}]}`
		others = `{"oneOf": [{"properties": {"a": true, "d": {"type": "boolean"}}, "required": ["a"], "type": "object"},
			{"additionalProperties": {"type": "number"}, "properties": {"b": true, "list": {"propertyNames": {"enum": ["a", "b"]}, "type": "object"}}, "required": ["b"], "type": "object"},
			{"properties": {"1": {"type": "boolean"}, "aB": {"type": ["boolean", "null"]}, "b": {"default": null}, "d": {"not": {}}}, "required": ["b"], "type": "object"},
			{"patternProperties": {"^[^/]*$": {"required": ["b", "c", "~"], "type": "object"}}, "properties": {"a": {"type": "null"}, "a/b": {"type": "string"}, "d": {"not": {}}}, "required": ["a/b"], "type": "object"}]}`
	)
	old, new := documentOf(t, `{"oneOf": [`+tagged+`, `+others+`]}`), documentOf(t, `{"oneOf": [true, `+others+`]}`)
	s := newSolver(unbounded)
	if o := s.value(goal{{site{old, old.Root}, true}, {site{new, new.Root}, false}}); o.answer != some || s.steps > mostSteps/20 {
		t.Errorf("%s after %d steps", shown(Difference{Value: o.value, Why: s.why}), s.steps)
	}
}
