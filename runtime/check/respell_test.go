package check

import (
	"strings"
	"testing"
)

// TestLET14WhatIsFoundIsSaidInOneSpelling: a violation says the same of two texts that mean the same.
func TestLET14WhatIsFoundIsSaidInOneSpelling(t *testing.T) {
	long := strings.Repeat(`"\u0061", `, 30)
	for want, texts := range map[string][]string{
		`"1"`:                {`"1"`, `"\u0031"`},
		`"a/b c"`:            {`"a/b c"`, `"a\/b\u0020c"`, `"\u0061/b c"`},
		`"\"\\"`:             {`"\"\\"`, `"\u0022\u005c"`},
		`"😀"`:                {`"😀"`, `"\ud83d\ude00"`},
		`[]`:                 {`[]`, `[ ]`, "[\n]"},
		`{"a":[1,null," "]}`: {`{"a":[1,null," "]}`, "{ \"\\u0061\" :\t[ 1 , null, \"\\u0020\" ] }"},
		`an array`:           {"[" + long + `""]`, "[" + strings.ReplaceAll(long, `\u0061`, "a") + `""]`},
		`an object`:          {`{"a":"` + strings.Repeat("b", 80) + `"}`},
		`12.50`:              {`12.50`},
		`"\ud800 "`:          {`"\ud800 "`},
		`"\u00 "`:            {`"\u00 "`},
	} {
		for _, text := range texts {
			if got := new(Decoder).show([]byte(text)); got != want {
				t.Errorf("%s is shown as %s, want %s", text, got, want)
			}
		}
	}
}
