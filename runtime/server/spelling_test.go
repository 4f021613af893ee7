package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/internal/respell"
	"github.com/mcpkiln/mcpkiln/runtime/internal/wiretest"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// heard is what a client hears of an answer.
type heard struct {
	answer any
	status int
}

func hear(t *testing.T, frames [][]byte, status int) []heard {
	t.Helper()
	var list []heard
	for _, frame := range frames {
		var m map[string]any
		if err := json.Unmarshal(frame, &m); err != nil {
			t.Fatalf("the server wrote %q: %v", frame, err)
		}
		if result, ok := m["result"].(map[string]any); ok {
			delete(result, "requestState") // sealed with a random nonce
		}
		list = append(list, heard{m, status})
	}
	return list
}

// exchanged is how a transport serves one message.
func exchanged(srv *Server, text []byte, hint string) (frames [][]byte, status int) {
	j, refused := srv.Route(text, hint)
	if refused != nil {
		return [][]byte{rpc.AppendError(nil, j.ID, refused)}, j.Status
	}
	if j.Revision == nil {
		return nil, -1 // a session's
	}
	result := srv.Exchange(context.Background(), &j, writerFunc(func(_ rpc.ID, _ bool, frame []byte) {
		frames = append(frames, bytes.Clone(frame))
	}))
	return frames, result.Status
}

// inSession is how a connection that has done the handshake serves one message.
func inSession(srv *Server, text []byte) [][]byte {
	frames := make(chan []byte, 8)
	ss := srv.NewSession(context.Background(), writerFunc(func(_ rpc.ID, last bool, frame []byte) {
		if last {
			frames <- bytes.Clone(frame)
		}
	}))
	defer func() { _ = ss.Close(&inflight.Cause{Source: inflight.SourceDisconnect}) }()
	ss.Receive(context.Background(), []byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`))
	<-frames
	if !ss.Receive(context.Background(), text).Answered {
		return nil
	}
	return [][]byte{<-frames}
}

// manyWrong are arguments with more violations than are listed.
func manyWrong() string {
	b := []byte(`{"count":0.30`)
	for i := range 50 {
		b = fmt.Appendf(b, `,"member%d":%d`, i, i)
	}
	return string(append(b, '}'))
}

// FuzzLET14Spelling: JSON that means the same is answered the same, however it is spelt, by every revision.
func FuzzLET14Spelling(f *testing.F) {
	for _, seed := range []string{
		frame(1, "tools/call", everyAsk, callParams("ask", `{"text":"x"}`)),
		frame(1, "tools/call", nothing, callParams("echo", `{"text":"x","count":"no"}`)),
		frame(1, "tools/call", nothing, callParams("echo", manyWrong())),
		frame(1, "tools/call", nothing, callParams("echo", `{"text":{"b":1.50,"a":[1e0,"\u002f"]},"count":12.50,"x":1,"m":2}`)),
		frame(1, "tools/call", nothing, `"name":3,"arguments":[1.0],"task":{"ttl":"a"},"inputResponses":4,"requestState":5`),
		frame(1, "tools/list", nothing, ""), frame(1, "server/discover", nothing, ""),
		frame(1, "prompts/get", nothing, `"name":"p"`), frame(1, "resources/read", nothing, `"uri":"test://a/b"`),
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1900-01-01"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}}}`,
		`{"jsonrpc":"2.0","id":"a/b","method":"tools/call","params":{"name":"echo","arguments":{"text":"a/b"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"method":"no/such"}`, `{"jsonrpc":"1.0","id":1,"method":"ping"}`,
		frameWith(7, "tools/call", nothing, callParams("echo", `{"text":"x","count":3}`), `"progressToken":12`),
		`{"jsonrpc":"2.0","id":-20,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"},"task":{"ttl":60000},"_meta":{"progressToken":0.5}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`,
	} {
		for _, hint := range []string{"", "2025-11-25", "2026-07-28"} {
			f.Add([]byte(seed), hint, uint64(len(seed)))
		}
	}
	srv, err := New(Definition{
		Runtime: Generation1, Methods: prompts(), Revisions: []*wire.Revision{wiretest.Revision20251125(), wiretest.Revision20260728()},
		Tools: []Tool{tool("echo", structured(echo)), asker(confirmQuestion())},
	}, WithGather(0))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = srv.Shutdown(context.Background()) })
	f.Fuzz(func(t *testing.T, text []byte, hint string, seed uint64) {
		j, _ := srv.Route(text, hint)
		if j.Method == "subscriptions/listen" || j.Method == "initialize" {
			return // lasts; is done
		}
		other, ok := respell.JSON(text, seed)
		if !ok {
			return
		}
		frames, status := exchanged(srv, text, hint)
		frames2, status2 := exchanged(srv, other, hint)
		if want, got := hear(t, frames, status), hear(t, frames2, status2); !reflect.DeepEqual(want, got) {
			t.Fatalf("without a session, hint %q:\n%s\n%+v\n%s\n%+v", hint, text, want, other, got)
		}
		if want, got := hear(t, inSession(srv, text), 0), hear(t, inSession(srv, other), 0); !reflect.DeepEqual(want, got) {
			t.Fatalf("in a session:\n%s\n%+v\n%s\n%+v", text, want, other, got)
		}
	})
}
