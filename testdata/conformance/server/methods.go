package main

import (
	"context"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/server"

	"github.com/mcpkiln/mcpkiln/testdata/conformance/server/kiln"
)

func (h *handlers) TestSimplePrompt(context.Context, call) (*server.PromptResult, error) {
	return says(server.Text("This is a simple prompt for testing.")), nil
}

func (h *handlers) TestPromptWithArguments(_ context.Context, _ call, in *kiln.TestPromptWithArgumentsArgs) (*server.PromptResult, error) {
	return says(server.Text("Prompt with arguments: arg1='" + in.Arg1 + "', arg2='" + in.Arg2 + "'")), nil
}

func (h *handlers) CompleteTestPromptWithArgumentsArg1(_ context.Context, _ call, in *server.CompletionRequest) (*server.Completion, error) {
	values := slices.DeleteFunc([]string{"paris", "park", "party"}, func(v string) bool { return !strings.HasPrefix(v, in.Value) })
	return &server.Completion{Values: values}, nil
}

func (h *handlers) TestPromptWithEmbeddedResource(_ context.Context, _ call, in *kiln.TestPromptWithEmbeddedResourceArgs) (*server.PromptResult, error) {
	return says(server.TextResource(in.ResourceURI, "text/plain", embeddedText), server.Text("Please process the embedded resource above.")), nil
}

func (h *handlers) TestPromptWithImage(context.Context, call) (*server.PromptResult, error) {
	return says(server.Image("image/png", pixel), server.Text("Please analyze the image above.")), nil
}

// TestInputRequiredResultPrompt asks the user before it has its text.
func (h *handlers) TestInputRequiredResultPrompt(ctx context.Context, c call) (*server.PromptResult, error) {
	_, err := kiln.Elicit(ctx, c, "user_context", &kiln.ElicitRequestFormParams{
		Message: "What is it about?",
		RequestedSchema: kiln.ElicitRequestFormParamsRequestedSchema{
			Properties: map[string]kiln.PrimitiveSchemaDefinition{"context": &kiln.StringSchema{}},
		},
	})
	if err != nil {
		return nil, err
	}
	return says(server.Text("Here is the prompt.")), nil
}

// says is a prompt of messages of the user.
func says(blocks ...server.Block) *server.PromptResult {
	r := new(server.PromptResult)
	for _, b := range blocks {
		r.Messages = append(r.Messages, server.UserMessage(b))
	}
	return r
}

func (h *handlers) ReadStaticText(context.Context, call) (*server.ResourceContents, error) {
	return server.TextContents("This is the content of test://static-text"), nil
}

func (h *handlers) ReadStaticBinary(context.Context, call) (*server.ResourceContents, error) {
	return server.BlobContents(pixel), nil
}

// ReadWatchedResource reads what clients can subscribe to, and never changes.
func (h *handlers) ReadWatchedResource(context.Context, call) (*server.ResourceContents, error) {
	return server.TextContents("This is the content of test://watched-resource"), nil
}

func (h *handlers) ReadTemplate(_ context.Context, _ call, in *kiln.TemplateVariables) (*server.ResourceContents, error) {
	return server.TextContents(`{"id":"` + in.ID + `","templateTest":true}`), nil
}
