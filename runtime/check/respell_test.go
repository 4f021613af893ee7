package check

import (
	"strings"
	"testing"
)

// TestLET14WhatIsFoundIsSaidInOneSpelling: a violation says the same of two texts that mean the same.
func TestLET14WhatIsFoundIsSaidInOneSpelling(t *testing.T) {
	long := strings.Repeat(`"\u0061", `, 30)
	for want, texts := range map[string][]string{
		`"1"`:                            {`"1"`, `"\u0031"`},
		`"a/b c"`:                        {`"a/b c"`, `"a\/b\u0020c"`, `"\u0061/b c"`},
		`"\"\\"`:                         {`"\"\\"`, `"\u0022\u005c"`},
		`"😀"`:                            {`"😀"`, `"\ud83d\ude00"`},
		`[]`:                             {`[]`, `[ ]`, "[\n]"},
		`{"a":[1,null," "]}`:             {`{"a":[1,null," "]}`, "{ \"\\u0061\" :\t[ 1 , null, \"\\u0020\" ] }"},
		`an array`:                       {"[" + long + `""]`, "[" + strings.ReplaceAll(long, `\u0061`, "a") + `""]`},
		`an object`:                      {`{"a":"` + strings.Repeat("b", 80) + `"}`},
		`{"a":[{},{"b":2,"c":3}],"d":1}`: {`{"a":[{},{"b":2,"c":3}],"d":1}`, `{"d":1, "\u0061":[{},{"c":3,"b":2}]}`},
		`12.5`:                           {`12.5`, `12.50`, `125e-1`, `0.125E+2`, `12500000000000000000000000e-24`},
		`0`:                              {`0`, `-0`, `0.0`, `0e9999999`, `-0.0e-5`},
		`-300`:                           {`-300`, `-3e2`, `-3.00E+02`, `-30000e-2`},
		`1e+21`:                          {`1e21`, `1000000000000000000000`, `0.1e22`},
		`100000000000000000000`:          {`1e20`, `100000000000000000000`},
		`0.000001`:                       {`1e-6`, `0.000001`, `10e-7`},
		`1.5e-7`:                         {`0.00000015`, `15e-8`, `1.50E-07`},
		`1e+1000000`:                     {`1e1000000`, `10e999999`, `0.1e1000001`},
		hugeNumber:                       {`1e1000001`, `10e1000000`, `1e-1000001`, `1e99999999999999999999999`},
		`[1,0.3]`:                        {`[1,0.3]`, `[1.0, 3e-1]`},
		`"` + strings.Repeat("é", 29) + `é… (302 bytes)`:  {`"` + strings.Repeat("é", 150) + `"`, `"` + strings.Repeat(`\u00e9`, 150) + `"`},
		`"\n` + strings.Repeat("x", 57) + `… (103 bytes)`: {`"\n` + strings.Repeat("x", 99) + `"`, `"\u000a` + strings.Repeat(`x\u0078x`, 33) + `"`},
	} {
		for _, text := range texts {
			if got := new(Decoder).show([]byte(text)); got != want {
				t.Errorf("%s is shown as %s, want %s", text, got, want)
			}
		}
	}
}
