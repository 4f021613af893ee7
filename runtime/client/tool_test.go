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

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// typed is a tool of a generated client.
func typed(name, definition string) *client.Tool[input, output] {
	return &client.Tool[input, output]{
		Name: name, Definition: definition,
		AppendInput: func(b []byte, in *input) []byte {
			return append(check.AppendString(append(b, `{"text":`...), in.Text), '}')
		},
		CheckInput: func(d *check.Decoder, in *input) {
			for f := d.Object(&textOnly); f >= 0; f = d.Next() {
				in.Text = d.String(&check.String{Max: 3})
			}
		},
		DecodeOutput: decodeOutput,
	}
}

const echoDefinition = `{"name":"echo","inputSchema":{"type":"object"}}`

func TestTSK27ATypedCallIsCheckedInBothDirections(t *testing.T) {
	each(t, func(t *testing.T, revision string) {
		s := dial(t, newServer(t, tools()), client.WithRevision(revision))
		out, err := typed("echo", echoDefinition).Call(t.Context(), s, &input{"abc"})
		if err != nil || out.Text != "abc" {
			t.Errorf("%+v, %v", out, err)
		}
		if out, err = typed("echo", echoDefinition).Call(t.Context(), s, nil); err != nil || out.Text != "" {
			t.Errorf("the zero value: %+v, %v", out, err)
		}
	})
}

// A peer sees nothing of an input that breaks its schema.
func TestTSK27AWrongInputIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meet(t, "2025-11-25")
		_, err := typed("echo", strings.Replace(echoDefinition, `"object"`, `"object","properties":{"text":{"x-sensitive":true}}`, 1)).Call(t.Context(), s, &input{"hunter2"})
		var refused *client.ValidationError
		var wrong check.Violations
		if !errors.As(err, &refused) || !refused.Unsent || refused.Tool != "echo" || !errors.As(err, &wrong) || wrong[0].Instance != "/text" || wrong[0].Keyword != "maxLength" {
			t.Errorf("%v", err)
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Error("the value of a sensitive property is in", err)
		}
		go func() { _ = s.Ping(context.Background()) }()
		p.answer(p.expect("ping"), `{}`)
	})
}

func TestTSK27WhatATypedCallReturnsInPlaceOfAnOutput(t *testing.T) {
	for name, test := range map[string]struct {
		result string
		check  func(err error) bool
		text   string
	}{
		"no output":    {`{"content":[]}`, unsound, "its output breaks its schema"},
		"wrong output": {`{"content":[],"structuredContent":{"text":1}}`, unsound, "/text"},
		"text":         {`{"content":[{"type":"text","text":"plain"}]}`, unsound, "its output breaks its schema"},
		"failed": {`{"content":[{"type":"text","text":"no such"},{"type":"text","text":"thing"}],"isError":true}`, func(err error) bool {
			var failed *client.ToolError
			return errors.As(err, &failed) && failed.Tool == "echo" && failed.Result.IsError
		}, "echo failed: no such\nthing"},
	} {
		t.Run(name, func(t *testing.T) {
			s, p := meet(t, "2025-11-25")
			ended := make(chan error, 1)
			go func() {
				_, err := typed("echo", echoDefinition).Call(context.Background(), s, &input{"a"})
				ended <- err
			}()
			p.answer(p.expect("tools/call"), test.result)
			err := <-ended
			if !test.check(err) {
				t.Fatalf("%T: %v", err, err)
			}
			has(t, err.Error(), test.text)
		})
	}
}

func unsound(err error) bool {
	var wrong *client.ValidationError
	return errors.As(err, &wrong) && !wrong.Unsent
}

func TestTSK27ATypedTaskIsFollowedAndResumed(t *testing.T) {
	overTasks(t, func(t *testing.T, dial func(opts ...client.Option) *client.Session) {
		s := dial()
		slow := typed("slow", strings.Replace(echoDefinition, "echo", "slow", 1))
		x, err := slow.Start(t.Context(), s, &input{"a"})
		if err != nil {
			t.Fatal(err)
		}
		ref, ok := x.Ref()
		if !ok || !strings.HasPrefix(ref.Schema, "sha256:") {
			t.Errorf("%+v", ref)
		}
		x.Detach()
		if _, err := x.Result(t.Context()); !errors.Is(err, client.ErrDetached) {
			t.Error(err)
		}
		if x, err = slow.Resume(t.Context(), s, ref); err != nil {
			t.Fatal(err)
		}
		if out, err := x.Result(t.Context()); err != nil || out.Text != "a!" {
			t.Errorf("%+v, %v", out, err)
		}
		if _, err := typed("echo", echoDefinition).Resume(t.Context(), s, ref); err == nil || !strings.Contains(err.Error(), "of tool slow, not of echo") {
			t.Error(err)
		}
		ref.ID = "nobody-knows"
		if x, err = slow.Resume(t.Context(), s, ref); err != nil {
			t.Fatal(err)
		}
		_, err = x.Result(t.Context())
		var expired *client.ExpiredError
		if !errors.As(err, &expired) || expired.Task != "nobody-knows" {
			t.Errorf("%T: %v", err, err)
		}
	}, asTask(tool("slow", slow), server.TaskRequired))
}

func TestTSK27ACancelledTaskIsACause(t *testing.T) {
	overTasks(t, func(t *testing.T, dial func(opts ...client.Option) *client.Session) {
		x, err := typed("hang", strings.Replace(echoDefinition, "echo", "hang", 1)).Start(t.Context(), dial(), &input{"a"})
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Cancel(t.Context(), "enough"); err != nil {
			t.Fatal(err)
		}
		_, err = x.Result(t.Context())
		var cause *client.Cause
		if !errors.As(err, &cause) || !errors.Is(err, context.Canceled) {
			t.Errorf("%T: %v", err, err)
		}
		has(t, err.Error(), "cancelled")
	}, asTask(tool("hang", hang), server.TaskRequired))
}

// differences collects what Handlers.ToolDiffers hears.
func differences(all *[]string) client.Option {
	return client.WithHandlers(client.Handlers{ToolDiffers: func(d client.Difference) { *all = append(*all, d.Tool+": "+d.What) }})
}

func TestTSK27DifferencesOfSchemasAreToldOnce(t *testing.T) {
	each(t, func(t *testing.T, revision string) {
		all := tools()
		all[0].Definition = `{"name":"echo","description":"Other words.","inputSchema":{"properties":{"text":{"maxLength":16,"title":"Text","enum":["a"]},"title":{}},"type":"object"},"outputSchema":{"type":"object"}}`
		var told []string
		s := dial(t, newServer(t, all), client.WithRevision(revision), differences(&told))
		known := `{"name":"echo","description":"Words.","inputSchema":{"type":"object","properties":{"text":{"enum":["a"],"maxLength":8,"examples":[1]},"title":{}}},"outputSchema":{"type":"object","required":["text"]}}`
		hang := `{"name":"hang","inputSchema":{"type":"object"}}`
		for range 2 {
			s.Expect(client.Generation1, known, hang, `{"name":"gone","inputSchema":{"type":"object"}}`)
			if _, err := typed("echo", known).Call(t.Context(), s, &input{"a"}); err != nil {
				t.Fatal(err)
			}
		}
		want := []string{"echo: inputSchema differs at /properties/text/maxLength: 8 is known, the server has 16"}
		if revision >= "2025-06-18" {
			want = append(want, `echo: outputSchema differs at /required: ["text"] is known, the server has nothing`)
		}
		want = append(want, "gone: the server has no such tool")
		if got := strings.Join(told, "\n"); got != strings.Join(want, "\n") {
			t.Error(got)
		}
	})
}

// A list that is read later is compared, too.
func TestTSK27EachListIsCompared(t *testing.T) {
	var told []string
	s, p := meet(t, "2025-11-25", differences(&told))
	s.Expect(client.Generation1, echoDefinition)
	list := func(schema string) {
		p.answer(p.expect("tools/list"), `{"tools":[{"name":"echo","inputSchema":`+schema+`}]}`)
	}
	for _, schema := range []string{`{"type":"object"}`, `{"type":"object","maxProperties":1}`} {
		go list(schema)
		for _, err := range s.ListTools(t.Context()) {
			if err != nil {
				t.Error(err)
			}
		}
	}
	if got := fmt.Sprint(told); got != "[echo: inputSchema differs at /maxProperties: nothing is known, the server has 1]" {
		t.Error(got)
	}
}

// A server without a list is called all the same.
func TestTSK27AListThatCanNotBeReadIsNoReasonNotToCall(t *testing.T) {
	s, p := meet(t, "2025-11-25")
	s.Expect(client.Generation1, echoDefinition)
	ended := make(chan error, 1)
	go func() {
		_, err := typed("echo", echoDefinition).Call(context.Background(), s, &input{"a"})
		ended <- err
	}()
	m := p.expect("tools/list")
	p.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no list today"}}`, m.ID)
	p.answer(p.expect("tools/call"), `{"content":[],"structuredContent":{"text":"b"}}`)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestTSK27ARefOfOtherSchemasIsTold(t *testing.T) {
	overTasks(t, func(t *testing.T, dial func(opts ...client.Option) *client.Session) {
		var told []string
		s := dial(differences(&told))
		x, err := typed("slow", strings.Replace(echoDefinition, "echo", "slow", 1)).Start(t.Context(), s, &input{"a"})
		if err != nil {
			t.Fatal(err)
		}
		ref, _ := x.Ref()
		text, err := json.Marshal(ref)
		if err != nil {
			t.Fatal(err)
		}
		has(t, string(text), `"version":1`, `"tool":"slow"`, `"schema":"sha256:`)
		newer := typed("slow", `{"name":"slow","inputSchema":{"type":"object","minProperties":1}}`)
		if x, err = newer.Resume(t.Context(), s, ref); err != nil {
			t.Fatal(err)
		}
		if out, err := x.Result(t.Context()); err != nil || out.Text != "a!" {
			t.Error(out, err)
		}
		if fmt.Sprint(told) != "[slow: the task was made by a client that knew other schemas]" {
			t.Error(told)
		}
	}, asTask(tool("slow", slow), server.TaskRequired))
}

// TestTSK27TheHashOfSchemas is that of what a definition binds to, however it is written.
func TestTSK27TheHashOfSchemas(t *testing.T) {
	hash := client.SchemaHash([]byte(`{"name":"a","inputSchema":{"type":"object","properties":{"n":{"type":"integer","title":"N"}}}}`))
	if same := client.SchemaHash([]byte(`{"inputSchema": {"properties": {"n": {"type": "integer"}}, "type": "object"}, "description": "A."}`)); same != hash {
		t.Errorf("%s and %s", hash, same)
	}
	if other := client.SchemaHash([]byte(`{"inputSchema":{"type":"object","properties":{"n":{"type":"number"}}}}`)); other == hash {
		t.Error(other)
	}
}

// TestTSK27AnotherGenerationIsLogged: a client that was generated for another runtime goes on, and is heard of.
func TestTSK27AnotherGenerationIsLogged(t *testing.T) {
	var log bytes.Buffer
	s, _ := meet(t, "2025-11-25", client.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	s.Expect(client.Generation1)
	if log.Len() > 0 {
		t.Error(log.String())
	}
	s.Expect(client.Generation1 + 1)
	if !strings.Contains(log.String(), "run mcpkiln generate again") {
		t.Errorf("%q", log.String())
	}
}
