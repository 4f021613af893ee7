package server

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/internal/wiretest"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// FuzzRoute: whatever a client sends, each revision answers at most once, with JSON, and nothing panics.
func FuzzRoute(f *testing.F) {
	for _, seed := range []string{
		frame(1, "tools/call", everyAsk, callParams("ask", `{"text":"x"}`)),
		frame(1, "tools/call", tasksAsks, callParams("echo", `{"text":"x"}`)+`,"inputResponses":{"confirm":5},"requestState":"AAAA"`),
		frame(1, "tasks/update", tasksAsks, `"taskId":"x","inputResponses":{"a":{}}`),
		frame(1, "prompts/get", nothing, `"name":"p"`), frame(1, "server/discover", nothing, ""),
		frameWith(1, "tools/list", nothing, `"cursor":"x"`, `"progressToken":1.5`),
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":5}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`, `[]`, `{"jsonrpc":"2.0","id":null,"method":"x"}`,
	} {
		f.Add([]byte(seed), "2026-07-28")
		f.Add([]byte(seed), "")
	}
	srv, err := New(Definition{
		Runtime: Generation1, Methods: prompts(), Revisions: []*wire.Revision{wiretest.Revision20251125(), wiretest.Revision20260728()},
		Tools: []Tool{tool("echo", structured(echo), withTask(TaskOptional)), asker(confirmQuestion())},
	}, WithGather(0))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = srv.Shutdown(context.Background()) })
	f.Fuzz(func(t *testing.T, text []byte, hint string) {
		j, refused := srv.Route(text, hint)
		if refused != nil || j.Revision == nil || j.Method == "subscriptions/listen" {
			return
		}
		answers := 0
		result := srv.Exchange(t.Context(), &j, writerFunc(func(_ rpc.ID, last bool, frame []byte) {
			if last {
				answers++
			}
			if !json.Valid(frame) {
				t.Errorf("%q is no JSON", frame)
			}
		}))
		if want := j.Kind == rpc.KindRequest; want != (answers == 1) || result.Silent == want {
			t.Errorf("%d answers, %+v", answers, result)
		}
	})
}

type writerFunc func(about rpc.ID, last bool, frame []byte)

func (fn writerFunc) Write(about rpc.ID, last bool, frame []byte) error {
	fn(about, last, frame)
	return nil
}
