package drive

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/goldens/parts"

	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// partHandlers are written like any other: that the tools are in several packages does not show.
type partHandlers struct{ parts.Handlers }

func (partHandlers) PlaceOrder(_ context.Context, _ *server.Call, in *parts.PlaceOrderInput) (*parts.PlaceOrderOutput, error) {
	out := &parts.PlaceOrderOutput{Sides: []parts.Side{in.Side, parts.SideSell}}
	if in.Kind != parts.PlaceOrderInputKindLimit {
		return nil, fmt.Errorf("kind %s", in.Kind)
	}
	return out, nil
}

func (partHandlers) Draw(_ context.Context, _ *server.Call, in *parts.DrawInput) (*parts.CallToolResult, error) {
	switch shape := in.Shape.(type) {
	case *parts.Circle:
		return parts.TextResult(fmt.Sprintf("a circle of %v", shape.Radius)), nil
	case *parts.Square:
		return parts.TextResult(fmt.Sprintf("a square of %v", shape.Edge)), nil
	}
	return parts.TextResult("nothing"), nil
}

func (partHandlers) Erase(ctx context.Context, call *parts.EraseCall, _ *parts.EraseInput) (*parts.CallToolResult, error) {
	answer, err := call.Sure(ctx, "")
	return parts.TextResult(fmt.Sprint("really ", answer.Value.Really)), err
}

func TestParts(t *testing.T) {
	srv, err := parts.New(partHandlers{})
	p := serve(t, srv, err)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	list := p.want(`"id":1`)
	var places []int
	for _, name := range []string{"place_order", "draw", "measure", "erase"} {
		places = append(places, strings.Index(list, `"name":"`+name+`"`))
	}
	if places[0] < 0 || !slices.IsSorted(places) {
		t.Errorf("tools are not in the manifest's order: %v in %s", places, list)
	}
	for i, c := range []struct{ tool, arguments, want string }{
		{"place_order", `{"batch":"bat_0123456789ab"}`, `"structuredContent":{"sides":["buy","sell"]}`},
		{"place_order", `{"batch":"nonsense"}`, `/batch`},
		{"draw", `{"shape":{"edge":2}}`, `"text":"a square of 2"`},
		{"draw", `{"shape":{"edge":0}}`, `"isError":true`},
		{"draw", `{"side":"up"}`, `"isError":true`},
	} {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, i+2, c.tool, c.arguments))
		p.want(fmt.Sprintf(`"id":%d`, i+2), c.want)
	}
}

func TestQuestionInAPart(t *testing.T) {
	srv, err := parts.New(partHandlers{})
	p := serveClient(t, srv, err, `{}`)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"erase","arguments":{"batches":[]}}}`)
	p.want(`"id":1`, `"text":"really false"`)
}
