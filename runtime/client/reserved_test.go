package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// A handler of questions may fail with a code of its own. Those that JSON-RPC and the protocol reserve mean what they say there, or nothing
// (https://modelcontextprotocol.io/specification/2026-07-28/basic#error-responses), and data that is no JSON is not sent.
func TestLET05ErrorsOfQuestionsHaveNoReservedCodes(t *testing.T) {
	for _, row := range []struct {
		err  error
		want string
	}{
		{rpc.Errorf(-32042, "x"), "-32603"}, {fmt.Errorf("no: %w", rpc.Errorf(-32002, "x")), "-32603"}, {rpc.Errorf(-32700, "x"), "-32603"}, {rpc.Errorf(-32000, "x"), "-32603"},
		{(*rpc.Error)(nil), "-32603"}, {&rpc.Error{Code: 7, Data: []byte(`{`)}, "-32603"}, {&rpc.Error{Code: 7, Data: []byte("\"\xff\"")}, "-32603"},
		{rpc.Errorf(-32602, "x"), "-32602"}, {rpc.Errorf(7, "x"), "7"}, {&rpc.Error{Code: 7, Data: []byte(`{"a":1}`)}, "7"}, {client.ErrRejected, "-1"},
	} {
		ask := func(context.Context, *client.Question) (*client.Answer, error) { return nil, row.err }
		_, p := meet(t, "2025-11-25", client.WithHandlers(client.Handlers{
			Elicit: ask, OpenURL: ask,
			Sample: func(context.Context, *client.Question) (json.RawMessage, error) { return nil, row.err },
			Roots:  func(context.Context, *client.Question) ([]client.Root, error) { return nil, row.err },
		}))
		for method, params := range map[string]string{
			"elicitation/create":     `{"message":"m","requestedSchema":{"type":"object","properties":{}}}`,
			"sampling/createMessage": `{"messages":[],"maxTokens":1}`, "roots/list": `{}`,
		} {
			p.send(`{"jsonrpc":"2.0","id":"q","method":%q,"params":%s}`, method, params)
			if m := p.next(); !strings.Contains(m.raw, `"code":`+row.want+`,`) || !json.Valid([]byte(m.raw)) {
				t.Errorf("%v to %s: %s", row.err, method, m.raw)
			}
		}
		p.send(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://example.com/","elicitationId":"e"}}`)
		if m := p.next(); !strings.Contains(m.raw, `"code":`+row.want+`,`) {
			t.Errorf("%v to a page: %s", row.err, m.raw)
		}
	}
}

// Why a handler has failed is the host's: the server learns only that it has, and the log has the rest. An error that is meant for the server is sent.
func TestLET05WhyAHandlerFailsIsNotSent(t *testing.T) {
	const private = "open /home/ann/diary: "
	for _, row := range []struct {
		err  error
		sent bool
	}{
		{errors.New(private), false}, {rpc.Errorf(-32042, private), false}, {&rpc.Error{Code: 7, Message: private, Data: []byte(`{`)}, false},
		{rpc.Errorf(7, private), true}, {fmt.Errorf("it failed: %w", rpc.Errorf(7, private)), true},
	} {
		for _, params := range []string{``, `"task":{},`} {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				_, p := meet(t, "2025-11-25", client.WithLogger(slog.New(slog.NewTextHandler(&log, nil))), client.WithHandlers(client.Handlers{
					Elicit: func(context.Context, *client.Question) (*client.Answer, error) { return nil, row.err },
				}))
				p.send(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{%s"message":"m","requestedSchema":{"type":"object","properties":{}}}}`, params)
				m := p.next()
				if params != "" {
					var made struct{ Task struct{ TaskID string } }
					if err := json.Unmarshal(m.Result, &made); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
					p.send(`{"jsonrpc":"2.0","id":"g","method":"tasks/get","params":{"taskId":%q}}`, made.Task.TaskID)
					p.send(`{"jsonrpc":"2.0","id":"r","method":"tasks/result","params":{"taskId":%q}}`, made.Task.TaskID)
					m.raw = p.next().raw + p.next().raw
				}
				if strings.Contains(m.raw, private) != row.sent || !row.sent && !strings.Contains(m.raw, "could not be answered") {
					t.Errorf("%v: %s", row.err, m.raw)
				}
				synctest.Wait()
				if !row.sent {
					has(t, log.String(), private)
				}
			})
		}
	}
}

// So is what a user has entered that does not fit the form.
func TestLET12WhatDoesNotFitTheFormIsNotSent(t *testing.T) {
	_, p := meet(t, "2025-11-25", elicits(func(context.Context, *client.Question) (*client.Answer, error) {
		return &client.Answer{Action: client.Accepted, Content: map[string]string{"mail": "secret"}}, nil
	}))
	p.send(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{"mail":{"type":"string","format":"email"}}}}}`)
	if m := p.next(); m.Error == nil || strings.Contains(m.raw, "secret") {
		t.Error(m.raw)
	}
}
