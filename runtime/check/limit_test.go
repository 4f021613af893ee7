package check_test

import (
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// A schema without bounds allows integers that Go does not hold: the violation says whose limit that is.
func TestVAL02AnIntegerBeyondGoIsThisServersLimit(t *testing.T) {
	err := check.Decode([]byte("9223372036854775808"), check.Limits{}, func(d *check.Decoder, v *int64) { *v = d.Int(nil) }, new(int64))
	if err == nil || !strings.Contains(err.Error(), "which is the limit of this implementation") {
		t.Errorf("got %v", err)
	}
}

// TestVAL02TheLastFormIsBeyondItsGoType: the only form that fits is the one that is tried last, and its number can not be kept.
func TestVAL02TheLastFormIsBeyondItsGoType(t *testing.T) {
	small := check.Int{Has: check.Maximum, Max: 5}
	for _, one := range []bool{false, true} {
		either := check.Union{Keyword: "anyOf", One: one, Forms: []check.Form{{Kinds: check.KindInteger}, {Kinds: check.KindInteger}}}
		err := check.Decode([]byte(`100000000000000000000`), check.Limits{}, func(d *check.Decoder, v *int64) {
			*v = check.Pick(d, &either, func(d *check.Decoder, form int) int64 {
				return d.Int([]*check.Int{&small, nil}[form])
			})
		}, new(int64))
		if err == nil || !strings.Contains(err.Error(), "9223372036854775807, which is the limit of this implementation") {
			t.Errorf("exactly one: %t: %v", one, err)
		}
	}
}
