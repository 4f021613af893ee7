package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/streamhttp"

	"github.com/mcpkiln/mcpkiln/testdata/conformance/server/kiln"
)

// handlers do what the suite asks of each tool, and no more.
type handlers struct {
	srv *server.Server // set before it serves
}

var _ kiln.Handlers = (*handlers)(nil)

type (
	call   = *server.Call
	result = *kiln.CallToolResult
)

// The smallest image and sound that are what they say.
var (
	pixel   = unbase64("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	silence = unbase64("UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=")
)

func unbase64(text string) []byte {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return b
}

func (h *handlers) TestSimpleText(context.Context, call, *kiln.TestSimpleTextInput) (result, error) {
	return kiln.TextResult("This is a simple text response for testing."), nil
}

func (h *handlers) TestImageContent(context.Context, call, *kiln.TestImageContentInput) (result, error) {
	return content(image()), nil
}

func (h *handlers) TestAudioContent(context.Context, call, *kiln.TestAudioContentInput) (result, error) {
	return content(&kiln.AudioContent{Data: silence, MIMEType: "audio/wav"}), nil
}

func (h *handlers) TestEmbeddedResource(context.Context, call, *kiln.TestEmbeddedResourceInput) (result, error) {
	return content(embedded("test://embedded-resource")), nil
}

func (h *handlers) TestMultipleContentTypes(context.Context, call, *kiln.TestMultipleContentTypesInput) (result, error) {
	return content(&kiln.TextContent{Text: "Multiple content types test:"}, image(), embedded("test://mixed-content-resource")), nil
}

func (h *handlers) TestErrorHandling(context.Context, call, *kiln.TestErrorHandlingInput) (result, error) {
	return nil, errors.New("this tool intentionally returns an error for testing")
}

func (h *handlers) TestToolWithProgress(ctx context.Context, c call, _ *kiln.TestToolWithProgressInput) (result, error) {
	for _, done := range []float64{0, 50, 100} {
		c.Progress(ctx, done, 100, "working")
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return nil, err
		}
	}
	return kiln.TextResult("done"), nil
}

func (h *handlers) TestToolWithLogging(ctx context.Context, c call, _ *kiln.TestToolWithLoggingInput) (result, error) {
	return logged(ctx, c)
}

func (h *handlers) TestLoggingTool(ctx context.Context, c call, _ *kiln.TestLoggingToolInput) (result, error) {
	return logged(ctx, c)
}

// logged sends three records, as far apart as the suite wants them.
func logged(ctx context.Context, c call) (result, error) {
	for _, step := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		c.LogMessage(ctx, server.LevelInfo, "conformance", step)
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return nil, err
		}
	}
	return kiln.TextResult("done"), nil
}

func (h *handlers) JSONSchema202012Tool(_ context.Context, _ call, in *kiln.JSONSchema202012ToolInput) (result, error) {
	return kiln.TextResult("contact " + in.Name.Or("nobody")), nil
}

func (h *handlers) TestReconnection(ctx context.Context, _ call, _ *kiln.TestReconnectionInput) (result, error) {
	streamhttp.ClosePolling(ctx)
	return kiln.TextResult("delivered to the client that came back"), pause(ctx, 100*time.Millisecond)
}

func (h *handlers) TestXMCPHeader(_ context.Context, _ call, in *kiln.TestXMCPHeaderInput) (result, error) {
	return kiln.TextResult("region " + in.Region.Or("none")), nil
}

func (h *handlers) TestTriggerToolChange(_ context.Context, _ call, _ *kiln.TestTriggerToolChangeInput) (result, error) {
	h.srv.ToolsChanged()
	return kiln.TextResult("changed"), nil
}

func (h *handlers) TestTriggerPromptChange(_ context.Context, _ call, _ *kiln.TestTriggerPromptChangeInput) (result, error) {
	h.srv.PromptsChanged()
	return kiln.TextResult("changed"), nil
}

func (h *handlers) Greet(_ context.Context, _ call, in *kiln.GreetInput) (result, error) {
	return kiln.TextResult("Hello, " + in.Name + "!"), nil
}

func (h *handlers) SlowCompute(ctx context.Context, _ call, in *kiln.SlowComputeInput) (result, error) {
	if err := pause(ctx, time.Duration(in.Seconds)*time.Second); err != nil {
		return nil, err
	}
	return kiln.TextResult(fmt.Sprintf("%s: computed for %d seconds", in.Label.Or("unnamed"), in.Seconds)), nil
}

func (h *handlers) FailingJob(ctx context.Context, _ call, _ *kiln.FailingJobInput) (result, error) {
	if err := pause(ctx, time.Second); err != nil {
		return nil, err
	}
	return nil, errors.New("the job failed, as it should")
}

func (h *handlers) ProtocolErrorJob(ctx context.Context, _ call, _ *kiln.ProtocolErrorJobInput) (result, error) {
	if err := pause(ctx, 100*time.Millisecond); err != nil {
		return nil, err
	}
	return nil, rpc.Errorf(rpc.CodeInternalError, "the job ended with a protocol error, as it should")
}

func content(blocks ...kiln.ContentBlock) result { return &kiln.CallToolResult{Content: blocks} }

func image() kiln.ContentBlock { return &kiln.ImageContent{Data: pixel, MIMEType: "image/png"} }

func embedded(uri string) kiln.ContentBlock {
	return &kiln.EmbeddedResource{Resource: &kiln.TextResourceContents{URI: uri, MIMEType: check.Some("text/plain"), Text: embeddedText}}
}

const embeddedText = "This is an embedded resource content."

// pause takes its time, or ends with the cause of ctx.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
