package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

func TestCAN31SamplingThatIsTakenBackEndsUnanswered(t *testing.T) {
	open, gone := make(chan context.Context, 1), make(chan error, 1)
	_, p := meet(t, "2025-11-25", client.WithHandlers(client.Handlers{
		Sample: func(ctx context.Context, _ *client.Question) (json.RawMessage, error) {
			open <- ctx
			<-ctx.Done()
			return json.RawMessage(`{"role":"assistant","content":{"type":"text","text":"too late"},"model":"m"}`), nil
		},
		QuestionGone: func(_ *client.Question, cause error) { gone <- cause },
	}))
	p.send(`{"jsonrpc":"2.0","id":"s","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`)
	ctx := <-open
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"s","reason":"never mind"}}`)
	for _, err := range []error{<-gone, context.Cause(ctx)} {
		var cause *client.Cause
		if !errors.As(err, &cause) || cause.Source != inflight.SourcePeer || cause.Reason != "never mind" {
			t.Errorf("%v", err)
		}
	}
	p.send(`{"jsonrpc":"2.0","id":"ping","method":"ping"}`)
	if m := p.next(); string(m.ID) != `"ping"` {
		t.Errorf("the client sent %s", m.raw)
	}
}
