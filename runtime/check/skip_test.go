package check_test

import (
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// TestVAL07ScannedTextIsSkippedToTheSamePlace has every kind of value, skipped with and without a second judgement.
func TestVAL07ScannedTextIsSkippedToTheSamePlace(t *testing.T) {
	rule := check.Object{Names: []string{"x"}, AdditionalProperties: check.Skip}
	for _, value := range []string{
		`0`, `-1.5e+10`, `1E-2`, `true`, `null`, `""`, `"a,b]}"`, `"\\"`, `"\"]}"`, `"\u00e9é 😀 long enough for two words"`,
		`[]`, `[ ]`, `{}`, `[1,2 , 3]`, `{"a":[{"b":"]}"}],"c" : {"d":-1e+5}}`, `[[[]],{"":[]}]`,
	} {
		for _, text := range []string{`{"x":` + value + `,"y":` + value + `,"x2":1}`, "{ \"x\" :\t" + value + " , \"unknown\" :\n" + value + "\r}"} {
			var got check.Raw
			err := check.DecodeScanned([]byte(text), check.Limits{}, func(d *check.Decoder, v *check.Raw) {
				for f := d.Object(&rule); f >= 0; f = d.Next() {
					*v = d.Raw(nil)
				}
			}, &got)
			if err != nil || string(got) != value {
				t.Errorf("%s: %s, %v", text, got, err)
			}
		}
	}
}
