package server

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// TestLET01BytesOfHandlersAreJSONOnTheWire hands over bytes that are no JSON wherever a handler may hand over bytes.
func TestLET01BytesOfHandlersAreJSONOnTheWire(t *testing.T) {
	for _, bad := range []string{`{`, `oops`, "\"\xff\"", `{"a":1,"a":2}`, `1 2`} {
		result := &rawResult{`{"messages":[],"_meta":{"x":` + bad + `}}`}
		codec := MethodCodec[noInput, rawResult]{Decode: decodeNoInput, Append: appendRawResult}
		roots := &ClientRequest[rawResult, noInput]{Op: wire.OpListRoots, Codecs: []ClientCodec[rawResult, noInput]{
			{Append: appendRawResult, Decode: decodeNoInput},
		}}
		f := dual(t, Definition{
			Tools: []Tool{
				tool("data", plain(func(context.Context, *Call) (*echoOutput, error) {
					return nil, &rpc.Error{Code: 7, Message: "no", Data: []byte(bad)}
				})),
				tool("log", plain(func(ctx context.Context, c *Call) (*echoOutput, error) {
					c.LogMessage(ctx, LevelError, "l", json.RawMessage(bad))
					return &echoOutput{"done"}, nil
				})),
				tool("ask", plain(func(ctx context.Context, c *Call) (*echoOutput, error) {
					_, err := Send(ctx, c, roots, "q", &rawResult{`{"x":` + bad + `}`})
					return nil, err
				})),
				tool("whole", Bind(decodeNoInput, func(context.Context, *Call, *noInput) (*rawResult, error) {
					return &rawResult{`{"content":[],"_meta":{"x":` + bad + `}}`}, nil
				}, Unstructured(appendRawResult))),
			},
			Methods: []MethodHandler{BindMethod("prompts/get", func(context.Context, *Call, *noInput) (*rawResult, error) { return result, nil }, codec)},
		})
		c := f.dial(t.Context())
		c.initialize(everyAsk)
		for name, want := range map[string]int{"data": -32603, "whole": -32603, "log": 0, "ask": 0} {
			c.call("1", name, `{}`)
			m, before := c.answer("1")
			for _, n := range append(before, m) {
				if err := check.Valid([]byte(n.raw), check.Limits{}); err != nil {
					t.Errorf("%s with %q: %s: %v", name, bad, n.raw, err)
				}
			}
			if want != 0 {
				m.wantError(t, want)
			}
		}
		c.request("2", "prompts/get", `{}`).wantError(t, -32603)
		f.ask(t.Context(), frame(1, "prompts/get", nothing, `"name":"x"`)).wantError(t, -32603)
	}
}

func TestLET01TheTypeOfAResultIsOursAndThereOnce(t *testing.T) {
	f := dual(t, Definition{Methods: []MethodHandler{BindMethod("prompts/get", func(context.Context, *Call, *noInput) (*rawResult, error) {
		return &rawResult{`{"resultType":"input_required","messages":[]}`}, nil
	}, MethodCodec[noInput, rawResult]{Decode: decodeNoInput, Append: appendRawResult})}})
	m := f.ask(t.Context(), frame(1, "prompts/get", nothing, `"name":"x"`))
	if m.str("result", "resultType") != "complete" || strings.Count(m.raw, "resultType") != 1 || m.field("result", "messages") != "[]" {
		t.Error(m.raw)
	}
}

// A large answer is made in buffers of its size: growing them by steps would leave a multiple of it to the garbage collector, and as
// much would be in memory that no budget knows.
func TestTSK28ALargeAnswerLeavesLittleBehind(t *testing.T) {
	const size = 4 << 20 // of an output half of which has to be escaped, twice
	large := strings.Repeat(`x"`, size/2)
	rule := check.Object{Names: []string{"text"}}
	read := func(d *check.Decoder, out *echoOutput) {
		for f := d.Object(&rule); f >= 0; f = d.Next() {
			out.Text = d.String(nil)
		}
	}
	f := dual(t, Definition{Tools: []Tool{tool("large", Bind(decodeNoInput, func(context.Context, *Call, *noInput) (*echoOutput, error) {
		return &echoOutput{large}, nil
	}, Structured(appendEchoOutput, read)))}})
	for range 2 { // the second one is expected
		var before, after runtime.MemStats
		to, err := f.srv.Route([]byte(frame(1, "tools/call", nothing, callParams("large", `{}`))), "")
		if err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&before)
		result := f.srv.Exchange(t.Context(), &to, discard{})
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; result.Err != nil || n > 24*size {
			t.Errorf("%d MiB were allocated, %v", n>>20, result.Err)
		}
	}
}
