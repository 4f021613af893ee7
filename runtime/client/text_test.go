package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// plainText is written by encoding.TextMarshaler.
type plainText string

// MarshalText implements encoding.TextMarshaler.
func (p plainText) MarshalText() ([]byte, error) { return []byte(p), nil }

// Text that is not UTF-8 would arrive as other text: it is refused, and nothing is sent.
func TestLET01TextThatIsNotUTF8IsNotSent(t *testing.T) {
	s, p := meet(t, "2026-07-28")
	sent := make(chan string, 100)
	go p.each(func(m message) {
		sent <- m.raw
		if m.ID != nil {
			p.answer(m, complete("2026-07-28", "x"))
		}
	})
	type inner struct{ Text string }
	call := func(args any) func() error {
		return func() error { _, err := s.CallTool(t.Context(), "x", args); return err }
	}
	for want, do := range map[string]func() error{
		"at /text is":      call(map[string]any{"text": "a\xff"}),
		"at /a~1b/1 is":    call(map[string]any{"a/b": []any{"x\ufffd", "\xff"}, "c": 1}),
		"at /Inner/Text":   call(struct{ Inner *inner }{&inner{"\xc3("}}),
		"at /list/0/Text":  call(map[string][]inner{"list": {{"\xff"}}}),
		"the text is":      call(map[string]string{"\xff": "x"}),
		"at /m is":         call(map[string]plainText{"m": "\xff"}),
		"at /raw/0 is":     call(map[string]json.RawMessage{"raw": json.RawMessage("[\"\xff\"]")}),
		"at /own is":       call(json.RawMessage("{\"own\":\"\xff\"}")),
		"name of the tool": func() error { _, err := s.CallTool(t.Context(), "x\xff", nil); return err },
		"at /_meta/a is": func() error {
			_, err := s.CallTool(t.Context(), "x", nil, client.Meta(json.RawMessage("{\"a\":\"\xff\"}")))
			return err
		},
		"name of the prompt": func() error { _, err := s.GetPrompt(t.Context(), "x\xff", nil); return err },
		"at /p is":           func() error { _, err := s.GetPrompt(t.Context(), "x", map[string]string{"p": "\xff"}); return err },
		"the URI":            func() error { _, err := s.ReadResource(t.Context(), "file:///\xff"); return err },
		"the URI \"x":        func() error { _, err := s.Listen(t.Context(), client.Filter{URIs: []string{"x:\xff"}}); return err },
		"at /ref is":         func() error { _, err := s.Complete(t.Context(), json.RawMessage("{\"ref\":\"\xff\"}")); return err },
	} {
		if err := do(); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "not UTF-8") {
			t.Errorf("%s: %v", want, err)
		}
	}
	if len(sent) > 0 {
		t.Errorf("sent %s", <-sent)
	}
	for _, fine := range []any{map[string]string{"text": "\ufffd", "more": `\ufffd`}, json.RawMessage(`{"text":"\ufffd"}`), map[string]any{"bytes": []byte("\xff"), "raw": json.RawMessage(`"\ufffd"`)}} {
		if err := call(fine)(); err != nil {
			t.Errorf("%v: %v", fine, err)
		}
	}
}

// A generated client names the place, too.
func TestVAL01ATypedInputIsUTF8(t *testing.T) {
	s := dial(t, newServer(t, tools()))
	_, err := typed("echo", `{"name":"echo","inputSchema":{"type":"object"}}`).Call(t.Context(), s, &input{"a\xff"})
	var wrong *client.ValidationError
	if !errors.As(err, &wrong) || !wrong.Unsent {
		t.Fatalf("%v", err)
	}
	has(t, err.Error(), "at /text is not UTF-8")
}

// The server learns nothing of an answer that can not be sent, and the host where it is wrong.
func TestLET01AnAnswerThatIsNotUTF8IsNotSent(t *testing.T) {
	for want, c := range map[string]struct{ method, params string }{
		"/name":         {"elicitation/create", `{"message":"?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}`},
		"/content/text": {"sampling/createMessage", `{"messages":[],"maxTokens":1}`},
		"/roots/0/name": {"roots/list", `{}`},
	} {
		failed := make(chan error, 1)
		s, p := meet(t, "2025-11-25", client.WithHandlers(client.Handlers{
			Elicit: func(context.Context, *client.Question) (*client.Answer, error) {
				return &client.Answer{Action: client.Accepted, Content: map[string]string{"name": "\xff"}}, nil
			},
			Sample: func(context.Context, *client.Question) (json.RawMessage, error) {
				return json.RawMessage("{\"role\":\"assistant\",\"model\":\"m\",\"content\":{\"type\":\"text\",\"text\":\"\xff\"}}"), nil
			},
			Roots: func(context.Context, *client.Question) ([]client.Root, error) {
				return []client.Root{{URI: "file:///x", Name: "\xff"}}, nil
			},
			Answered: func(_ *client.Question, err error) { failed <- err },
		}))
		p.send(`{"jsonrpc":"2.0","id":"q","method":%q,"params":%s}`, c.method, c.params)
		if m := p.next(); m.Error == nil || strings.Contains(m.raw, "UTF-8") {
			t.Errorf("%s: %s", c.method, m.raw)
		}
		if err := <-failed; !strings.Contains(fmt.Sprint(err), "at "+want+" is not UTF-8") {
			t.Errorf("%s: %v", c.method, err)
		}
		_ = s.Close()
	}
}
