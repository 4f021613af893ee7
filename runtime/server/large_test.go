package server

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// A request that is too large to be read is refused with its id, wherever that is.
func TestCAN12LargeRequestIsRefusedByItsID(t *testing.T) {
	srv := dual(t, Definition{}).srv
	fill := strings.Repeat("x", 1<<17)
	in := `{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"a":"` + fill + `"}}` + "\n" +
		`{"jsonrpc":"2.0","id":78,"result":{"a":"` + fill + `"}}` + "\n" +
		`{"jsonrpc":"2.0","method":"tools/call","params":{"a":"` + fill + `"},"id":79}` + "\n"
	var out syncBuffer
	if err := srv.Serve(context.Background(), rpc.Lines(strings.NewReader(in), &out, io.NopCloser(nil), rpc.LineOptions{MaxFrame: 1 << 10})); err != nil {
		t.Error(err)
	}
	const refused = `"error":{"code":-32600,"message":"frame larger than the limit of 1024 bytes"}}` + "\n"
	if want := `{"jsonrpc":"2.0","id":77,` + refused + `{"jsonrpc":"2.0","id":79,` + refused; out.String() != want {
		t.Errorf("got %s", out.String())
	}
}
