package drive

import (
	"context"
	"errors"
	"strings"
	"testing"

	"example.com/goldens/future"
	library "example.com/goldens/methods"
	prompter "example.com/goldens/methods_only"
	echo "example.com/goldens/minimal"
	orders "example.com/goldens/revisions"
	ledger "example.com/goldens/stateless"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// open serves without a handshake: each message says by itself what it is.
func open(t *testing.T, srv *server.Server, err error) *peer {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	client, conn := rpc.Pipe()
	ctx, cancel := context.WithCancel(server.WithPrincipal(context.Background(), "test"))
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ctx, conn) }()
	t.Cleanup(func() {
		client.Close()
		<-done
		cancel()
		srv.Shutdown(context.Background())
	})
	return &peer{t, client}
}

// stateless is the _meta of a request of 2026-07-28 from a client with these capabilities.
func stateless(capabilities string) string {
	return `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` + capabilities + `}`
}

const tasksExtension = `{"extensions":{"io.modelcontextprotocol/tasks":{}},"elicitation":{}}`

type orderHandlers struct{}

func (orderHandlers) ImportOrders(ctx context.Context, call *orders.ImportOrdersCall, in *orders.ImportOrdersInput) (*orders.CallToolResult, error) {
	answer, err := call.Confirm(ctx, "")
	if err != nil {
		return nil, err
	}
	if !answer.Accepted() || !answer.Value.Overwrite {
		return nil, errors.New("nothing imported")
	}
	return orders.TextResult("imported " + in.Source), nil
}

func (orderHandlers) CountOrders(context.Context, *server.Call, *orders.CountOrdersInput) (*orders.CountOrdersOutput, error) {
	return &orders.CountOrdersOutput{Count: 3}, nil
}

// TestREV02TwoRevisionsOnOneStream: each message is answered as its own revision has it.
func TestREV02TwoRevisionsOnOneStream(t *testing.T) {
	srv, err := orders.New(orderHandlers{})
	p := serve(t, srv, err)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if frame := p.want(`"id":1`, `"execution":{"taskSupport":"optional"}`, `"x-mcp-header":"Source"`); strings.Contains(frame, "resultType") {
		t.Errorf("2025-11-25: %s", frame)
	}
	p.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{` + stateless(`{}`) + `}}`)
	if frame := p.want(`"id":2`, `"resultType":"complete"`, `"ttlMs":`, `"cacheScope":`, `"x-mcp-header":"Source"`); strings.Contains(frame, "execution") {
		t.Errorf("2026-07-28 has no execution: %s", frame)
	}
	p.send(`{"jsonrpc":"2.0","id":3,"method":"server/discover","params":{` + stateless(`{}`) + `}}`)
	p.want(`"supportedVersions":["2026-07-28","2025-11-25"]`, `"extensions":{"io.modelcontextprotocol/tasks":{}}`)
	p.send(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"count_orders","arguments":{},` + stateless(`{}`) + `}}`)
	p.want(`"id":4`, `"structuredContent":{"count":3}`, `"resultType":"complete"`, `"io.modelcontextprotocol/serverInfo":{"name":"orders"`)
}

// TestREV01OneQuestionTwoWires: the same handler asks by a request, and by a result that the client answers by calling again.
func TestREV01OneQuestionTwoWires(t *testing.T) {
	srv, err := orders.New(orderHandlers{})
	p := serve(t, srv, err)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"import_orders","arguments":{"source":"a"}}}`)
	question := p.want(`"method":"elicitation/create"`, `"message":"Overwrite?"`)
	p.send(`{"jsonrpc":"2.0","id":` + id(t, question) + `,"result":{"action":"accept","content":{"overwrite":true}}}`)
	p.want(`"id":1`, `"text":"imported a"`)

	call := `"name":"import_orders","arguments":{"source":"b"},` + stateless(`{"elicitation":{}}`)
	p.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{` + call + `}}`)
	frame := p.want(`"id":2`, `"resultType":"input_required"`, `"inputRequests":{"confirm":{"method":"elicitation/create"`)
	state := field(t, frame, "result", "requestState")
	p.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{` + call + `,"requestState":"` + state +
		`","inputResponses":{"confirm":{"action":"accept","content":{"overwrite":true}}}}}`)
	p.want(`"id":3`, `"text":"imported b"`, `"resultType":"complete"`)
}

type echoHandlers struct{}

func (echoHandlers) Echo(_ context.Context, _ *server.Call, in *echo.EchoInput) (*echo.EchoOutput, error) {
	return &echo.EchoOutput{Text: in.Text}, nil
}

// TestLET10TaskIsReadWhereACallCanBeOne: elsewhere what it holds does not matter (basic/utilities/tasks#task-support-and-handling).
func TestLET10TaskIsReadWhereACallCanBeOne(t *testing.T) {
	srv, err := orders.New(orderHandlers{})
	p := serve(t, srv, err)
	for _, task := range []string{`5`, `"x"`, `{"ttl":null}`, `{"ttl":60000}`} {
		p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count_orders","task":` + task + `}}`)
		p.want(`"id":1`, `"code":-32601`)
	}
	p.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"count_orders","task":null}}`)
	p.want(`"id":2`, `"count":3`)
	for _, task := range []string{`5`, `"x"`, `{"ttl":null}`} {
		p.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"import_orders","arguments":{"source":"a"},"task":` + task + `}}`)
		p.want(`"id":3`, `"code":-32602`)
	}

	alone, err := echo.New(echoHandlers{}) // declares no tasks
	p = serve(t, alone, err)
	for _, task := range []string{`5`, `null`, `{"ttl":null}`, `{"ttl":60000}`} {
		p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"again"},"task":` + task + `}}`)
		p.want(`"id":1`, `"text":"again"`)
	}
}

// TestLET15TheAcknowledgementCarriesWhatIsHonoured: basic/patterns/subscriptions#acknowledgment, also when that is nothing.
func TestLET15TheAcknowledgementCarriesWhatIsHonoured(t *testing.T) {
	srv, err := ledger.New(ledgerHandlers{})
	p := open(t, srv, err)
	for _, filter := range []string{`{}`, `{"promptsListChanged":true}`} {
		p.send(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":` + filter + `,` + stateless(`{}`) + `}}`)
		p.want(`"method":"notifications/subscriptions/acknowledged"`, `"notifications":{}`)
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	}
}

type ledgerHandlers struct{}

func (ledgerHandlers) PostLedger(ctx context.Context, call *ledger.PostLedgerCall, in *ledger.PostLedgerInput) (*ledger.CallToolResult, error) {
	who, err := call.Who(ctx, "")
	if err != nil {
		return nil, err
	}
	return ledger.TextResult(who.Value.Name + " posted " + in.Batch), nil
}

func (ledgerHandlers) ListResources(context.Context, *server.Call, *ledger.PaginatedRequestParams) (*ledger.ListResourcesResult, error) {
	return &ledger.ListResourcesResult{}, nil
}

func (ledgerHandlers) ReadResource(_ context.Context, _ *server.Call, in *ledger.ReadResourceRequestParams) (*ledger.ReadResourceResult, error) {
	return nil, &server.ResourceError{URI: in.URI}
}

// TestEXT04TasksAreFlat: a question before the task, the task, and its result inside tasks/get.
func TestEXT04TasksAreFlat(t *testing.T) {
	srv, err := ledger.New(ledgerHandlers{})
	p := open(t, srv, err)
	call := `"name":"post_ledger","arguments":{"batch":"b1"},` + stateless(tasksExtension)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + call + `}}`)
	frame := p.want(`"id":1`, `"resultType":"input_required"`, `"who":`)
	p.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{` + call + `,"requestState":"` + field(t, frame, "result", "requestState") +
		`","inputResponses":{"who":{"action":"accept","content":{"name":"Ada"}}}}}`)
	task := field(t, p.want(`"id":2`, `"resultType":"task"`, `"ttlMs":`, `"status":"working"`), "result", "taskId")
	p.send(`{"jsonrpc":"2.0","id":"listen","method":"subscriptions/listen","params":{"notifications":{"taskIds":["` + task + `"]},` + stateless(tasksExtension) + `}}`)
	for frame = p.want(); !strings.Contains(frame, `"status":"completed"`); {
		frame = p.want() // the acknowledgement, and that it is working
	}
	p.send(`{"jsonrpc":"2.0","id":3,"method":"tasks/get","params":{"taskId":"` + task + `",` + stateless(tasksExtension) + `}}`)
	frame = p.want(`"id":3`, `"resultType":"complete"`)
	if !strings.Contains(frame, `"status":"completed"`) || !strings.Contains(frame, "Ada posted b1") {
		t.Errorf("tasks/get: %s", frame)
	}
	p.send(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"post_ledger","arguments":{"batch":"b1"},` + stateless(`{}`) + `}}`)
	p.want(`"id":4`, `-32021`, `"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}`)
	p.send(`{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"test://none",` + stateless(`{}`) + `}}`)
	p.want(`"id":5`, `-32602`, `"uri":"test://none"`)
}

// bookshelf answers every method of the golden.
type bookshelf struct{ subscribed chan string }

func (bookshelf) Summarize(ctx context.Context, call *server.Call, in *library.SummarizeInput) (*library.CallToolResult, error) {
	message := library.SamplingMessage{Role: library.RoleUser, Content: &library.TextContent{Text: in.Text}}
	said, err := library.CreateMessage(ctx, call, "summary", &library.CreateMessageRequestParams{MaxTokens: 10, Messages: []library.SamplingMessage{message}})
	if err != nil {
		return nil, err
	}
	roots, err := library.ListRoots(ctx, call, "where")
	if err != nil {
		return nil, err
	}
	return library.TextResult(said.Model + " at " + roots.Roots[0].URI), nil
}

func (bookshelf) Complete(_ context.Context, _ *server.Call, in *library.CompleteRequestParams) (*library.CompleteResult, error) {
	return &library.CompleteResult{Completion: library.CompleteResultCompletion{Values: []string{in.Argument.Value + "!"}}}, nil
}

func (bookshelf) GetPrompt(_ context.Context, _ *server.Call, in *library.GetPromptRequestParams) (*library.GetPromptResult, error) {
	return &library.GetPromptResult{Messages: []library.PromptMessage{{Role: library.RoleUser, Content: &library.TextContent{Text: in.Name}}}}, nil
}

func (bookshelf) ListPrompts(context.Context, *server.Call, *library.PaginatedRequestParams) (*library.ListPromptsResult, error) {
	return &library.ListPromptsResult{Prompts: []library.Prompt{{Name: "p"}}, TTLMs: check.Some[int64](1234)}, nil
}

func (bookshelf) ListResources(context.Context, *server.Call, *library.PaginatedRequestParams) (*library.ListResourcesResult, error) {
	return &library.ListResourcesResult{Resources: []library.Resource{}}, nil
}

func (bookshelf) ListResourceTemplates(context.Context, *server.Call, *library.PaginatedRequestParams) (*library.ListResourceTemplatesResult, error) {
	return &library.ListResourceTemplatesResult{}, nil
}

func (bookshelf) ReadResource(_ context.Context, _ *server.Call, in *library.ReadResourceRequestParams) (*library.ReadResourceResult, error) {
	return nil, &server.ResourceError{URI: in.URI}
}

func (b bookshelf) Subscribe(_ context.Context, _ *server.Call, in *library.SubscribeRequestParams) error {
	b.subscribed <- in.URI
	return nil
}

func (bookshelf) Unsubscribe(context.Context, *server.Call, *library.UnsubscribeRequestParams) error {
	return nil
}

// TestREV01MethodsInBothRevisions: one handler each, and each revision's own members in the answer.
func TestREV01MethodsInBothRevisions(t *testing.T) {
	h := bookshelf{make(chan string, 1)}
	srv, err := library.New(h)
	p := serveCapable(t, srv, err, `{"sampling":{},"roots":{},"elicitation":{}}`,
		`"completions":{}`, `"logging":{}`, `"prompts":{"listChanged":true}`, `"resources":{"listChanged":true,"subscribe":true}`)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`)
	if frame := p.want(`"id":1`, `"prompts":[{"name":"p"}]`); strings.Contains(frame, "ttlMs") {
		t.Errorf("2025-11-25 has no ttlMs: %s", frame)
	}
	p.send(`{"jsonrpc":"2.0","id":2,"method":"prompts/list","params":{` + stateless(`{}`) + `}}`)
	p.want(`"id":2`, `"ttlMs":1234`, `"cacheScope":`, `"resultType":"complete"`, `serverInfo`)
	p.send(`{"jsonrpc":"2.0","id":3,"method":"prompts/get","params":{"name":"hello"}}`)
	p.want(`"id":3`, `"text":"hello"`)
	p.send(`{"jsonrpc":"2.0","id":4,"method":"prompts/get","params":{}}`)
	p.want(`"id":4`, `-32602`, `/name`)
	p.send(`{"jsonrpc":"2.0","id":5,"method":"resources/subscribe","params":{"uri":"test://a"}}`)
	p.want(`"id":5`, `"result":{}`)
	if got := <-h.subscribed; got != "test://a" {
		t.Errorf("subscribed to %s", got)
	}
	srv.ResourceUpdated("test://b")
	srv.ResourceUpdated("test://a")
	p.want(`"method":"notifications/resources/updated"`, `"uri":"test://a"`)
	p.send(`{"jsonrpc":"2.0","id":6,"method":"resources/subscribe","params":{"uri":"test://a",` + stateless(`{}`) + `}}`)
	p.want(`"id":6`, `-32601`)
	p.send(`{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"test://none"}}`)
	p.want(`"id":7`, `-32002`)
	p.send(`{"jsonrpc":"2.0","id":8,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"v"}}}`)
	p.want(`"id":8`, `"values":["v!"]`)

	p.send(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"summarize","arguments":{"text":"long"}}}`)
	asked := p.want(`"method":"sampling/createMessage"`, `"maxTokens":10`, `"text":"long"`)
	p.send(`{"jsonrpc":"2.0","id":` + id(t, asked) + `,"result":{"role":"assistant","model":"m1","content":{"type":"text","text":"short"}}}`)
	asked = p.want(`"method":"roots/list"`)
	p.send(`{"jsonrpc":"2.0","id":` + id(t, asked) + `,"result":{"roots":[{"uri":"file:///r"}]}}`)
	p.want(`"id":9`, `m1 at file:///r`)
}

// futureHandlers are written once, for revisions that there are and one that there is not yet.
type futureHandlers struct{}

func (futureHandlers) ImportOrders(_ context.Context, _ *future.ImportOrdersCall, in *future.ImportOrdersInput) (*future.CallToolResult, error) {
	return future.TextResult("imported " + in.Source), nil
}

func (futureHandlers) CountOrders(context.Context, *server.Call, *future.CountOrdersInput) (*future.CountOrdersOutput, error) {
	return &future.CountOrdersOutput{Count: 3}, nil
}

// TestREV04ANewRevisionIsServed with the names of its own folder, beside the older ones, without code for it.
func TestREV04ANewRevisionIsServed(t *testing.T) {
	srv, err := future.New(futureHandlers{})
	p := open(t, srv, err)
	meta := strings.ReplaceAll(stateless(tasksExtension), "2026-07-28", "2027-01-01")
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`)
	p.want(`"id":1`, `"lifetimeMs":`, `"resultType":"complete"`)
	p.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"import_orders","arguments":{"source":"a"},` + meta + `}}`)
	p.want(`"id":2`, `"resultType":"task"`, `"lifetimeMs":`)
	p.send(`{"jsonrpc":"2.0","id":3,"method":"tasks/update","params":{"taskId":"t","inputResponses":{},` + meta + `}}`)
	p.want(`"id":3`, `-32601`)
	p.send(`{"jsonrpc":"2.0","id":4,"method":"tasks/answer","params":{"taskId":"t","inputResponses":{},` + meta + `}}`)
	p.want(`"id":4`, `-32602`)
	p.send(`{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{` + stateless(`{}`) + `}}`)
	p.want(`"id":5`, `"ttlMs":`)
}

type prompterHandlers struct{ bookshelf }

func (prompterHandlers) ListPrompts(context.Context, *server.Call, *prompter.PaginatedRequestParams) (*prompter.ListPromptsResult, error) {
	return &prompter.ListPromptsResult{}, nil
}

func (prompterHandlers) GetPrompt(context.Context, *server.Call, *prompter.GetPromptRequestParams) (*prompter.GetPromptResult, error) {
	return &prompter.GetPromptResult{}, nil
}

// TestDiscoverWithoutTools: what is declared is what there is, and the server says of itself what the manifest says.
func TestDiscoverWithoutTools(t *testing.T) {
	srv, err := prompter.New(prompterHandlers{})
	p := open(t, srv, err)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + stateless(`{}`) + `}}`)
	frame := p.want(`"prompts":{"listChanged":true}`, `"logging":{}`,
		`{"name":"prompter","title":"Prompter","version":"1.0.0","description":"Says `+"`what`"+` to say.","websiteUrl":"https://example.com/q","icons":[{"src":"data:,"}]}`)
	if strings.Contains(frame, `"tools"`) {
		t.Errorf("tools are declared: %s", frame)
	}
	p.send(`{"jsonrpc":"2.0","id":2,"method":"prompts/list","params":{` + stateless(`{}`) + `}}`)
	p.want(`"id":2`, `"prompts":[]`)
}
