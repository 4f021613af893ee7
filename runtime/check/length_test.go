package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// A string that is checked alone has as many characters as one that is kept, however they are written.
func TestVAL05CharactersAreCountedAsTheyAreWritten(t *testing.T) {
	for _, unit := range []string{`\n`, `\u00e9`, `é`, `\ud83d\ude00`, `😀`, `\\`, `\"`, `x`, `\u0000`, `\/`} {
		for _, most := range []int{1, 2, 40} {
			rule := check.String{Min: most, Max: most}
			for n := max(0, most-1); n <= most+1; n++ {
				text := `"` + strings.Repeat(unit, n) + `"`
				take := func(d *check.Decoder, s *string) { *s = d.String(&rule) }
				only := func(d *check.Decoder, _ *string) { d.Text(&rule) }
				want := finish([]byte(text), take, false)
				if (want == nil) != (n == most) {
					t.Fatalf("%s: %v", text, want)
				}
				for _, got := range []error{finish([]byte(text), take, true), finish([]byte(text), only, false), finish([]byte(text), only, true)} {
					if fmt.Sprint(got) != fmt.Sprint(want) {
						t.Errorf("%s: %v, want %v", text, got, want)
					}
				}
			}
		}
	}
}
