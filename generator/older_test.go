package generator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/revision"

	kiln "github.com/mcpkiln/mcpkiln/testdata/byhand/byhand"
)

// lavish says all that the newest revision has a place for.
func lavish() *careless {
	blocks := []kiln.ContentBlock{
		&kiln.TextContent{Text: "t", Annotations: &kiln.Annotations{LastModified: check.Some("2026-01-01T00:00:00Z"), Priority: check.Some(0.5)}},
		&kiln.AudioContent{Data: []byte("x"), MIMEType: "audio/wav"},
		&kiln.ResourceLink{Name: "n", URI: "a:b", Title: check.Some("T"), Icons: icon("https://example.com/i.png")},
		&kiln.EmbeddedResource{Resource: &kiln.TextResourceContents{URI: "a:b", Text: "t", Meta: map[string]check.Raw{"k": check.Raw("1")}}},
	}
	var messages []kiln.PromptMessage
	for _, b := range blocks {
		messages = append(messages, kiln.PromptMessage{Role: kiln.RoleUser, Content: b})
	}
	return &careless{
		read: func() *kiln.ReadResourceResult {
			return &kiln.ReadResourceResult{Contents: []kiln.ReadResourceResultContent{&kiln.TextResourceContents{URI: "a:b", Meta: map[string]check.Raw{"k": check.Raw("1")}}}}
		},
		prompt: func() *kiln.GetPromptResult { return &kiln.GetPromptResult{Messages: messages} },
		list: func() *kiln.ListPromptsResult {
			return &kiln.ListPromptsResult{Prompts: []kiln.Prompt{{
				Name: "p", Title: check.Some("P"), Icons: icon("https://example.com/i.png"), Meta: map[string]check.Raw{"k": check.Raw("1")},
				Arguments: []kiln.PromptArgument{{Name: "a", Title: check.Some("A")}},
			}}}
		},
		words: func() *kiln.CompleteResult {
			return &kiln.CompleteResult{Completion: kiln.CompleteResultCompletion{Values: []string{"v"}}}
		},
		tool: func(context.Context, *server.Call) (*kiln.CallToolResult, error) {
			return &kiln.CallToolResult{Content: blocks, StructuredContent: check.Raw(`{"a":1}`)}, nil
		},
	}
}

// TestREV06AnswersHaveWhatTheRevisionHas: handlers answer as the newest revision can; each client gets what its revision has a definition
// for, and no more.
func TestREV06AnswersHaveWhatTheRevisionHas(t *testing.T) {
	for _, name := range revision.Names() {
		r, ds := revision.Load(name)
		if r == nil {
			t.Fatal(ds)
		}
		c := dial(t, lavish(), name)
		for _, ask := range []struct{ method, params string }{
			{"tools/list", ""}, {"tools/call", `"name":"test_sampling","arguments":{"prompt":"p"}`},
			{"prompts/list", ""}, {"prompts/get", `"name":"p"`}, {"resources/read", `"uri":"a:b"`},
			{"completion/complete", `"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}`},
		} {
			var answer struct{ Result any }
			text := c.ask(ask.method, ask.params)
			if err := json.Unmarshal([]byte(text), &answer); err != nil || answer.Result == nil {
				t.Fatalf("%s %s: %s", name, ask.method, text)
			}
			for _, stranger := range strangers(r, r.Method(ask.method, revision.FromClient).Result, answer.Result) {
				t.Errorf("%s %s: the revision has no %s: %s", name, ask.method, stranger, text)
			}
		}
	}
}

// strangers are the members of a value that its definition does not name, where it names any.
func strangers(r *revision.Revision, definition string, value any) []string {
	place, _ := r.Definition(definition)
	return strangersIn(place.Schemas, value, definition)
}

func strangersIn(schemas []revision.Schema, value any, at string) (all []string) {
	switch value := value.(type) {
	case []any:
		items := stepAll(schemas, "*", value)
		for i, item := range value {
			all = append(all, strangersIn(items, item, fmt.Sprint(at, "/", i))...)
		}
	case map[string]any:
		for key, v := range value {
			if key == "inputSchema" || key == "outputSchema" {
				continue // any JSON Schema
			}
			if next := stepAll(schemas, key, value); next != nil {
				all = append(all, strangersIn(next, v, at+"/"+key)...)
			} else if !open(schemas) {
				all = append(all, at+"/"+key)
			}
		}
	}
	return all
}

// stepAll are the schemas of a member, in the alternative that the value is.
func stepAll(schemas []revision.Schema, key string, value any) (next []revision.Schema) {
	for _, s := range alternatives(schemas, value) {
		n := s.Get("properties").Get(key)
		if key == "*" {
			n = s.Get("items")
		}
		if n != nil {
			next = append(next, revision.Schema{Node: n, Document: s.Document})
		}
	}
	return next
}

// alternatives follows references and unions to the schemas that speak of the value: those whose type is the value's.
func alternatives(schemas []revision.Schema, value any) (all []revision.Schema) {
	for _, s := range schemas {
		for _, keyword := range []string{"anyOf", "oneOf", "allOf"} {
			if n := s.Get(keyword); n != nil {
				for _, item := range n.Items {
					all = append(all, alternatives([]revision.Schema{{Node: item, Document: s.Document}}, value)...)
				}
			}
		}
		if ref := s.Get("$ref"); ref != nil {
			target, _ := s.Document.Resolve(ref.Text, ref)
			all = append(all, alternatives([]revision.Schema{{Node: target, Document: s.Document}}, value)...)
			continue
		}
		object, _ := value.(map[string]any)
		if c := s.Get("properties").Get("type").Get("const"); c == nil || object["type"] == nil || object["type"] == c.Text {
			all = append(all, s)
		}
	}
	return all
}

// open reports whether a value may have other members, and says so.
func open(schemas []revision.Schema) bool {
	return slices.ContainsFunc(alternatives(schemas, nil), func(s revision.Schema) bool {
		return s.Get("additionalProperties").Is(schema.Object) || s.Get("properties") == nil
	})
}

// TestREV06LaterContentIsSaidInWords: what a revision has no block for is not lost.
func TestREV06LaterContentIsSaidInWords(t *testing.T) {
	for name, want := range map[string][]string{
		"2024-11-05": {"text", "text", "text", "resource"}, "2025-03-26": {"text", "audio", "text", "resource"}, "2025-06-18": {"text", "audio", "resource_link", "resource"},
	} {
		c := dial(t, lavish(), name)
		var answer struct {
			Result struct {
				Content           []struct{ Type, Text string }
				StructuredContent json.RawMessage
			}
		}
		text := c.ask("tools/call", `"name":"test_sampling","arguments":{"prompt":"p"}`)
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, b := range answer.Result.Content {
			got = append(got, b.Type)
		}
		if !slices.Equal(got, want) || (answer.Result.StructuredContent != nil) != (name >= "2025-06-18") {
			t.Errorf("%s: %s", name, text)
		}
		if name < "2025-06-18" && answer.Result.Content[2].Text != "T: a:b" {
			t.Errorf("%s: the link is %q", name, answer.Result.Content[2].Text)
		}
	}
}

// TestREV06ACallSaysWhatItsRevisionCanNotBeAsked: tools for the model came with 2025-11-25, pages of the web too.
func TestREV06ACallSaysWhatItsRevisionCanNotBeAsked(t *testing.T) {
	for name, asking := range map[string]func(context.Context, *server.Call) error{
		"tools for the model": func(ctx context.Context, call *server.Call) error {
			_, err := kiln.CreateMessage(ctx, call, "m", &kiln.CreateMessageRequestParams{MaxTokens: 1, Tools: []kiln.Tool{},
				Messages: []kiln.SamplingMessage{{Role: kiln.RoleUser, Content: &kiln.TextContent{Text: "t"}}}})
			return err
		},
		"a page": func(ctx context.Context, call *server.Call) error {
			_, err := kiln.Elicit(ctx, call, "p", &kiln.ElicitRequestURLParams{Message: "m", URL: "https://example.com", ElicitationID: check.Some("e")})
			return err
		},
	} {
		for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18"} {
			var refused error
			c := dial(t, &careless{tool: func(ctx context.Context, call *server.Call) (*kiln.CallToolResult, error) {
				refused = asking(ctx, call)
				return nil, refused
			}}, revision)
			answer := c.ask("tools/call", `"name":"test_sampling","arguments":{"prompt":"p"}`)
			if !strings.Contains(answer, `"isError":true`) || !strings.Contains(answer, "can not ask") {
				t.Errorf("%s in %s: %s", name, revision, answer)
			}
		}
	}
}

// TestCAN24AGeneratedServerAnswersBatches where the revision has them.
func TestCAN24AGeneratedServerAnswersBatches(t *testing.T) {
	for _, name := range revision.Names() {
		if name >= "2026-07-28" {
			continue // it has no ping
		}
		c := dial(t, lavish(), name)
		c.write(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"prompts/list"}]`)
		got := c.answer()
		if answered := strings.HasPrefix(got, "[") && strings.Contains(got, `"id":1,"result":{}`) && strings.Contains(got, `"prompts"`); answered != (name == "2025-03-26") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

const everyMethod = `
version: 1
protocol: {revisions: [%s]}
server: {name: s, version: 1.0.0}
go: {package: s, out: s}
methods: [prompts/list, prompts/get, resources/list, resources/read, resources/templates/list, completion/complete, sampling/createMessage, roots/list]
tools:
  plain: {description: d, inputSchema: {type: object}}
  asks:
    description: d
    inputSchema: {type: object}
    outputSchema: {type: object, properties: {a: {type: integer}}}
    elicitations: {q: {message: m, schema: {type: object, properties: {a: {type: string}}}}}
`

// TestREV07HandlersDoNotDependOnTheRevisionsServed: what a package exports is the same, whichever revisions it serves.
func TestREV07HandlersDoNotDependOnTheRevisionsServed(t *testing.T) {
	sets := [][]string{{"2026-07-28", "2025-11-25"}, revision.Names()}
	for _, name := range revision.Names() {
		sets = append(sets, []string{name})
	}
	want := ""
	for _, set := range sets {
		quoted := `"` + strings.Join(set, `", "`) + `"`
		r, err := Generate(t.Context(), Config{Manifest: Source{"mcpkiln.yaml", fmt.Appendf(nil, everyMethod, quoted)}})
		if err != nil || r.Diagnostics.HasErrors() {
			t.Fatal(err, r.Diagnostics)
		}
		got := exported(t, r.Files)
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%s:\n%s\nnot\n%s", quoted, got, want)
		}
	}
}

// exported is what a package exports, without comments.
func exported(t *testing.T, files []File) string {
	t.Helper()
	var b bytes.Buffer
	for _, f := range files {
		if !strings.HasSuffix(f.Path, ".go") {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, f.Path, f.Content, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if !ast.FileExports(file) {
			continue
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				f.Body = nil
			}
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
				continue
			}
			if err := printer.Fprint(&b, fset, d); err != nil {
				t.Fatal(err)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// TestREV06FiveRevisionsShareWhatIsEqual bounds what is generated for five by one and a half times what two take.
func TestREV06FiveRevisionsShareWhatIsEqual(t *testing.T) {
	manifest, err := os.ReadFile("../testdata/conformance/server/mcpkiln.yaml")
	if err != nil {
		t.Fatal(err)
	}
	lines := func(revisions ...string) (n int) {
		r, err := Generate(t.Context(), Config{Manifest: Source{"mcpkiln.yaml", manifest}, Revisions: revisions})
		if err != nil || r.Diagnostics.HasErrors() {
			t.Fatal(err, r.Diagnostics)
		}
		for _, f := range r.Files {
			n += bytes.Count(f.Content, []byte("\n"))
		}
		return n
	}
	two, all := lines("2026-07-28", "2025-11-25"), lines()
	if t.Logf("%d lines for two, %d for all", two, all); 2*all > 3*two {
		t.Errorf("%d lines for all, %d for two", all, two)
	}
}

// TSK03: what is said of running as a task names the revisions that have tasks.
func TestTSK03OlderRevisionsHaveNoTasksInTheDocEither(t *testing.T) {
	for revisions, want := range map[string]string{
		`["2026-07-28", "2025-11-25", "2025-06-18"]`: "or as a task if the client asks for one (2025-11-25) or knows tasks (2026-07-28): then",
		`["2025-11-25", "2024-11-05"]`:               "or as a task if the client asks for one: then",
		`["2026-07-28", "2025-03-26"]`:               "or as a task if the client knows tasks: then",
		`["2025-06-18", "2025-03-26"]`:               "It runs inline only: no revision that is served has tasks.",
	} {
		r := mustGenerate(t, config("server: {name: reports, version: 1.0.0}\nprotocol: {revisions: "+revisions+"}\n"+
			"tools: {list: {execution: {taskSupport: optional}, inputSchema: {type: object}}}\n"))
		doc := strings.Join(strings.Fields(strings.ReplaceAll(r.file(t, "handlers.gen.go"), "//", "")), " ")
		if !strings.Contains(doc, want) {
			t.Errorf("%s: no %q in\n%s", revisions, want, r.file(t, "handlers.gen.go"))
		}
	}
}
