package check_test

import (
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// TestVAL07SmallStringsOfTextsShareAnAllocation decodes the same few letters often: most texts allocate nothing for them, and each string stays what
// it was.
func TestVAL07SmallStringsOfTextsShareAnAllocation(t *testing.T) {
	var d check.Decoder
	text := []byte(`["ACME","at the open"]`)
	kept := make([]string, 0, 300)
	allocations := testing.AllocsPerRun(100, func() {
		d.Reset(text, check.Limits{})
		for more := d.Array(nil); more; more = d.Item() {
			kept = append(kept, d.String(nil))
		}
		if err := d.Finish(); err != nil {
			t.Fatal(err)
		}
	})
	if allocations > 0 {
		t.Errorf("%v allocations a text", allocations)
	}
	copy(text, strings.Repeat(" ", len(text)))
	if want := strings.Repeat("ACMEat the open", len(kept)/2); want == "" || strings.Join(kept, "") != want {
		t.Errorf("kept %q", kept)
	}
}
