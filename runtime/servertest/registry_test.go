package servertest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/servertest"
	"github.com/mcpkiln/mcpkiln/testdata/library/library"
)

type librarian struct{ library.Handlers }

func (librarian) ReviewCode(_ context.Context, _ *server.Call, in *library.ReviewCodeArgs) (*server.PromptResult, error) {
	text := fmt.Sprintf("review %s at %s", in.Language, in.Path.Or("nowhere"))
	return server.PromptOf(server.UserMessage(server.Text(text)), server.AssistantMessage(server.Link("docs://readme", "readme"))), nil
}

func (librarian) CompleteReviewCodePath(_ context.Context, _ *server.Call, in *server.CompletionRequest) (*server.Completion, error) {
	return server.CompleteFrom([]string{"cmd/" + in.Arguments["language"], "internal", "docs"}, in.Value), nil
}

func (librarian) Hello(context.Context, *server.Call) (*server.PromptResult, error) {
	return server.PromptOf(server.UserMessage(server.Text("hello"))), nil
}

func (librarian) ReadReadme(context.Context, *server.Call) (*server.ResourceContents, error) {
	return server.TextContents("# Read me"), nil
}

func (librarian) ReadLogo(context.Context, *server.Call) (*server.ResourceContents, error) {
	return server.BlobContents([]byte{0, 1, 2}), nil
}

func (librarian) ReadFile(_ context.Context, _ *server.Call, in *library.FileVariables) (*server.ResourceContents, error) {
	if in.Path == "secret" {
		return nil, &server.ResourceError{URI: "files://" + in.User + "/" + in.Path}
	}
	return server.TextContents(in.User + " has " + in.Path).MIMEType("text/x-own"), nil
}

func (librarian) CompleteFileUser(context.Context, *server.Call, *server.CompletionRequest) (*server.Completion, error) {
	return &server.Completion{Values: slices.Repeat([]string{"ann"}, 150)}, nil
}

func (librarian) ReadSearch(_ context.Context, _ *server.Call, in *library.SearchVariables) (*server.ResourceContents, error) {
	return server.TextContents(fmt.Sprintf("%s %v %d", in.Text, in.Tag, in.Limit)), nil
}

func inLibrary(t *testing.T, test func(t *testing.T, c *servertest.Client)) {
	srv, err := library.New(librarian{})
	if err != nil {
		t.Fatal(err)
	}
	for _, revision := range servertest.Revisions(srv) {
		t.Run(revision, func(t *testing.T) {
			srv, _ := library.New(librarian{})
			test(t, servertest.Start(t, srv, servertest.WithRevision(revision)))
		})
	}
}

func refused(t *testing.T, err error, code int, texts ...string) {
	t.Helper()
	own := (*rpc.Error)(nil)
	if !errors.As(err, &own) || own.Code != code {
		t.Fatalf("%v, want code %d", err, code)
	}
	for _, text := range texts {
		if !strings.Contains(own.Message+string(own.Data), text) {
			t.Errorf("%v %s does not say %q", own, own.Data, text)
		}
	}
}

// An empty cursor is one, as server/utilities/pagination#implementation-guidelines of 2026-07-28 says, and none that a server of ours gives:
// it is refused as every other one that was not given, in every list and revision.
func TestLET06AnEmptyCursorIsRefused(t *testing.T) {
	inLibrary(t, func(t *testing.T, c *servertest.Client) {
		for _, method := range []string{"prompts/list", "resources/list", "resources/templates/list"} {
			_, err := servertest.Request[map[string]any](c, method, map[string]any{"cursor": ""})
			refused(t, err, -32602, "cursor")
			if _, err := servertest.Request[map[string]any](c, method, map[string]any{}); err != nil {
				t.Errorf("%s: %v", method, err)
			}
		}
	})
}

func TestSRV05Prompts(t *testing.T) {
	inLibrary(t, func(t *testing.T, c *servertest.Client) {
		list, err := c.Prompts()
		if err != nil || len(list) != 3 || list[0].Name != "review_code" || list[1].Name != "hello" {
			t.Fatalf("%v %v", list, err)
		}
		titled := strings.Contains(string(list[0].Definition), `"title":"Language"`)
		if titled != (c.Revision() >= "2025-06-18") || strings.Contains(string(list[0].Definition), "icons") != (c.Revision() >= "2025-11-25") {
			t.Errorf("%s", list[0].Definition)
		}
		p, err := c.Prompt("review_code", map[string]string{"language": "go", "path": "a/b"})
		if err != nil || len(p.Messages) != 2 || p.Messages[0].Content.Text != "review go at a/b" || p.Messages[1].Role != "assistant" {
			t.Fatalf("%+v %v", p, err)
		}
		if p, err := c.Prompt("hello", nil); err != nil || p.Messages[0].Content.Text != "hello" {
			t.Errorf("%+v %v", p, err)
		}
		_, err = c.Prompt("nothing", nil)
		refused(t, err, rpc.CodeInvalidParams, `unknown prompt "nothing"`)
		_, err = c.Prompt("review_code", map[string]string{"path": "A", "other": "x"})
		refused(t, err, rpc.CodeInvalidParams, "/path", "/other", "language")
		_, err = c.Prompt("review_code", map[string]string{"language": "go", "token": "hunter2"})
		refused(t, err, rpc.CodeInvalidParams, "/token", "not shown")
		if strings.Contains(fmt.Sprintf("%+v", err), "hunter2") || strings.Contains(string(list[0].Definition), "sensitive") {
			t.Errorf("%v: %s", err, list[0].Definition)
		}
		_, err = c.Prompt("review_code", map[string]any{"language": 1})
		refused(t, err, rpc.CodeInvalidParams, "/language")
		_, err = c.Prompt("hello", map[string]string{"a": "b"})
		refused(t, err, rpc.CodeInvalidParams, "/a")
	})
}

func TestSRV05Resources(t *testing.T) {
	inLibrary(t, func(t *testing.T, c *servertest.Client) {
		list, err := c.Resources()
		if err != nil || len(list) != 3 || list[0].URI != "docs://readme" {
			t.Fatalf("%v %v", list, err)
		}
		templates, err := c.ResourceTemplates()
		if err != nil || len(templates) != 3 || templates[1].URITemplate != "search://all{?text,tag*,limit}" {
			t.Fatalf("%v %v", templates, err)
		}
		for uri, want := range map[string]servertest.Contents{
			"docs://readme":       {MIMEType: "text/markdown", Text: "# Read me"},
			"docs://logo":         {MIMEType: "image/png", Blob: []byte{0, 1, 2}},
			"files://ann/a/b%20c": {MIMEType: "text/x-own", Text: "ann has a/b c"},
			"search://all?text=x&tag=new&tag=old&limit=5": {MIMEType: "application/json", Text: "x [new old] 5"},
			"search://all?text=x":                         {MIMEType: "application/json", Text: "x [] 10"},
		} {
			want.URI = uri
			got, err := c.Read(uri)
			if err != nil || len(got) != 1 || fmt.Sprint(got[0]) != fmt.Sprint(want) {
				t.Errorf("%s: %+v %v", uri, got, err)
			}
		}
		unknown := -32002
		if c.Revision() >= "2026" {
			unknown = rpc.CodeInvalidParams
		}
		for _, uri := range []string{"docs://other", "files://ann/", "search://all?text=x&what=y", "files://ann/secret"} {
			_, err := c.Read(uri)
			refused(t, err, unknown, uri)
		}
		_, err = c.Read("files://ANN/a")
		refused(t, err, rpc.CodeInvalidParams, "/user")
		_, err = c.Read("search://all?limit=many")
		refused(t, err, rpc.CodeInvalidParams, "/limit", "text")
	})
}

func TestSRV05Completion(t *testing.T) {
	inLibrary(t, func(t *testing.T, c *servertest.Client) {
		others := map[string]string{"language": "go"}
		if c.Revision() < "2025-06-18" {
			others = nil // which had no way to say it
		}
		got, err := c.CompletePrompt("review_code", "path", "C", others)
		if err != nil || fmt.Sprint(got.Values) != "[cmd/"+others["language"]+" docs]" {
			t.Errorf("%+v %v", got, err)
		}
		if got, err = c.CompletePrompt("review_code", "language", "r", nil); err != nil || fmt.Sprint(got.Values) != "[rust]" {
			t.Errorf("%+v %v", got, err)
		}
		if got, err = c.CompletePrompt("review_code", "since", "2", nil); err != nil || len(got.Values) != 0 {
			t.Errorf("%+v %v", got, err)
		}
		got, err = c.CompleteResource("files://{user}/{+path}", "user", "a", nil)
		if err != nil || len(got.Values) != 100 || got.Total != 150 || !got.HasMore {
			t.Errorf("%+v %v", got, err)
		}
		_, err = c.CompletePrompt("nothing", "path", "", nil)
		refused(t, err, rpc.CodeInvalidParams, "nothing")
		_, err = c.CompletePrompt("review_code", "paht", "", nil)
		refused(t, err, rpc.CodeInvalidParams, "paht")
		_, err = c.CompleteResource("files://other", "user", "", nil)
		refused(t, err, rpc.CodeInvalidParams, "files://other")
	})
}

func TestSRV05LET06Subscriptions(t *testing.T) {
	srv, err := library.New(librarian{})
	if err != nil {
		t.Fatal(err)
	}
	c := servertest.Start(t, srv, servertest.WithRevision("2025-11-25"))
	subscribe := func(uri string) error {
		_, err := servertest.Request[struct{}](c, "resources/subscribe", map[string]string{"uri": uri})
		return err
	}
	refused(t, subscribe("docs://other"), -32002, "docs://other")
	refused(t, subscribe("docs://logo"), rpc.CodeInvalidParams, "can not be subscribed to")
	refused(t, subscribe("files://ANN/a"), rpc.CodeInvalidParams, "/user")
	for _, uri := range []string{"docs://readme", "files://ann/a"} {
		if err := subscribe(uri); err != nil {
			t.Fatal(err)
		}
		srv.ResourceUpdated(uri)
		if n, err := c.AwaitNotice("notifications/resources/updated"); err != nil || !strings.Contains(string(n.Params), uri) {
			t.Errorf("%+v %v", n, err)
		}
	}
}

func TestSRV05LET06SubscriptionsOfAListen(t *testing.T) {
	srv, err := library.New(librarian{})
	if err != nil {
		t.Fatal(err)
	}
	c := servertest.Start(t, srv, servertest.WithRevision("2026-07-28"))
	p := c.BeginRequest("subscriptions/listen", map[string]any{"notifications": map[string]any{"resourceSubscriptions": []string{"docs://readme", "docs://logo", "docs://other", "files://ANN/a"}}})
	n, err := c.AwaitNotice("notifications/subscriptions/acknowledged")
	if err != nil || !strings.Contains(string(n.Params), `"resourceSubscriptions":["docs://readme"]`) {
		t.Errorf("%s %v", n.Params, err)
	}
	p.Cancel("done")
}

func TestSRV05ResourceTrees(t *testing.T) {
	dir := t.TempDir()
	outside := t.TempDir()
	for name, text := range map[string]string{"a b.md": "# a", "data/x.bin": "\x00\xff", "data/deep/y.txt": "y", ".env": "secret", ".git/config": "secret", "large.txt": strings.Repeat("x", 101)} {
		put(t, dir, name, text)
	}
	put(t, outside, "z.txt", "outside")
	for link, to := range map[string]string{"out": outside, "out.txt": outside + "/z.txt", "in.txt": "a b.md"} {
		if err := os.Symlink(to, dir+"/"+link); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	srv, err := library.New(librarian{}, server.WithResourceTree("tree://files/", root.FS()), server.WithMaxTreeFile(100), server.WithPageSize(2),
		server.WithResourceTree("tree://files/more/", fstest.MapFS{"z.json": {Data: []byte("{}")}}))
	if err != nil {
		t.Fatal(err)
	}
	c := servertest.Start(t, srv)
	list, err := c.Resources()
	var uris []string
	for _, r := range list {
		uris = append(uris, r.URI)
	}
	want := []string{"docs://readme", "docs://logo", "docs://draft", "tree://files/more/z.json", "tree://files/a%20b.md", "tree://files/data/deep/y.txt",
		"tree://files/data/x.bin", "tree://files/large.txt"}
	if err != nil || !slices.Equal(uris, want) {
		t.Errorf("%v, %v", uris, err)
	}
	for uri, want := range map[string]servertest.Contents{
		"tree://files/a%20b.md":        {MIMEType: "text/markdown", Text: "# a"},
		"tree://files/data/x.bin":      {MIMEType: "application/octet-stream", Blob: []byte{0, 255}},
		"tree://files/more/z.json":     {MIMEType: "application/json", Text: "{}"},
		"tree://files/data/deep/y.txt": {MIMEType: "text/plain", Text: "y"},
	} {
		want.URI = uri
		if got, err := c.Read(uri); err != nil || fmt.Sprint(got) != fmt.Sprint([]servertest.Contents{want}) {
			t.Errorf("%s: %+v %v", uri, got, err)
		}
	}
	for _, uri := range []string{"tree://files/out.txt", "tree://files/out/z.txt", "tree://files/in.txt", "tree://files/.env", "tree://files/.git/config",
		"tree://files/../z.txt", "tree://files/data/%2e%2e/.env", "tree://files/data%2Fx.bin", "tree://files/data", "tree://files/", "tree://files//etc/passwd", "tree://files/a%00"} {
		_, err := c.Read(uri)
		refused(t, err, rpc.CodeInvalidParams, "unknown resource")
	}
	_, err = c.Read("tree://files/large.txt")
	refused(t, err, rpc.CodeInternalError, "larger than the 100 bytes")
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	file := dir + "/" + name
	if err := errors.Join(os.MkdirAll(path.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// TestSRV05NamesThatAreNotTextAreNotListed, since nothing that is listed would read them.
func TestSRV05NamesThatAreNotTextAreNotListed(t *testing.T) {
	srv, err := library.New(librarian{}, server.WithResourceTree("tree://files/", fstest.MapFS{"bad\xff.txt": {}, "bad\xff/a.txt": {}, "good.txt": {}}))
	if err != nil {
		t.Fatal(err)
	}
	c := servertest.Start(t, srv)
	list, err := c.Resources()
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	n := 0
	for _, of := range list {
		if !strings.HasPrefix(of.URI, "tree://") {
			continue
		}
		n++
		if _, err := c.Read(of.URI); err != nil {
			t.Errorf("%s: %v", of.URI, err)
		}
	}
	if n != 1 {
		t.Errorf("listed: %v", list)
	}
}

func TestSRV05WrongTreesAreRefused(t *testing.T) {
	for prefix, want := range map[string]string{"files/": "needs a scheme", "docs://a": "a slash at its end", "x://": ""} {
		if _, err := library.New(librarian{}, server.WithResourceTree(prefix, fstest.MapFS{})); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", prefix, err)
		}
	}
}

func TestSRV06EntriesAreAddedAndRemoved(t *testing.T) {
	srv, err := library.New(librarian{}, server.WithPageSize(1))
	if err != nil {
		t.Fatal(err)
	}
	c := servertest.Start(t, srv, servertest.WithRevision("2025-11-25"))
	greet := func(_ context.Context, _ *server.Call, args map[string]string) (*server.PromptResult, error) {
		return server.PromptOf(server.UserMessage(server.Text("hello " + args["name"]))), nil
	}
	definition := []byte(`{"name":"greet","arguments":[{"name":"name","required":true}]}`)
	if err := srv.AddPrompt(definition, greet, server.Argument{Name: "name", Values: []string{"ann"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.AwaitNotice("notifications/prompts/list_changed"); err != nil {
		t.Error(err)
	}
	if list, err := c.Prompts(); err != nil || len(list) != 4 || list[3].Name != "greet" {
		t.Errorf("%v %v", list, err)
	}
	if p, err := c.Prompt("greet", map[string]string{"name": "ann"}); err != nil || p.Messages[0].Content.Text != "hello ann" {
		t.Errorf("%+v %v", p, err)
	}
	_, err = c.Prompt("greet", map[string]string{"nam": "ann"})
	refused(t, err, rpc.CodeInvalidParams, "/arguments/nam", "/arguments/name: is required")
	if got, err := c.CompletePrompt("greet", "name", "A", nil); err != nil || len(got.Values) != 1 {
		t.Errorf("%+v %v", got, err)
	}
	if !srv.RemovePrompt("hello") || srv.RemovePrompt("hello") {
		t.Error("hello was not removed once")
	}
	_, err = c.Prompt("hello", nil)
	refused(t, err, rpc.CodeInvalidParams, "unknown prompt")

	read := func(context.Context, *server.Call) (*server.ResourceContents, error) {
		return server.TextContents("new"), nil
	}
	if err := srv.AddResource([]byte(`{"name":"new","uri":"docs://new","mimeType":"text/x-new"}`), read); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Read("docs://new"); err != nil || got[0].MIMEType != "text/x-new" || got[0].Text != "new" {
		t.Errorf("%+v %v", got, err)
	}
	byName := func(_ context.Context, _ *server.Call, values map[string][]string) (*server.ResourceContents, error) {
		return server.TextContents(values["name"][0]), nil
	}
	if err := srv.AddResourceTemplate([]byte(`{"name":"people","uriTemplate":"people://{name}"}`), byName); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Read("people://ann"); err != nil || got[0].Text != "ann" {
		t.Errorf("%+v %v", got, err)
	}
	if !srv.RemoveResource("docs://new") || !srv.RemoveResourceTemplate("people://{name}") {
		t.Error("not removed")
	}
	for what, err := range map[string]error{
		`there is "review_code" already`:    srv.AddPrompt([]byte(`{"name":"review_code"}`), greet),
		`found "a"`:                         srv.AddPrompt([]byte(`{"name":"b","arguments":[{"name":"a"},{"name":"a"}]}`), greet),
		`has no argument "x" to complete`:   srv.AddPrompt([]byte(`{"name":"b"}`), greet, server.Argument{Name: "x"}),
		`there is "docs://readme" already`:  srv.AddResource([]byte(`{"name":"x","uri":"docs://readme"}`), read),
		`/uri: format: found "readme"`:      srv.AddResource([]byte(`{"name":"x","uri":"readme"}`), read),
		`/mimeType: "bad mime" is no media`: srv.AddResource([]byte(`{"name":"x","uri":"docs://x","mimeType":"bad mime"}`), read),
		`"javascript:"`:                     srv.AddPrompt([]byte(`{"name":"b","icons":[{"src":"https://example.com/a"},{"src":"javascript:x"}]}`), greet),
		`/_meta: "dev.mcp/x" is no key`:     srv.AddResourceTemplate([]byte(`{"name":"x","uriTemplate":"x://{a}","_meta":{"dev.mcp/x":1}}`), byName),
		`/icons/0/mimeType: "x" is no`:      srv.AddPrompt([]byte(`{"name":"b","icons":[{"src":"https://example.com/a","mimeType":"x"}]}`), greet),
		`/_meta: "progressToken" is no key`: srv.AddPrompt([]byte(`{"name":"b","_meta":{"progressToken":1}}`), greet),
		`related-task" is no key for _meta`: srv.AddResource([]byte(`{"name":"x","uri":"docs://x","_meta":{"io.modelcontextprotocol/related-task":{}}}`), read),
		`serverInfo" is no key for _meta`:   srv.AddResourceTemplate([]byte(`{"name":"x","uriTemplate":"x://{a}","_meta":{"io.modelcontextprotocol/serverInfo":{}}}`), byName),
		`the definition is wrong`:           srv.AddResource([]byte(`{"name"`), read),
		`/title: type: found 5`:             srv.AddResource([]byte(`{"name":"x","uri":"docs://x","title":5}`), read),
		`/annotations/priority: maximum`:    srv.AddResource([]byte(`{"name":"x","uri":"docs://x","annotations":{"priority":2}}`), read),
		`/uriTemplate: is required`:         srv.AddResourceTemplate([]byte(`{"name":"x","uri":"docs://x"}`), byName),
		`/arguments: type: found null`:      srv.AddPrompt([]byte(`{"name":"b","arguments":null}`), greet),
		`/name: is required`:                srv.AddPrompt([]byte(`{"Name":"b"}`), greet),
		`"b" has no handler`:                srv.AddPrompt([]byte(`{"name":"b"}`), nil),
		`both match files://a/a`:            srv.AddResourceTemplate([]byte(`{"name":"x","uriTemplate":"files://{a}/{b}"}`), byName),
		`nothing tells where a ends`:        srv.AddResourceTemplate([]byte(`{"name":"x","uriTemplate":"x://{a}{b}"}`), byName),
		`write tools: {} in the manifest`:   srv.AddTool([]byte(`{"name":"a","inputSchema":{"type":"object"}}`), nil, nil),
	} {
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, want %s", err, what)
		}
	}
}

// SRV06: what a caller is not shown is not listed, and unknown to it: in requests, subscriptions and completions.
func TestSRV06PromptsAndResourcesAreFilteredByCaller(t *testing.T) {
	hidden := map[string]bool{
		"review_code": true, "docs://logo": true, "docs://readme": true, "files://{user}/{+path}": true, "files://ann/secret": true, "tree://files/b.txt": true,
	}
	show := func(ctx context.Context, name string) bool {
		if name == "files://ann/torn" {
			panic("torn")
		}
		return server.PrincipalFrom(ctx) == "admin" || !hidden[name]
	}
	srv, err := library.New(librarian{}, server.WithPromptFilter(show), server.WithResourceFilter(show), server.WithCacheHint(time.Hour, true),
		server.WithResourceTree("tree://files/", fstest.MapFS{"a.txt": {Data: []byte("a")}, "b.txt": {Data: []byte("b")}}))
	if err != nil {
		t.Fatal(err)
	}
	admin := servertest.Start(t, srv, servertest.WithPrincipal("admin"))
	for _, revision := range servertest.Revisions(srv) {
		other := admin.Join(servertest.WithPrincipal("other"), servertest.WithRevision(revision))
		for _, row := range []struct {
			c                        *servertest.Client
			prompts, resources, uris int
		}{{admin, 3, 5, 3}, {other, 2, 2, 2}, {admin, 3, 5, 3}} {
			prompts, err1 := row.c.Prompts()
			resources, err2 := row.c.Resources()
			templates, err3 := row.c.ResourceTemplates()
			if err := errors.Join(err1, err2, err3); err != nil || len(prompts) != row.prompts || len(resources) != row.resources || len(templates) != row.uris {
				t.Errorf("%s: %v: %d prompts, %d resources, %d templates", row.c.Revision(), err, len(prompts), len(resources), len(templates))
			}
			for uri, open := range map[string]bool{
				"docs://readme": false, "tree://files/a.txt": true, "tree://files/b.txt": false, "files://ann/x": true, "files://ann/secret": false,
			} {
				_, err := row.c.Read(uri)
				if uri == "files://ann/secret" && row.c == admin {
					continue // its handler says that it does not exist
				}
				if (err == nil) != (open || row.c == admin) {
					t.Errorf("%s: %s: %v", row.c.Revision(), uri, err)
				}
			}
			for _, err := range []error{
				func() error { _, err := row.c.Prompt("review_code", map[string]string{"language": "go"}); return err }(),
				func() error { _, err := row.c.CompletePrompt("review_code", "language", "g", nil); return err }(),
				func() error { _, err := row.c.CompleteResource("files://{user}/{+path}", "user", "", nil); return err }(),
			} {
				if row.c == admin && err != nil {
					t.Error(err)
				} else if row.c != admin && err == nil {
					t.Errorf("%s: served to whom it is not shown", row.c.Revision())
				}
			}
			if _, err := row.c.Read("files://ann/torn"); err == nil {
				t.Error("a filter that panics shows something")
			}
		}
	}
}

// Arguments of a prompt that is added have the small schemas of the manifest; lists show none of them.
func TestSRV06ArgumentsOfAddedPromptsAreChecked(t *testing.T) {
	inLibrary(t, func(t *testing.T, c *servertest.Client) {
		srv, err := library.New(librarian{})
		if err != nil {
			t.Fatal(err)
		}
		tell := func(_ context.Context, _ *server.Call, args map[string]string) (*server.PromptResult, error) {
			return server.PromptOf(server.UserMessage(server.Text(fmt.Sprint(args)))), nil
		}
		definition := []byte(`{"name":"added","arguments":[{"name":"path","required":true,"pattern":"^[a-z/]+$","maxLength":5},{"name":"day","format":"date"},` +
			`{"name":"kind","type":"string","enum":["new","old","Ä"],"pattern":"^[a-z]+$","maxLength":3},{"name":"none","maxLength":0},{"name":"token","minLength":8,"x-sensitive":true}]}`)
		if err := srv.AddPrompt(definition, tell); err != nil {
			t.Fatal(err)
		}
		c = servertest.Start(t, srv, servertest.WithRevision(c.Revision()))
		list, err := c.Prompts()
		if err != nil || string(list[3].Definition) != `{"name":"added","arguments":[{"name":"path","required":true},{"name":"day"},{"name":"kind"},{"name":"none"},{"name":"token"}]}` {
			t.Errorf("%s %v", list[3].Definition, err)
		}
		if p, err := c.Prompt("added", map[string]string{"path": "a/b", "day": "2026-07-28", "kind": "new", "none": "", "token": "12345678"}); err != nil || !strings.Contains(p.Messages[0].Content.Text, "path:a/b") {
			t.Errorf("%+v %v", p, err)
		}
		_, err = c.Prompt("added", map[string]string{"path": "A/bcde", "day": "today", "kind": "x", "none": "x", "token": "hunter2"})
		refused(t, err, rpc.CodeInvalidParams, "/path: pattern", "/path: maxLength", "/day: format", "/kind: enum", "/none: maxLength", "/token")
		if strings.Contains(fmt.Sprintf("%+v", err), "hunter2") {
			t.Error(err)
		}
		if got, err := c.CompletePrompt("added", "kind", "n", nil); err != nil || fmt.Sprint(got.Values) != "[new]" {
			t.Errorf("%+v %v", got, err)
		}
	})
}

func TestSRV06WrongArgumentsOfAddedPromptsAreRefused(t *testing.T) {
	srv, err := library.New(librarian{})
	if err != nil {
		t.Fatal(err)
	}
	for argument, want := range map[string]string{
		`"pattern":"["`: `argument "a": its pattern`, `"pattern":"(?=x)"`: `argument "a": its pattern`, `"format":"moon"`: `the format "moon" is not known`,
		`"enum":"x"`: "/arguments/0/enum: type", `"x-sensitive":1`: "/arguments/0/x-sensitive: type", `"title":"x"},{"name":"a"`: "needs a name of its own",
		`"enum":[]`: "/arguments/0/enum: minItems", `"enum":[1]`: "/arguments/0/enum/0: type", `"enum":null`: "/arguments/0/enum: type: found null",
		`"minLength":-1`: "/arguments/0/minLength: minimum", `"maxLength":-5`: "/arguments/0/maxLength: minimum", `"maxLength":1.5`: "/arguments/0/maxLength: type",
		`"minLength":3,"maxLength":2`:      `argument "a": no text has a minLength of 3 and a maxLength of 2`,
		`"enum":["ab","c"],"pattern":"^x"`: `argument "a": every value of its enum breaks another of its rules`,
		`"items":{}`:                       "/arguments/0/items", `"minimum":1`: "/arguments/0/minimum", `"Enum":["x"]`: "/arguments/0/Enum", `"complete":true`: "/arguments/0/complete",
		`"type":"integer"`: `/arguments/0/type: enum: found "integer", allowed: "string"`, `"required":"yes"`: "/arguments/0/required: type",
		`"description":5`: "/arguments/0/description: type", `"x":1},{"title":"no name"`: "/arguments/1/name: is required",
	} {
		err := srv.AddPrompt([]byte(`{"name":"p","arguments":[{"name":"a",`+argument+`}]}`), func(context.Context, *server.Call, map[string]string) (*server.PromptResult, error) { return nil, nil })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", argument, err)
		}
	}
}
