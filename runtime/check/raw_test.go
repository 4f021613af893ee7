package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// What a handler does to one raw value changes no other one, though small ones share an allocation.
func TestVAL01RawValuesAreIndependent(t *testing.T) {
	var text strings.Builder
	for i := range 50 {
		fmt.Fprintf(&text, `,{"n":%d,"text":"%s"}`, i, strings.Repeat("x", i*i%400))
	}
	list := func() (all []check.Raw) {
		err := check.Decode([]byte("["+text.String()[1:]+"]"), check.Limits{}, func(d *check.Decoder, v *[]check.Raw) { *v = d.Raws(nil) }, &all)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	want, got := list(), list()
	for i := range got {
		if string(got[i]) != string(want[i]) {
			t.Errorf("%d is %s, want %s", i, got[i], want[i])
		}
		_ = append(got[i], "appended to"...)
		clear(got[i])
	}
}
