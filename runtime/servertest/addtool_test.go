package servertest_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/servertest"
)

// atMost10 refuses long arguments.
type atMost10 struct{}

func (atMost10) Validate(arguments []byte) check.Violations {
	if len(arguments) > 10 {
		return check.Violations{{Instance: "/a", Keyword: "maxLength", Found: "more", Allowed: "10"}}
	}
	return nil
}

func (atMost10) ValidateOutput(output []byte) check.Violations { return atMost10{}.Validate(output) }

func parrot(_ context.Context, _ *server.Call, arguments json.RawMessage) (json.RawMessage, error) {
	return arguments, nil
}

func TestSRV06ToolsAreAddedAndRemoved(t *testing.T) {
	for _, revision := range []string{"2026-07-28", "2025-11-25", "2024-11-05"} {
		t.Run(revision, func(t *testing.T) {
			srv := newServer(t, tool("echo", echo))
			c := servertest.Start(t, srv, servertest.WithRevision(revision))
			plain := []byte(`{"name":"plain","inputSchema":{"type":"object"}}`)
			structured := []byte(`{"name":"structured","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}`)
			if err := errors.Join(srv.AddTool(plain, atMost10{}, parrot), srv.AddTool(structured, atMost10{}, parrot)); err != nil {
				t.Fatal(err)
			}
			if list, err := c.Tools(); err != nil || len(list) != 3 || list[2].Name != "structured" {
				t.Errorf("%v %v", list, err)
			}
			if r, err := c.Call("plain", json.RawMessage(`{"a":1}`)); err != nil || r.Text() != `{"a":1}` {
				t.Errorf("%+v %v", r, err)
			}
			if r, err := c.Call("structured", json.RawMessage(`{"a":1}`)); err != nil || r.Text() != `{"a":1}` {
				t.Errorf("%+v %v", r, err)
			}
			var wrong *servertest.ToolError
			if _, err := c.Call("plain", json.RawMessage(`{"a":"longer than that"}`)); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "/a: maxLength") {
				t.Errorf("%v", err)
			}
			if !srv.RemoveTool("plain") || srv.RemoveTool("plain") {
				t.Error("not removed once")
			}
			var own *rpc.Error
			if _, err := c.Call("plain", nil); !errors.As(err, &own) || own.Message != `unknown tool "plain"` {
				t.Errorf("%v", err)
			}
		})
	}
}

// A tool that is added runs as a task as one that was generated does, where the revision has tasks; what it says of that is in its list.
func TestSRV06AddedToolsRunAsTasks(t *testing.T) {
	eachRevision(t, func(t *testing.T, revision string) {
		srv := newServer(t, tool("echo", echo, asTask(server.TaskOptional)))
		definition := func(support string) []byte {
			return []byte(`{"name":"` + support + `","inputSchema":{"type":"object"},"execution":{"taskSupport":"` + support + `"},"outputSchema":{"type":"object"}}`)
		}
		for _, support := range []string{"forbidden", "optional", "required"} {
			if err := srv.AddTool(definition(support), atMost10{}, parrot); err != nil {
				t.Fatal(err)
			}
		}
		c := servertest.Start(t, srv, servertest.WithRevision(revision))
		list, err := c.Tools()
		if n := map[bool]int{false: 3, true: 4}[c.HasTasks()]; err != nil || len(list) != n {
			t.Fatalf("%v %v", list, err)
		}
		for _, one := range list[1:] {
			if says := strings.Contains(string(one.Definition), `"execution":{"taskSupport":"`+one.Name+`"}`); says != (revision == "2025-11-25") || strings.Count(string(one.Definition), "execution") > 1 {
				t.Errorf("%s", one.Definition)
			}
		}
		if !c.HasTasks() {
			return
		}
		for _, support := range []string{"optional", "required"} {
			job, err := c.Task(support, json.RawMessage(`{"a":1}`))
			if err != nil {
				t.Fatal(err)
			}
			if r, err := job.Result(); err != nil || string(r.Structured) != `{"a":1}` {
				t.Errorf("%s: %+v %v", support, r, err)
			}
		}
		if r, err := c.Call("optional", json.RawMessage(`{"a":1}`), servertest.Inline()); err != nil || string(r.Structured) != `{"a":1}` {
			t.Errorf("%+v %v", r, err)
		}
		if _, err := c.Task("optional", json.RawMessage(`{"a":"longer than that"}`)); err == nil {
			t.Error("bad arguments made a task (TSK24)")
		}
	})
}

// The defaults of the manifest are those of tools that are added, and make a server that has tasks of one whose tools have none.
func TestSRV06AddedToolsHaveTheDefaultsOfTasks(t *testing.T) {
	definition := []byte(`{"name":"later","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}`)
	d := newServer(t, tool("echo", echo)).Definition()
	without, err := server.New(d)
	if err != nil {
		t.Fatal(err)
	}
	if err := without.AddTool(definition, atMost10{}, parrot); err == nil || !strings.Contains(err.Error(), "write defaults: {task: {}} in the manifest") {
		t.Error(err)
	}
	d.AddedTasks = &server.TaskPolicy{TTL: 7 * time.Minute}
	with, err := server.New(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{`"execution":{"taskSupport":"often"}`, `"execution":5`, `"execution":{"taskSupport":true}`} {
		if err := with.AddTool([]byte(`{"name":"later","inputSchema":{"type":"object"},`+wrong+`}`), atMost10{}, parrot); err == nil {
			t.Error(wrong)
		}
	}
	if err := with.AddTool(definition, atMost10{}, parrot); err != nil {
		t.Fatal(err)
	}
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		job, err := servertest.Start(t, with, servertest.WithRevision(revision)).Task("later", nil)
		if err != nil {
			t.Fatal(err)
		}
		if state, err := job.State(); err != nil || state.TTL != 7*time.Minute {
			t.Errorf("%s: %+v %v", revision, state, err)
		}
		if _, err := job.Result(); err != nil {
			t.Error(err)
		}
	}
}

func TestSRV06AddedToolsAreAnnounced(t *testing.T) {
	srv := newServer(t, tool("echo", echo))
	c := servertest.Start(t, srv, servertest.WithRevision("2025-11-25"))
	if err := srv.AddTool([]byte(`{"name":"a","inputSchema":{"type":"object"}}`), atMost10{}, parrot); err != nil {
		t.Fatal(err)
	}
	if _, err := c.AwaitNotice("notifications/tools/list_changed"); err != nil {
		t.Error(err)
	}
}

func TestSRV06WrongToolsAreRefused(t *testing.T) {
	srv := newServer(t, tool("echo", echo))
	for definition, want := range map[string]string{
		`{"name":"echo","inputSchema":{"type":"object"}}`: `there is "echo" already`,
		`{"name":"a b","inputSchema":{"type":"object"}}`:  `"a b" is no name for a tool`,
		`{"name":"a"}`: `/inputSchema: is required`,
		`{"name":"a","inputSchema":{"type":"array"}}`:                                                            `tool "a": its inputSchema has to be of type object`,
		`{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"string"}}`:                          `tool "a": its outputSchema has to be of type object`,
		`{"name":"a","inputSchema":[]}`:                                                                          `/inputSchema: type: found [], allowed: an object`,
		`{"name":`:                                                                                               `the definition is wrong`,
		`{"Name":"a","inputSchema":{"type":"object"}}`:                                                           `/name: is required`,
		`{"name":"a","inputSchema":{"Type":"object"}}`:                                                           `tool "a": its inputSchema has to be of type object`,
		`{"name":"a","inputSchema":{"type":"object"},"title":5}`:                                                 `/title: type: found 5, allowed: a string`,
		`{"name":"a","inputSchema":{"type":"object"},"icons":[{}]}`:                                              `/icons/0/src: is required`,
		`{"name":"a","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":1}}`:                          `/annotations/readOnlyHint: type`,
		`{"name":"a","inputSchema":{"type":"object"},"outputSchema":null}`:                                       `/outputSchema: type: found null`,
		`{"name":"a","inputSchema":{"type":"object"},"execution":{"taskSupport":"x"}}`:                           `/execution/taskSupport: enum: found "x"`,
		`{"name":"a","inputSchema":{"type":"object"},"icons":[{"src":"javascript:x"}]}`:                          `/icons/0/src: clients refuse a picture at "javascript:"`,
		`{"name":"a","inputSchema":{"type":"object"},"icons":[{"src":"https://a.example/","mimeType":"x"}]}`:     `/icons/0/mimeType: "x" is no media type`,
		`{"name":"a","inputSchema":{"type":"object"},"_meta":{"io.modelcontextprotocol/related-task":{}}}`:       `/_meta: "io.modelcontextprotocol/related-task" is no key for _meta: it is reserved`,
		`{"name":"a","inputSchema":{"type":"object"},"_meta":{"io.modelcontextprotocol/serverInfo":{}}}`:         `/_meta: "io.modelcontextprotocol/serverInfo" is no key for _meta: it is reserved`,
		`{"name":"a","inputSchema":{"type":"object"},"_meta":{"dev.mcp/x":1}}`:                                   `/_meta: "dev.mcp/x" is no key for _meta: it is reserved`,
		`{"name":"a","inputSchema":{"type":"object","properties":{"n":{"type":"number","x-mcp-header":"N"}}}}`:   `"N" is no string, integer or boolean`,
		`{"name":"a","inputSchema":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}}}`:  `give it minimum and maximum`,
		`{"name":"a","inputSchema":{"type":"object","properties":{"n":{"type":"string","x-mcp-header":"A b"}}}}`: `"A b" is no name of a header`,
		`{"name":"a","inputSchema":{"type":"object","properties":{"n":5}}}`:                                      `/inputSchema/properties/n: type: found 5, allowed: a boolean or an object`,
		`{"name":"a","inputSchema":{"type":"object","properties":[]}}`:                                           `/inputSchema/properties: type: found [], allowed: an object`,
		`{"name":"a","inputSchema":{"type":"object","required":"n"}}`:                                            `/inputSchema/required: type: found "n", allowed: an array`,
		`{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"object","$schema":7}}`:              `/outputSchema/$schema: type: found 7, allowed: a string`,
		`[]`: `the definition is wrong`,
	} {
		if err := srv.AddTool([]byte(definition), atMost10{}, parrot); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", definition, err)
		}
	}
	// A member of another name is none of the protocol's, and is passed on.
	if err := srv.AddTool([]byte(`{"name":"b","inputSchema":{"type":"object"},"Execution":{"taskSupport":"required"}}`), atMost10{}, parrot); err != nil {
		t.Error(err)
	}
	// An extension of the protocol has names of its own.
	if err := srv.AddTool([]byte(`{"name":"c","inputSchema":{"type":"object"},"_meta":{"io.modelcontextprotocol/ui":{}}}`), atMost10{}, parrot); err != nil {
		t.Error(err)
	}
	if err := srv.AddTool([]byte(`{"name":"a","inputSchema":{"type":"object"}}`), nil, parrot); err == nil || !strings.Contains(err.Error(), "needs a Validator") {
		t.Errorf("%v", err)
	}
}

// Nothing would hold the outputs of such a tool against its schema.
func TestVAL01AddedToolsHaveAValidatorOfTheirOutputs(t *testing.T) {
	srv := newServer(t, tool("echo", echo))
	definition := []byte(`{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}`)
	if err := srv.AddTool(definition, inputsOnly{}, parrot); err == nil || !strings.Contains(err.Error(), "has to be an OutputValidator") {
		t.Errorf("%v", err)
	}
	for name, output := range map[string]string{"list": `[1]`, "null": `null`, "number": `7`, "text": `"x"`} {
		definition := []byte(`{"name":"` + name + `","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}`)
		err := srv.AddTool(definition, lenient{}, func(context.Context, *server.Call, json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(output), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = servertest.Start(t, srv).Call(name, input{"x"})
		if refused := (*rpc.Error)(nil); !errors.As(err, &refused) || refused.Code != rpc.CodeInternalError {
			t.Errorf("%s is sent as structured content: %v", output, err)
		}
	}
}

// inputsOnly validates no outputs; lenient takes every one.
type (
	inputsOnly struct{}
	lenient    struct{ inputsOnly }
)

func (inputsOnly) Validate([]byte) check.Violations    { return nil }
func (lenient) ValidateOutput([]byte) check.Violations { return nil }

func TestSRV06ToolsAreFilteredByCaller(t *testing.T) {
	show := func(ctx context.Context, tool string) bool {
		return tool != "secret" || server.PrincipalFrom(ctx) == "ann"
	}
	srv := filtered(t, show)
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		for principal, n := range map[string]int{"ann": 2, "bob": 1} {
			c := servertest.Start(t, srv, servertest.WithRevision(revision), servertest.WithPrincipal(principal))
			if list, err := c.Tools(); err != nil || len(list) != n {
				t.Errorf("%s: %v %v", principal, list, err)
			}
			_, err := c.Call("secret", input{"x"})
			if (err == nil) != (n == 2) || err != nil && !strings.Contains(err.Error(), `unknown tool "secret"`) {
				t.Errorf("%s: %v", principal, err)
			}
		}
	}
}

func filtered(t *testing.T, show func(ctx context.Context, tool string) bool) *server.Server {
	t.Helper()
	d := newServer(t, tool("echo", echo), tool("secret", echo)).Definition()
	srv, err := server.New(d, server.WithToolFilter(show))
	if err != nil {
		t.Fatal(err)
	}
	return srv
}

// isObject is a validator that shows what it finds.
type isObject struct{}

func (isObject) Validate(arguments []byte) check.Violations {
	var in struct{ O json.RawMessage }
	if err := json.Unmarshal(arguments, &in); err != nil || in.O[0] == '{' {
		return nil
	}
	return check.Violations{{Instance: "/o", Keyword: "type", Found: string(in.O), Allowed: "an object"}}
}

// An object that a model wrote as a string may have a sensitive value, too.
func TestSRV06AnObjectAsAStringIsNotShown(t *testing.T) {
	srv := newServer(t, tool("echo", echo))
	const definition = `{"name":"login","inputSchema":{"type":"object","properties":{"o":{"type":"object","properties":{"a":{"type":"string","x-sensitive":true}}}}}}`
	if err := srv.AddTool([]byte(definition), isObject{}, parrot); err != nil {
		t.Fatal(err)
	}
	_, err := servertest.Start(t, srv).Call("login", json.RawMessage(`{"o":"{\"a\":\"hunter2\"}"}`))
	if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "/o: type: found a string, allowed: an object") {
		t.Error(err)
	}
}

func TestSRV06SensitiveValuesOfAddedToolsAreNotShown(t *testing.T) {
	var logged lines
	srv := newServerWith(t, []server.Tool{tool("echo", echo)}, server.WithLogger(slog.New(slog.NewTextHandler(&logged, nil))))
	const schema = `{"type":"object","properties":{"a":{"type":"string","x-sensitive":true}}}`
	add := func(name, schemas string, h server.RawHandler) {
		if err := srv.AddTool([]byte(`{"name":"`+name+`",`+schemas+`}`), atMost10{}, h); err != nil {
			t.Fatal(err)
		}
	}
	add("takes", `"inputSchema":`+schema, parrot)
	add("gives", `"inputSchema":{"type":"object"},"outputSchema":`+schema, func(context.Context, *server.Call, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`{"a":"longer than that"}`), nil
	})
	c := servertest.Start(t, srv)
	_, err := c.Call("takes", json.RawMessage(`{"a":"longer than that"}`))
	if err == nil || strings.Contains(err.Error(), "more") || !strings.Contains(err.Error(), "not shown") {
		t.Errorf("%v", err)
	}
	if _, err := c.Call("gives", json.RawMessage(`{}`)); err == nil {
		t.Error("the output was taken")
	}
	if err := srv.Shutdown(t.Context()); err != nil { // which writes what is logged
		t.Error(err)
	}
	if all := logged.String(); strings.Contains(all, "more") || !strings.Contains(all, "not shown") {
		t.Error(all)
	}
}
