package check_test

import (
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// TestVAL09FewViolationsOfAUnionAreFoundInOneReading: the order of a text counts only where it decides what is listed (LET14): when it
// lacks some, or when several forms of a union are as near.
func TestVAL09FewViolationsOfAUnionAreFoundInOneReading(t *testing.T) {
	for text, want := range map[string]int{
		`{"target":{"sku":"a","count":"x"}}`:              1, // the second form has more violations
		`{"target":{"id":"a","sku":1}}`:                   1, // the first form has
		`{"rows":[{}],"target":{"sku":"a","count":"x"}}`:  1,
		`{"target":{"sku":1,"count":"x"}}`:                1, // the list is full, and has all
		`{"target":{"sku":1,"id":1}}`:                     2,
		`{"target":{"sku":"a","count":1},"rows":[1,2,3]}`: 1,
	} {
		reads := 0
		err := check.Decode([]byte(text), check.Limits{}, func(d *check.Decoder, v *targeted) {
			reads++
			decodeTargeted(d, v)
		}, new(targeted))
		if err == nil || reads != want {
			t.Errorf("%s is read %d times, want %d: %v", text, reads, want, err)
		}
	}
}
