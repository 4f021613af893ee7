package wire

import (
	"reflect"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// TestREV04EverySlotOfParamsIsRead: each field of Params is the value of a slot.
func TestREV04EverySlotOfParamsIsRead(t *testing.T) {
	filled := map[string]bool{}
	for slot, read := range params {
		if read == nil {
			continue
		}
		rule, n := Rule{Names: []string{"x"}, Reads: Reads{Slot(slot)}}, 0
		for _, value := range []string{`"a"`, `7`, `true`, `{}`, `["a"]`} {
			var p Params
			if check.Decode([]byte(`{"other":1,"x":`+value+`}`), check.Limits{}, func(d *check.Decoder, p *Params) { rule.Read(d, p) }, &p) != nil {
				continue
			}
			n++
			for f, v := range reflect.ValueOf(p).Fields() {
				if !v.IsZero() {
					filled[f.Name] = true
				}
			}
		}
		if n == 0 {
			t.Errorf("slot %d takes nothing", slot)
		}
	}
	for f := range reflect.TypeFor[Params]().Fields() {
		if !filled[f.Name] {
			t.Errorf("nothing fills Params.%s", f.Name)
		}
	}
}

// TestREV04Rules: a rule reads what stands in other objects, too, and one of several forms.
func TestREV04Rules(t *testing.T) {
	meta := Rule{Names: []string{"token"}, Required: []string{"token"}, Reads: Reads{SlotProgressToken}}
	tool := Rule{Names: []string{"type", "name"}, Reads: Reads{SlotNone, SlotName}}
	resource := Rule{Names: []string{"type", "uri"}, Required: []string{"uri"}, Reads: Reads{SlotNone, SlotURI}}
	form := check.Form{Kinds: check.KindObject}
	of := func(tag string) check.Form { form.Tags = []string{tag}; return form }
	forms := Forms{Union: check.Union{Keyword: "anyOf", Key: "type", Forms: []check.Form{of("tool"), of("resource")}}, Reads: []*Rule{&tool, &resource}}
	level := Shaped{Slot: SlotLogLevel, Shape: Shape{Kind: check.KindString, Enum: check.Enum{Values: []string{"high"}}}}
	rule := Rule{Names: []string{"meta", "ref", "level"}, Reads: Reads{&meta, &forms, &level}}
	for text, want := range map[string]*Params{
		`{"meta":{"token":3,"more":[]}}`:          {ProgressToken: rpc.IntID(3)},
		`{"meta":{}}`:                             nil,
		`{"ref":{"type":"tool","name":"a"}}`:      {Name: "a"},
		`{"ref":{"type":"resource","uri":"a:b"}}`: {URI: "a:b"},
		`{"ref":{"type":"resource"}}`:             nil,
		`{"ref":{"type":"song"}}`:                 nil,
		`{"level":"high"}`:                        {LogLevel: "high"},
		`{"level":"low"}`:                         nil,
	} {
		var p Params
		err := check.Decode([]byte(text), check.Limits{}, func(d *check.Decoder, p *Params) { rule.Read(d, p) }, &p)
		if (err == nil) != (want != nil) || want != nil && !reflect.DeepEqual(&p, want) {
			t.Errorf("%s: %+v, %v", text, p, err)
		}
	}
}

// TestLET01DefinitionsOfItsOwnHideInheritedOnes: a revision has what a newer one defines, where it does not define it itself.
func TestLET01DefinitionsOfItsOwnHideInheritedOnes(t *testing.T) {
	r := Revision{Definitions: []Definition{{"B", "own"}}, Inherits: []Definition{{"A", "newer"}, {"B", "newer"}}}
	if got := r.Defined(); !reflect.DeepEqual(got, []Definition{{"B", "own"}, {"A", "newer"}}) {
		t.Errorf("%v", got)
	}
}
