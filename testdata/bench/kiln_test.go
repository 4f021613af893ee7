package bench

import (
	"context"
	"io"
	"net/http"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/streamhttp"

	"github.com/mcpkiln/mcpkiln/testdata/bench/kiln"
)

// serveKiln serves the tools with the package that mcpkiln generates from mcpkiln.yaml.
func serveKiln(ctx context.Context, r io.ReadCloser, w io.WriteCloser) {
	ctx = server.WithPrincipal(ctx, "bench")
	newKiln().Serve(ctx, rpc.Lines(r, w, r, rpc.LineOptions{}))
}

func newKiln() *server.Server {
	srv, err := kiln.New(kilnHandlers{}, server.WithMaxInFlight(1<<18))
	if err != nil {
		panic(err)
	}
	return srv
}

// httpKiln serves the same over HTTP.
func httpKiln() (handler http.Handler, end func()) {
	h := streamhttp.Handler(newKiln(), streamhttp.WithMaxSessions(1<<16))
	return h, func() { h.Close() }
}

type kilnHandlers struct{}

var _ kiln.Handlers = kilnHandlers{}

func (kilnHandlers) PlaceOrder(context.Context, *server.Call, *kiln.PlaceOrderInput) (*kiln.PlaceOrderOutput, error) {
	return &kiln.PlaceOrderOutput{Accepted: true}, nil
}

func (kilnHandlers) BookTrip(context.Context, *server.Call, *kiln.BookTripInput) (*kiln.CallToolResult, error) {
	return kiln.TextResult("booked"), nil
}

func (kilnHandlers) ImportRecords(context.Context, *server.Call, *kiln.ImportRecordsInput) (*kiln.CallToolResult, error) {
	return kiln.TextResult("imported"), nil
}

func (kilnHandlers) KeepDocument(context.Context, *server.Call, *kiln.KeepDocumentInput) (*kiln.CallToolResult, error) {
	return kiln.TextResult("kept"), nil
}

func (kilnHandlers) ByKind(context.Context, *server.Call, *kiln.ByKindInput) (*kiln.CallToolResult, error) {
	return kiln.TextResult("kept"), nil
}

func (kilnHandlers) ByTag(context.Context, *server.Call, *kiln.ByTagInput) (*kiln.CallToolResult, error) {
	return kiln.TextResult("kept"), nil
}

func (kilnHandlers) ByMembers(context.Context, *server.Call, *kiln.ByMembersInput) (*kiln.CallToolResult, error) {
	return kiln.TextResult("kept"), nil
}

func (kilnHandlers) ByTrial(context.Context, *server.Call, *kiln.ByTrialInput) (*kiln.CallToolResult, error) {
	return kiln.TextResult("kept"), nil
}

func (kilnHandlers) Wait(ctx context.Context, _ *server.Call, _ *kiln.WaitInput) (*kiln.WaitOutput, error) {
	if err := announce(ctx); err != nil {
		return nil, err
	}
	return &kiln.WaitOutput{}, nil
}

func (kilnHandlers) Job(context.Context, *server.Call, *kiln.JobInput) (*kiln.JobOutput, error) {
	return &kiln.JobOutput{}, nil
}

func (kilnHandlers) Report(_ context.Context, _ *server.Call, in *kiln.ReportInput) (*kiln.ReportOutput, error) {
	return &kiln.ReportOutput{Text: textOf(int(in.Bytes))}, nil
}

func (kilnHandlers) Page(_ context.Context, _ *server.Call, in *kiln.PageInput) (*kiln.CallToolResult, error) {
	return kiln.TextResult(textOf(int(in.Bytes))), nil
}
