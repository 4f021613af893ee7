package typing

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
)

// TestVAL12ExactFormsOfANumberKeepTheirValues: a float64 would round integers beyond 2^53.
func TestVAL12ExactFormsOfANumberKeepTheirValues(t *testing.T) {
	const whole, exact, rounded = "model.Int", "model.Decimal", "model.Number"
	for text, want := range map[string]string{
		`{"anyOf":[{"const":0.5},{"type":"integer"}]}`:                                                          exact,
		`{"anyOf":[{"const":0.5},{"type":"integer","goType":"int64"}]}`:                                         exact,
		`{"oneOf":[{"enum":[0.5]},{"type":"integer","goType":"json.Number"}]}`:                                  exact,
		`{"anyOf":[{"const":0.5},{"type":"number","minimum":1,"goType":"json.Number"}]}`:                        exact,
		`{"anyOf":[{"type":"integer","minimum":10},{"type":"number","maximum":1}]}`:                             exact,
		`{"anyOf":[{"enum":[9007199254740993]},{"type":"number","maximum":1}]}`:                                 exact,
		`{"anyOf":[{"anyOf":[{"const":0.5},{"type":"integer"}]},{"type":"number","maximum":1}]}`:                exact,
		`{"type":"number","maximum":1,"oneOf":[{"const":0.5},{"oneOf":[{"type":"integer"},{"const":0.25}]}]}`:   exact,
		`{"anyOf":[{"type":"integer"},{"type":"number"}]}`:                                                      rounded, // as number alone
		`{"anyOf":[{"type":"integer","minimum":-9,"maximum":9007199254740992},{"type":"number","maximum":-9}]}`: rounded,
		`{"minimum":0,"maximum":100,"anyOf":[{"const":0.5},{"type":"integer"}]}`:                                rounded,
		`{"anyOf":[{"const":5},{"type":"integer"}]}`:                                                            whole,
		`{"anyOf":[{"type":"integer","maximum":3},{"type":"integer","minimum":9}]}`:                             whole,
		`{"anyOf":[{"const":5},{"type":"integer","maximum":1e20}]}`:                                             exact,
		`{"anyOf":[{"const":5},{"type":"integer","goType":"json.Number"}]}`:                                     exact,
		`{"anyOf":[{"type":"integer"},{"const":99999999999999999999}]}`:                                         exact,
		`{"anyOf":[{"type":"integer"},{"enum":[1,-99999999999999999999]}]}`:                                     exact,
		`{"anyOf":[{"const":0.5},{"const":3}]}`:                                                                 rounded,
	} {
		n, diags := schema.ParseJSON("number", []byte(`{"type":"object","properties":{"n":`+text+`}}`))
		doc, more := schema.NewDocument(n, nil)
		if diags.HasErrors() || more.HasErrors() {
			t.Fatal(diags, more)
		}
		types := NewTypes()
		types.Lower(Root{Document: doc, Name: "Input", DefsPrefix: "Input", Use: model.Decode | model.Encode})
		decls, diags := types.Finish()
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		var found model.Type
		for _, d := range decls {
			if body, ok := d.Body.(*model.Struct); ok {
				found = body.Props[0].Value.Type
			}
		}
		if got := fmt.Sprintf("%T", found); got != want {
			t.Errorf("%s is a %s, want %s", text, got, want)
		}
	}
}

// What a violation shows of a tiny number is short, and the same number.
func TestVAL02DecimalsAreShort(t *testing.T) {
	for text, want := range map[string]string{
		"1e-300": "1e-300", "-2.5e-40": "-25e-41", "0.01": "0.01", "1.5e3": "1500", "1e-20": "0.00000000000000000001", "7": "7",
	} {
		x, ok := new(big.Rat).SetString(text)
		if got := Decimal(x); !ok || got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		} else if again, ok := new(big.Rat).SetString(got); !ok || again.Cmp(x) != 0 {
			t.Errorf("%s is another number: %s", text, got)
		}
	}
}
