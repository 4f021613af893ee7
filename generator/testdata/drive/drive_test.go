// Package drive calls generated servers as a client does: over a connection, in the protocol's own words. It is
// compiled in a module of its own, beside the packages that the goldens make.
package drive

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	survey "example.com/goldens/questions"
	"example.com/goldens/reports"
	greeter "example.com/goldens/unstructured"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

type peer struct {
	*testing.T
	conn rpc.Conn
}

func serve(t *testing.T, srv *server.Server, err error) *peer {
	t.Helper()
	return serveClient(t, srv, err, `{"elicitation":{}}`)
}

func serveClient(t *testing.T, srv *server.Server, err error, capabilities string) *peer {
	t.Helper()
	return serveCapable(t, srv, err, capabilities, `"tools":{"listChanged":true}`)
}

// serveCapable performs the handshake; the answer to it must contain each of declared.
func serveCapable(t *testing.T, srv *server.Server, err error, capabilities string, declared ...string) *peer {
	t.Helper()
	p := open(t, srv, err)
	p.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` + capabilities + `,"clientInfo":{"name":"t","version":"1"}}}`)
	p.want(append(declared, `"protocolVersion":"2025-11-25"`)...)
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return p
}

// id is the id of a request of the server's, as it was written.
func id(t *testing.T, frame string) string {
	t.Helper()
	var request struct{ ID json.RawMessage }
	if err := json.Unmarshal([]byte(frame), &request); err != nil {
		t.Fatal(err)
	}
	return string(request.ID)
}

func (p *peer) send(frame string) {
	p.Helper()
	if err := p.conn.WriteFrame([]byte(frame)); err != nil {
		p.Fatal(err)
	}
}

// want reads the next frame, which must contain each part.
func (p *peer) want(parts ...string) string {
	p.Helper()
	frame, err := p.conn.ReadFrame(nil)
	if err != nil {
		p.Fatal(err)
	}
	for _, part := range parts {
		if !strings.Contains(string(frame), part) {
			p.Fatalf("no %s in %s", part, frame)
		}
	}
	return string(frame)
}

func field(t *testing.T, frame string, path ...string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(frame), &v); err != nil {
		t.Fatal(err)
	}
	for _, step := range path {
		v = v.(map[string]any)[step]
	}
	s, _ := v.(string)
	return s
}

type reportHandlers struct{ waiting chan struct{} }

func (h reportHandlers) GetQuote(ctx context.Context, _ *server.Call, in *reports.GetQuoteInput) (*reports.GetQuoteOutput, error) {
	if in.Symbol == "SLOW" {
		close(h.waiting)
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	return &reports.GetQuoteOutput{Price: 12.5}, nil
}

func (h reportHandlers) BuildReport(ctx context.Context, _ *server.Call, in *reports.BuildReportInput) (*reports.BuildReportOutput, error) {
	if in.Title == "endless" {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	return &reports.BuildReportOutput{URL: "https://example.com/" + in.Title}, nil
}

func (h reportHandlers) ImportOrders(ctx context.Context, call *reports.ImportOrdersCall, _ *reports.ImportOrdersInput) (*reports.ImportOrdersOutput, error) {
	answer, err := call.ConfirmOverwrite(ctx, "")
	if err != nil {
		return nil, err
	}
	if !answer.Accepted() || !answer.Value.Overwrite {
		return nil, errors.New("nothing imported")
	}
	return &reports.ImportOrdersOutput{Imported: 3}, nil
}

func (h reportHandlers) PostLedger(context.Context, *server.Call, *reports.PostLedgerInput) (*reports.PostLedgerOutput, error) {
	return &reports.PostLedgerOutput{Posted: true}, nil
}

func TestReports(t *testing.T) {
	h := reportHandlers{make(chan struct{})}
	srv, err := reports.New(h)
	p := serve(t, srv, err)

	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	p.want(`"name":"get_quote"`, `"taskSupport":"required"`, `"$defs":{"BatchID"`)

	p.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_quote","arguments":{"symbol":"ACME"}}}`)
	p.want(`"id":2`, `"structuredContent":{"price":12.5}`)
	p.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"post_ledger","arguments":{"batchId":"nonsense"}}}`)
	p.want(`"id":3`, `"isError":true`, "/batchId")
	p.send(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"build_report","arguments":{"title":"a"}}}`)
	p.want(`"id":4`, `-32601`)

	p.send(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"get_quote","arguments":{"symbol":"SLOW"}}}`)
	<-h.waiting
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5,"reason":"enough"}}`)
	p.send(`{"jsonrpc":"2.0","id":6,"method":"ping"}`)
	p.want(`"id":6`)
}

func TestReportTasks(t *testing.T) {
	srv, err := reports.New(reportHandlers{})
	p := serve(t, srv, err)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"build_report","arguments":{"title":"q3"},"task":{"ttl":60000}}}`)
	id := field(t, p.want(`"ttl":60000`, `"pollInterval":2000`, `"status":"working"`), "result", "task", "taskId")
	p.send(`{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":{"taskId":"` + id + `"}}`)
	frame := p.want()
	for !strings.Contains(frame, `"id":2`) {
		frame = p.want() // status notifications
	}
	if !strings.Contains(frame, `"url":"https://example.com/q3"`) || !strings.Contains(frame, `{"io.modelcontextprotocol/related-task":{"taskId":"`+id) {
		t.Errorf("tasks/result: %s", frame)
	}
	p.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"build_report","arguments":{"title":"endless"},"task":{}}}`)
	for frame = p.want(); !strings.Contains(frame, `"id":3`); {
		frame = p.want()
	}
	id = field(t, frame, "result", "task", "taskId")
	p.send(`{"jsonrpc":"2.0","id":4,"method":"tasks/cancel","params":{"taskId":"` + id + `"}}`)
	for frame = p.want(); !strings.Contains(frame, `"id":4`); {
		frame = p.want()
	}
	if field(t, frame, "result", "status") != "cancelled" {
		t.Errorf("tasks/cancel: %s", frame)
	}
}

func TestReportQuestion(t *testing.T) {
	srv, err := reports.New(reportHandlers{})
	p := serve(t, srv, err)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"import_orders","arguments":{"source":"x"}}}`)
	question := p.want(`"method":"elicitation/create"`, `"mode":"form"`, `"message":"Overwrite existing orders?"`, `"requestedSchema":{"type":"object"`)
	p.send(`{"jsonrpc":"2.0","id":` + id(t, question) + `,"result":{"action":"accept","content":{"overwrite":true}}}`)
	p.want(`"id":1`, `"structuredContent":{"imported":3}`)
}

type surveyHandlers struct{ t *testing.T }

func (h surveyHandlers) Ask(ctx context.Context, call *survey.AskCall, _ *survey.AskInput) (*survey.AskOutput, error) {
	size, err := call.Size(ctx, "")
	if err != nil {
		return nil, err
	}
	if want := (survey.AskSize{Size: survey.AskSizeSizeLarge, Copies: 2, Ratio: 0.5, Gift: true}); size.Value != want {
		h.t.Errorf("default answer %+v, want %+v", size.Value, want)
	}
	_, err = call.Contact(ctx, "")
	return &survey.AskOutput{Done: errors.Is(err, server.ErrUnsupported)}, nil
}

// TestQuestionsWithoutAnyoneToAsk calls with a client that can not ask: the default is taken, the other fails.
func TestQuestionsWithoutAnyoneToAsk(t *testing.T) {
	srv, err := survey.New(surveyHandlers{t})
	p := serveClient(t, srv, err, `{}`)
	p.send(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"ask","arguments":{}}}`)
	p.want(`"id":9`, `"structuredContent":{"done":true}`)
}

type greeterHandlers struct{}

func (greeterHandlers) Greet(_ context.Context, _ *server.Call, in *greeter.GreetInput) (*greeter.CallToolResult, error) {
	return greeter.TextResult("Hello, " + in.Name.Or("you")), nil
}

func TestUnstructured(t *testing.T) {
	srv, err := greeter.New(greeterHandlers{})
	p := serve(t, srv, err)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Ada"}}}`)
	p.want(`"content":[{"text":"Hello, Ada","type":"text"}]`)
}
