//go:build unix

package console_test

import (
	"strings"
	"testing"
)

// TestEveryOptionOfAListIsShown: none is sent that was not on the screen, and labels that differ look different.
func TestEveryOptionOfAListIsShown(t *testing.T) {
	long := strings.Repeat("keep the orders that are there ", 3)
	for name, c := range map[string]struct {
		schema, want string
		shown        []string
	}{
		"one":            {`"x":{"type":"array","items":{"enum":["a1"]},"default":["a1"]}`, `{"x":["a1"]}`, []string{"x (1 of 1 chosen)", "✓ a1"}},
		"the last":       {`"x":{"type":"array","description":"about","items":{"enum":["a1","b2","c3"]},"default":["c3"]}`, `{"x":["c3"]}`, []string{"x (1 of 3 chosen)", "about", "> • a1", "• b2", "✓ c3"}},
		"without focus":  {`"w":{"type":"boolean"},"x":{"type":"array","items":{"enum":["a1","b2"]}}`, `{"w":false}`, []string{"Yes", "[No]", "• a1", "• b2"}},
		"long labels":    {`"x":{"type":"array","items":{"anyOf":[{"const":"a","title":"` + long + `(safe)"},{"const":"b","title":"` + long + `(gone)"}]},"default":["b"]}`, `{"x":["b"]}`, []string{"• keep", "(safe)", "✓ keep", "(gone)"}},
		"equal labels":   {`"x":{"type":"array","items":{"anyOf":[{"const":"a","title":"All"},{"const":"b","title":"All"}]},"default":["b"]}`, `{"x":["b"]}`, []string{"• 1: All (a)", "✓ 2: All (b)"}},
		"a blank choice": {`"x":{"type":"string","oneOf":[{"const":"a1","title":" "},{"const":"b2"}],"default":"a1"}`, `{"x":"a1"}`, []string{"> a1", "b2", "(no answer)"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := ask(t, "", of(c.schema))
			for _, want := range c.shown {
				a.Sees(want)
			}
			a.Types("\r")
			if name == "without focus" {
				a.Sees("toggle")
				a.Types("\r")
			}
			a.answers(`{"Action":"accept","Content":` + c.want + `} <nil>`)
		})
	}
}

// TestAnOptionalListIsLeftOut, also where one that is given has a least number of options.
func TestAnOptionalListIsLeftOut(t *testing.T) {
	a := ask(t, "", of(`"x":{"type":"array","minItems":1,"items":{"enum":["a1","b2"]}}`))
	a.Sees("(0 of 2 chosen)")
	a.Types("\r")
	a.answers(`{"Action":"accept","Content":{}} <nil>`)
}

// TestOneOfTwoEqualLabelsIsChosen, and not both.
func TestOneOfTwoEqualLabelsIsChosen(t *testing.T) {
	a := ask(t, "", of(`"x":{"type":"array","items":{"anyOf":[{"const":"a","title":"All"},{"const":"b","title":"All"}]}}`))
	a.Sees("All")
	a.Types("x")
	a.Sees("✓ 1: All (a)")
	a.Types("\r")
	a.answers(`{"Action":"accept","Content":{"x":["a"]}} <nil>`)
}
