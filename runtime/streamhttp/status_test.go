package streamhttp

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// A code that an author chooses says nothing about the method, which is there and was served: its status is 200, whether or not there was progress
// (https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#protocol-version-header: 404 is for methods that the
// server does not implement). What is not there has its status still.
func TestLET20TheErrorsOfHandlersHaveOneStatus(t *testing.T) {
	f := &fixture{t: t}
	f.srv = newServer(t, []server.Tool{tool("fails", func(ctx context.Context, call *server.Call, in *input) (*output, error) {
		var code, steps int
		if _, err := fmt.Sscan(in.text, &code, &steps); err != nil {
			return nil, err
		}
		for i := range steps {
			call.Progress(ctx, float64(i+1), 2, "")
		}
		return nil, rpc.Errorf(code, "no such row")
	})})
	f.h = Handler(f.srv)
	f.ts = httptest.NewServer(f.h)
	t.Cleanup(f.shutDown)
	for _, code := range []int{rpc.CodeInvalidRequest, rpc.CodeMethodNotFound, rpc.CodeInvalidParams, rpc.CodeInternalError, 4042, 404} {
		want := fmt.Sprintf(`"error":{"code":%d,"message":"no such row"}`, code)
		f.want(f.call2026("1", "fails", fmt.Sprint(code, " ", 0)), 200, want)
		f.want(f.call2026("2", "fails", fmt.Sprint(code, " ", 2)), 200, "notifications/progress", want)
	}
	for _, method := range []string{"no/such", "prompts/list", "resources/list"} {
		f.want(f.post(message2026(method, "", metaVersion+","+metaCapabilities), headers2026(method, "")...), 404, "-32601")
	}
	f.want(f.call2026("3", "nobody", ""), 200, "-32602", "unknown tool")
}
