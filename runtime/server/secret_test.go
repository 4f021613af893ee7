package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// A form that is made at run time must not ask for secrets either
// (https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#form-mode-security): nothing is sent, and the handler reads which
// field it is and what to do instead.
func TestLET04AFormForASecretIsNotSent(t *testing.T) {
	forms := map[string]string{
		`{"apiKey":{"type":"string"}}`: "apiKey", `{"name":{"type":"string"},"card_pin":{"type":"string","title":"T"}}`: "card_pin",
		`{"value":{"type":"string","title":"Your password"}}`: "value", `{"hint":{"type":"string","x-sensitive":true}}`: "hint",
		`{"value":{"type":"string","description":"Your API key."}}`: "value", `{"pinCode":{"type":"string"}}`: "", `{"password":{"type":"string","x-sensitive":false}}`: "",
		`{"shipping":{"type":"string","title":"How to ship"}}`: "", `{"remember_password":{"type":"boolean"}}`: "", `{"pin":{"type":"integer"}}`: "pin", `{"max_tokens":{"type":"integer"},"token":{"type":"number"}}`: "", `{"session_id":{"type":"string"}}`: "session_id",
		`{"credentials":{"type":"string","enum":["a","b"]}}`: "", `{"secretary":{"type":"string"},"tokenizer":{"type":"string"}}`: "",
	}
	for properties, secret := range forms {
		form := &ClientRequest[noInput, noInput]{Op: wire.OpElicit, Codecs: rawCodec(`{"message":"?","requestedSchema":{"type":"object","properties":` + properties + `}}`)}
		f := dual(t, Definition{Tools: []Tool{tool("send", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			_, err := Send(ctx, call, form, "form", &noInput{})
			var refused *SecretError
			if errors.As(err, &refused) {
				return &echoOutput{"refused " + refused.Field + ": " + err.Error()}, nil
			}
			return &echoOutput{"asked"}, err
		}), withTask(TaskOptional))}})
		c := f.dialTasks("")
		c.call("1", "send", `{}`)
		m := c.next()
		if m.Method == elicit {
			c.reply(m, `{"action":"accept","content":{}}`)
			m, _ = c.answer("1")
		}
		stateless, _, state := f.try(t.Context(), `{"elicitation":{}}`, "send", `{}`, "")
		for of, said := range map[string]string{"in a session": m.str("result", "structuredContent", "text"), "without one": stateless.str("result", "structuredContent", "text")} {
			want := "asked"
			if of == "without one" {
				want = ""
			}
			if secret != "" {
				want = fmt.Sprintf("refused %s: ", secret)
			}
			if !strings.HasPrefix(said, want) || secret != "" && !strings.Contains(said, "mode url") || (secret == "") != (state != "") {
				t.Errorf("%s %s: %q", properties, of, said)
			}
		}
	}
}

// A form for a client of an older revision loses x-sensitive, which says what may be asked: the form is judged as it was made.
func TestLET04AFormIsJudgedAsItWasMade(t *testing.T) {
	for field, refused := range map[string]bool{
		`"password":{"type":"string","x-sensitive":false}`: false, `"hint":{"type":"string","x-sensitive":true}`: true, `"password":{"type":"string"}`: true,
	} {
		form := `{"type":"object","properties":{` + field + `}}`
		sent := &ClientRequest[noInput, noInput]{Op: wire.OpElicit, Codecs: rawCodec(`{"message":"?","requestedSchema":` + form + `}`)}
		question := &Question[noInput]{Name: "asked", Message: "?", Schema: form, Decode: decodeNoInput}
		for name, ask := range map[string]func(context.Context, *Call) error{
			"Send": func(ctx context.Context, call *Call) error {
				_, err := Send(ctx, call, sent, "form", &noInput{})
				return err
			},
			"Ask": func(ctx context.Context, call *Call) error { _, err := Ask(ctx, call, question, ""); return err },
		} {
			var err error
			f := newOlderFixture(t, Definition{Tools: []Tool{tool("ask", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
				err = ask(ctx, call)
				return &echoOutput{"done"}, nil
			}))}}, wire.View{FormKeywords: formKeywords})
			c, _ := f.dialAs("2025-06-18")
			c.call("1", "ask", `{}`)
			m := c.next()
			if m.Method == elicit {
				c.reply(m, `{"action":"accept","content":{}}`)
				_, _ = c.answer("1")
			}
			if secret := (*SecretError)(nil); errors.As(err, &secret) != refused || !refused && err != nil {
				t.Errorf("%s, %s: %v", name, field, err)
			}
		}
	}
}
