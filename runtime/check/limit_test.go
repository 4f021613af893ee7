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
