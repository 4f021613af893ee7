package server_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
	"github.com/mcpkiln/mcpkiln/testdata/library/library"
)

// reader is a library whose handlers find out that the client lacks what they take.
type reader struct{ library.Handlers }

func (reader) Hello(context.Context, *server.Call) (*server.PromptResult, error) {
	return nil, &server.UnsupportedError{Capability: "sampling"}
}

func (reader) ReadReadme(context.Context, *server.Call) (*server.ResourceContents, error) {
	return nil, &server.UnsupportedError{Capability: "sampling"}
}

// response is an outlet of one exchange: it has begun, or not.
type response struct {
	begun  bool
	answer string
}

func (r *response) Write(_ rpc.ID, _ bool, frame []byte) error {
	r.answer += string(frame)
	return nil
}

func (*response) Refuse(rpc.ID, *rpc.Error, int) {}

func (r *response) HoldUntilAnswer() bool { return !r.begun }

// The error for a missing capability has its status or is not sent (LET20), also where a registry answers.
func TestLET20ARefusalOfAnEntryThatComesTooLateIsAnInternalError(t *testing.T) {
	srv, err := library.New(reader{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = srv.Shutdown(context.Background()) }()
	for method, of := range map[string]string{"prompts/get": `"name":"hello"`, "resources/read": `"uri":"docs://readme"`} {
		for begun, code := range map[bool]string{false: `"code":-32021`, true: `"code":-32603`} {
			to, refused := srv.Route([]byte(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+of+`,"_meta":{`+
				`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`), "")
			if refused != nil {
				t.Fatal(refused)
			}
			out := &response{begun: begun}
			srv.Exchange(t.Context(), &to, out)
			if !strings.Contains(out.answer, code) || !strings.Contains(out.answer, "sampling") {
				t.Errorf("%s, begun %t: %s", method, begun, out.answer)
			}
		}
	}
}

// LET20: what the handler of an entry says waits for its end where its question may refuse the request with a status of its own.
func TestLET20AnEntryWithAQuestionThatFailsIsUndecided(t *testing.T) {
	srv, err := library.New(reader{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = srv.Shutdown(context.Background()) }()
	for _, row := range []struct {
		method, of, can string
		undecided       bool
	}{
		{"prompts/get", `"name":"report_bug"`, `{}`, true},
		{"prompts/get", `"name":"report_bug"`, `{"elicitation":{"form":{}}}`, false},
		{"prompts/get", `"name":"hello"`, `{}`, true}, // its manifest lists roots
		{"prompts/get", `"name":"hello"`, `{"roots":{}}`, false},
		{"prompts/get", `"name":"review_code"`, `{}`, false},
		{"resources/read", `"uri":"docs://logo"`, `{"sampling":{}}`, true},
		{"resources/read", `"uri":"docs://logo"`, `{"roots":{}}`, false},
		{"prompts/get", `"name":"unknown"`, `{}`, false},
		{"resources/read", `"uri":"docs://draft"`, `{}`, false}, // its question has a default
		{"resources/read", `"uri":"pages://1"`, `{}`, true},
		{"resources/read", `"uri":"pages://1"`, `{"roots":{}}`, false}, // its question can be declined
	} {
		to, refused := srv.Route([]byte(`{"jsonrpc":"2.0","id":1,"method":"`+row.method+`","params":{`+row.of+`,"_meta":{`+
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":`+row.can+`}}}`), "")
		if refused != nil {
			t.Fatal(refused)
		}
		if got := to.Undecided(); got != row.undecided {
			t.Errorf("%s %s of a client with %s: undecided %t", row.method, row.of, row.can, got)
		}
	}
}

// asker is a library whose handlers ask for roots, which only some of its entries list.
type asker struct {
	library.Handlers
	told chan error
}

func (a asker) Hello(ctx context.Context, call *server.Call) (*server.PromptResult, error) {
	return nil, a.ask(ctx, call)
}

func (a asker) ReadReadme(ctx context.Context, call *server.Call) (*server.ResourceContents, error) {
	return nil, a.ask(ctx, call)
}

func (a asker) ReadLogo(ctx context.Context, call *server.Call) (*server.ResourceContents, error) {
	_, err := server.Send(ctx, call, &pageRequest, "page", &struct{}{})
	a.told <- err
	return nil, err
}

func (a asker) ask(ctx context.Context, call *server.Call) error {
	_, err := library.ListRoots(ctx, call, "roots")
	a.told <- err
	return err
}

// pageRequest sends the user to a page.
var pageRequest = server.ClientRequest[struct{}, struct{}]{Op: wire.OpElicit, Codecs: []server.ClientCodec[struct{}, struct{}]{{
	Append: func(b []byte, _ *struct{}) []byte {
		return append(b, `{"mode":"url","message":"?","url":"https://example.com","elicitationId":"e"}`...)
	},
	Decode: func(d *check.Decoder, _ *struct{}) { d.Skip() },
}}}

// LET20: the handler of an entry makes the requests that its manifest lists, and all where it lists none.
func TestLET20AnEntryMakesTheRequestsThatItLists(t *testing.T) {
	a := asker{told: make(chan error, 1)}
	srv, err := library.New(a)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = srv.Shutdown(context.Background()) }()
	for _, row := range []struct {
		method, of string
		refused    bool
	}{
		{"prompts/get", `"name":"hello"`, false}, {"resources/read", `"uri":"docs://readme"`, false}, {"resources/read", `"uri":"docs://logo"`, true},
	} {
		to, refused := srv.Route([]byte(`{"jsonrpc":"2.0","id":1,"method":"`+row.method+`","params":{`+row.of+`,"_meta":{`+
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":{},"elicitation":{"url":{}}}}}}`), "")
		if refused != nil {
			t.Fatal(refused)
		}
		out := &response{}
		srv.Exchange(t.Context(), &to, out)
		if err := <-a.told; err == nil || row.refused != strings.Contains(err.Error(), "clientCapabilities") || row.refused != strings.Contains(out.answer, `"code":-32603`) {
			t.Errorf("%s: %v, %s", row.of, err, out.answer)
		}
	}
}

// LET05: what is no URI is the client's mistake, also where a template would match it, and not a result that breaks its definition.
func TestLET05WhatIsNoURIIsReadByNoHandler(t *testing.T) {
	srv, err := library.New(reader{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = srv.Shutdown(context.Background()) }()
	err = srv.AddResourceTemplate([]byte(`{"name":"script","uriTemplate":"script://{+script}"}`), func(context.Context, *server.Call, map[string][]string) (*server.ResourceContents, error) {
		t.Error("a handler ran")
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, uri := range []string{"script://a b", "script://ü", `script://a\nb`, `script://\"<>`, "script", "/script/1", ""} {
		for method, params := range map[string]string{"resources/read": `"uri":"` + uri + `"`, "subscriptions/listen": `"notifications":{"resourceSubscriptions":["` + uri + `"]}`} {
			to, refused := srv.Route([]byte(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+`,"_meta":{`+
				`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`), "")
			if refused != nil {
				t.Fatal(refused)
			}
			ctx, end := context.WithTimeout(t.Context(), 5*time.Second) // a subscription that is taken has no end
			out := &refusals{}
			srv.Exchange(ctx, &to, out)
			end()
			if out.code != rpc.CodeInvalidParams || !strings.Contains(out.message, "is no URI with a scheme") {
				t.Errorf("%s of %s: %d %s", method, uri, out.code, out.message)
			}
		}
	}
}

// refusals is an outlet that keeps why its exchange was refused.
type refusals struct {
	response
	code    int
	message string
}

func (r *refusals) Refuse(_ rpc.ID, err *rpc.Error, _ int) { r.code, r.message = err.Code, err.Message }
