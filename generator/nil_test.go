package generator

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"

	kiln "github.com/mcpkiln/mcpkiln/testdata/byhand/byhand"
)

// forms are types that the interfaces of generated types hold.
var forms = []any{
	&kiln.TextContent{}, &kiln.ImageContent{}, &kiln.AudioContent{}, &kiln.ResourceLink{}, &kiln.EmbeddedResource{}, &kiln.TextResourceContents{},
	&kiln.BlobResourceContents{}, &kiln.PromptReference{}, &kiln.ResourceTemplateReference{}, &kiln.ElicitRequestFormParams{},
	&kiln.ElicitRequestURLParams{}, &kiln.StringSchema{}, &kiln.NumberSchema{}, &kiln.BooleanSchema{}, &kiln.UntitledSingleSelectEnumSchema{},
	&kiln.TitledSingleSelectEnumSchema{}, &kiln.UntitledMultiSelectEnumSchema{}, &kiln.TitledMultiSelectEnumSchema{},
	&kiln.LegacyTitledEnumSchema{}, &kiln.ToolUseContent{}, &kiln.ToolResultContent{}, kiln.SamplingMessageContentList{},
	kiln.CreateMessageResultContentList{}, kiln.ElicitResultContentValueList{}, kiln.ElicitResultContentValueString(""),
}

// nils finds every place in which a type can hold nil.
type nils struct {
	t    *testing.T
	open map[reflect.Type]bool
}

// hollow is a value with a nil in one place.
type hollow struct {
	value reflect.Value
	place string
}

func (n *nils) of(t reflect.Type) (all []hollow) {
	if n.open[t] {
		return nil
	}
	n.open[t] = true
	defer delete(n.open, t)
	add := func(place string, inner []hollow, wrap func(v reflect.Value) reflect.Value) {
		for _, h := range inner {
			all = append(all, hollow{wrap(h.value), place + h.place})
		}
	}
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			add("/"+t.Field(i).Name, n.of(t.Field(i).Type), func(v reflect.Value) reflect.Value {
				s := reflect.New(t).Elem()
				s.Field(i).Set(v)
				return s
			})
		}
	case reflect.Slice:
		add("/0", n.of(t.Elem()), func(v reflect.Value) reflect.Value { return reflect.Append(reflect.New(t).Elem(), v) })
	case reflect.Map:
		add("/k", n.of(t.Elem()), func(v reflect.Value) reflect.Value {
			m := reflect.MakeMap(t)
			m.SetMapIndex(reflect.ValueOf("k").Convert(t.Key()), v)
			return m
		})
	case reflect.Pointer:
		all = append(all, hollow{reflect.Zero(t), " is a nil " + t.String()})
		add("", n.of(t.Elem()), func(v reflect.Value) reflect.Value {
			p := reflect.New(t.Elem())
			p.Elem().Set(v)
			return p
		})
	case reflect.Interface:
		all = append(all, hollow{reflect.Zero(t), " is nil"})
		add("", n.formsOf(t), func(v reflect.Value) reflect.Value { return v })
	}
	return all
}

// formsOf are the values that an interface can hold.
func (n *nils) formsOf(t reflect.Type) (all []hollow) {
	found := 0
	for _, f := range forms {
		if of := reflect.TypeOf(f); of.Implements(t) {
			found++
			all = append(all, n.of(of)...)
		}
	}
	if found == 0 {
		n.t.Errorf("no type is known that %s holds", t)
	}
	return all
}

// TestLET01NilIsAnErrorWithItsPlace has handlers return, and ask with, every type that can hold nil, with nil in each such place: what the
// definition does not allow is refused with its place, nothing panics, and encoding/json writes null.
func TestLET01NilIsAnErrorWithItsPlace(t *testing.T) {
	var now any // what the handler at hand returns or asks with
	h := &careless{
		read:   func() *kiln.ReadResourceResult { return now.(*kiln.ReadResourceResult) },
		prompt: func() *kiln.GetPromptResult { return now.(*kiln.GetPromptResult) },
		list:   func() *kiln.ListPromptsResult { return now.(*kiln.ListPromptsResult) },
		words:  func() *kiln.CompleteResult { return now.(*kiln.CompleteResult) },
		tool: func(ctx context.Context, call *server.Call) (*kiln.CallToolResult, error) {
			switch params := now.(type) {
			case *kiln.CallToolResult:
				return params, nil
			case *kiln.CreateMessageRequestParams:
				_, err := kiln.CreateMessage(ctx, call, "q", params)
				return nil, err
			case kiln.ElicitRequestParams:
				_, err := kiln.Elicit(ctx, call, "q", params)
				return nil, err
			}
			_, err := kiln.Elicit(ctx, call, "q", nil)
			return nil, err
		},
	}
	const tool = `tools/call "name":"test_sampling","arguments":{"prompt":"p"}`
	n := &nils{t, map[reflect.Type]bool{}}
	for _, revision := range bothRevisions {
		c := dial(t, h, revision)
		for _, of := range []struct {
			root    reflect.Type
			request string
		}{
			{reflect.TypeFor[*kiln.ReadResourceResult](), `resources/read "uri":"a:b"`},
			{reflect.TypeFor[*kiln.GetPromptResult](), `prompts/get "name":"p"`},
			{reflect.TypeFor[*kiln.ListPromptsResult](), `prompts/list `},
			{reflect.TypeFor[*kiln.CompleteResult](), `completion/complete "ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}`},
			{reflect.TypeFor[*kiln.CallToolResult](), tool},
			{reflect.TypeFor[*kiln.CreateMessageRequestParams](), tool},
			{reflect.TypeFor[kiln.ElicitRequestParams](), tool},
		} {
			for _, v := range n.of(of.root) {
				now = v.value.Interface()
				if _, err := json.Marshal(now); err != nil {
					t.Errorf("json.Marshal: %s%s: %v", of.root, v.place, err)
				}
				method, params, _ := strings.Cut(of.request, " ")
				if wrong := c.hollow(method, params); wrong != "" {
					t.Errorf("%s in %s%s: %s", revision, of.root, v.place, wrong)
				}
			}
		}
	}
}

// TestLET01ANilBlockIsRefusedInEveryRevision: where a text stands for blocks that a revision lacks, none stands for what is no block.
func TestLET01ANilBlockIsRefusedInEveryRevision(t *testing.T) {
	for _, revision := range append([]string{"2024-11-05", "2025-03-26", "2025-06-18"}, bothRevisions...) {
		for _, block := range []kiln.ContentBlock{nil, (*kiln.TextContent)(nil), (*kiln.AudioContent)(nil), (*kiln.ResourceLink)(nil)} {
			c := dial(t, &careless{tool: func(context.Context, *server.Call) (*kiln.CallToolResult, error) {
				return &kiln.CallToolResult{Content: []kiln.ContentBlock{block}}, nil
			}}, revision)
			if answer := c.ask("tools/call", `"name":"test_sampling","arguments":{"prompt":"p"}`); !strings.Contains(answer, "-32603") {
				t.Errorf("%s, %T: %s", revision, block, answer)
			}
		}
	}
}

// hollow makes a request whose handler puts nil somewhere, and returns what is wrong about the answer.
func (c *client) hollow(method, params string) string {
	answer := c.ask(method, params)
	var got struct {
		Method string
		ID     json.RawMessage
		Error  *rpc.Error
		Result struct{ IsError bool }
	}
	if err := json.Unmarshal([]byte(answer), &got); err != nil {
		return err.Error()
	}
	if got.Method != "" { // the client is asked, so nothing is wrong with the params
		c.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"no"}}`, got.ID))
		answer = c.answer()
	}
	if got.Error == nil {
		return ""
	}
	if log := <-c.log; strings.Contains(log, "panic") || !strings.Contains(log, "refused") {
		return answer + log
	}
	return ""
}

// TestLET05NilErrorsAreNamed: a handler that returns a nil pointer as its error is wrong. The log says so, also where it is wrapped.
func TestLET05NilErrorsAreNamed(t *testing.T) {
	for _, err := range []error{(*rpc.Error)(nil), (*server.ResourceError)(nil), (*server.URLElicitationError)(nil), (*server.UnsupportedError)(nil)} {
		for _, revision := range bothRevisions {
			c := dial(t, &careless{tool: func(context.Context, *server.Call) (*kiln.CallToolResult, error) { return nil, err }}, revision)
			answer := c.ask("tools/call", `"name":"test_sampling","arguments":{"prompt":"p"}`)
			log := <-c.log
			if want := fmt.Sprintf("the handler returned a nil %T as its error", err); !strings.Contains(answer, "-32603") || !strings.Contains(log, want) {
				t.Errorf("%T in %s: %s\n%s", err, revision, answer, log)
			}
			wrapped := fmt.Errorf("wrapped: %w", err)
			c = dial(t, &careless{tool: func(context.Context, *server.Call) (*kiln.CallToolResult, error) { return nil, wrapped }}, revision)
			if answer := c.ask("tools/call", `"name":"test_sampling","arguments":{"prompt":"p"}`); !strings.Contains(answer, "wrapped: ") {
				t.Errorf("wrapped %T in %s: %s", err, revision, answer)
			}
		}
	}
}
