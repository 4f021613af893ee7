package emit

import "testing"

// TestStringLiterals: usual text is written without looking for what else it could be, and is written as all text is.
func TestStringLiterals(t *testing.T) {
	for a := range rune(300) {
		for _, b := range "a\"\\`\n\u00e9\u202e" {
			for _, text := range []string{string(a), string(a) + string(b), string([]rune{b, a, b})} {
				if got, want := goString(text), shorter(text); got != want {
					t.Errorf("%q is written as %s, not as %s", text, got, want)
				}
			}
		}
	}
	if got := goString(`"id":`) + goString("id"); got != "`\"id\":`\"id\"" {
		t.Error(got)
	}
}
