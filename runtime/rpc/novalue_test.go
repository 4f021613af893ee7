package rpc

import (
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// TestVAL07AMemberWithoutAValueIsRefused: a frame whose method or other member has nothing behind its colon is refused like any other that is
// no JSON.
func TestVAL07AMemberWithoutAValueIsRefused(t *testing.T) {
	for _, name := range []string{"jsonrpc", "id", "method", "params", "result", "error"} {
		for _, rest := range []string{`:,`, `:,"id":1}`, `]]`, `: ,"x":1}`, `:}`, `:`} {
			frame := `{"jsonrpc":"2.0","id":1,"` + name + `"` + rest
			if _, err := Parse([]byte(frame), check.Limits{}); err == nil {
				t.Errorf("%s is taken", frame)
			}
		}
	}
}
