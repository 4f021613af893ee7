package typing

import (
	"testing"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
)

// TestVAL12ExactFormsOfANumberKeepTheirValues: a float64 would round integers beyond 2^53.
func TestVAL12ExactFormsOfANumberKeepTheirValues(t *testing.T) {
	for text, exact := range map[string]bool{
		`{"anyOf":[{"const":0.5},{"type":"integer"}]}`:                                                          true,
		`{"anyOf":[{"const":0.5},{"type":"integer","goType":"int64"}]}`:                                         true,
		`{"oneOf":[{"enum":[0.5]},{"type":"integer","goType":"json.Number"}]}`:                                  true,
		`{"anyOf":[{"const":0.5},{"type":"number","minimum":1,"goType":"json.Number"}]}`:                        true,
		`{"anyOf":[{"type":"integer","minimum":10},{"type":"number","maximum":1}]}`:                             true,
		`{"anyOf":[{"enum":[9007199254740993]},{"type":"number","maximum":1}]}`:                                 true,
		`{"anyOf":[{"anyOf":[{"const":0.5},{"type":"integer"}]},{"type":"number","maximum":1}]}`:                true,
		`{"type":"number","maximum":1,"oneOf":[{"const":0.5},{"oneOf":[{"type":"integer"},{"const":0.25}]}]}`:   true,
		`{"anyOf":[{"type":"integer"},{"type":"number"}]}`:                                                      false, // as number alone
		`{"anyOf":[{"type":"integer","minimum":-9,"maximum":9007199254740992},{"type":"number","maximum":-9}]}`: false,
		`{"minimum":0,"maximum":100,"anyOf":[{"const":0.5},{"type":"integer"}]}`:                                false,
		`{"anyOf":[{"const":0.5},{"const":3}]}`:                                                                 false,
	} {
		n, diags := schema.ParseJSON("number", []byte(`{"type":"object","properties":{"n":`+text+`}}`))
		doc, more := schema.NewDocument(n, nil)
		if diags.HasErrors() || more.HasErrors() {
			t.Fatal(diags, more)
		}
		types := NewTypes()
		types.Lower(Root{Document: doc, Name: "Input", Scope: "Input", Use: model.Decode | model.Encode})
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
		_, decimal := found.(model.Decimal)
		if _, number := found.(model.Number); decimal != exact || number == exact {
			t.Errorf("%s is a %T", text, found)
		}
	}
}
