package main

import (
	"context"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"

	"github.com/mcpkiln/mcpkiln/testdata/conformance/server/kiln"
)

func (h *handlers) ListPrompts(context.Context, call, *kiln.PaginatedRequestParams) (*kiln.ListPromptsResult, error) {
	argument := func(name string) kiln.PromptArgument {
		return kiln.PromptArgument{Name: name, Description: check.Some("an argument"), Required: check.Some(true)}
	}
	prompt := func(name string, args ...kiln.PromptArgument) kiln.Prompt {
		return kiln.Prompt{Name: name, Description: check.Some("a prompt of the conformance suite"), Arguments: args}
	}
	return &kiln.ListPromptsResult{Prompts: []kiln.Prompt{
		prompt("test_simple_prompt"),
		prompt("test_prompt_with_arguments", argument("arg1"), argument("arg2")),
		prompt("test_prompt_with_embedded_resource", argument("resourceUri")),
		prompt("test_prompt_with_image"),
		prompt("test_input_required_result_prompt"),
	}}, nil
}

func (h *handlers) GetPrompt(ctx context.Context, c call, params *kiln.GetPromptRequestParams) (*kiln.GetPromptResult, error) {
	switch params.Name {
	case "test_simple_prompt":
		return messages(text("This is a simple prompt for testing.")), nil
	case "test_prompt_with_arguments":
		return messages(text("Prompt with arguments: arg1='" + params.Arguments["arg1"] + "', arg2='" + params.Arguments["arg2"] + "'")), nil
	case "test_prompt_with_embedded_resource":
		return messages(embedded(params.Arguments["resourceUri"]), text("Please process the embedded resource above.")), nil
	case "test_prompt_with_image":
		return messages(image(), text("Please analyze the image above.")), nil
	case "test_input_required_result_prompt":
		return askedPrompt(ctx, c)
	}
	return nil, rpc.Errorf(rpc.CodeInvalidParams, "no prompt %q", params.Name)
}

// askedPrompt asks the user before it has its text.
func askedPrompt(ctx context.Context, c call) (*kiln.GetPromptResult, error) {
	_, err := kiln.Elicit(ctx, c, "user_context", &kiln.ElicitRequestFormParams{
		Message: "What is it about?",
		RequestedSchema: kiln.ElicitRequestFormParamsRequestedSchema{
			Properties: map[string]kiln.PrimitiveSchemaDefinition{"context": &kiln.StringSchema{}},
		},
	})
	if err != nil {
		return nil, err
	}
	return messages(text("Here is the prompt.")), nil
}

func messages(blocks ...kiln.ContentBlock) *kiln.GetPromptResult {
	r := &kiln.GetPromptResult{}
	for _, b := range blocks {
		r.Messages = append(r.Messages, kiln.PromptMessage{Role: kiln.RoleUser, Content: b})
	}
	return r
}

func text(s string) kiln.ContentBlock { return &kiln.TextContent{Text: s} }

func (h *handlers) ListResources(context.Context, call, *kiln.PaginatedRequestParams) (*kiln.ListResourcesResult, error) {
	resource := func(name, mime string) kiln.Resource {
		return kiln.Resource{URI: "test://" + name, Name: name, Description: check.Some("a resource of the conformance suite"), MIMEType: check.Some(mime)}
	}
	return &kiln.ListResourcesResult{Resources: []kiln.Resource{
		resource("static-text", "text/plain"), resource("static-binary", "image/png"), resource("watched-resource", "text/plain"),
	}}, nil
}

func (h *handlers) ListResourceTemplates(context.Context, call, *kiln.PaginatedRequestParams) (*kiln.ListResourceTemplatesResult, error) {
	return &kiln.ListResourceTemplatesResult{ResourceTemplates: []kiln.ResourceTemplate{{
		URITemplate: "test://template/{id}/data", Name: "template", Description: check.Some("a resource for each id"), MIMEType: check.Some("application/json"),
	}}}, nil
}

func (h *handlers) ReadResource(_ context.Context, _ call, params *kiln.ReadResourceRequestParams) (*kiln.ReadResourceResult, error) {
	if id, ok := templateID(params.URI); ok {
		return contents(textResource(params.URI, "application/json", `{"id":"`+id+`","templateTest":true}`)), nil
	}
	switch params.URI {
	case "test://static-text", "test://watched-resource":
		return contents(textResource(params.URI, "text/plain", "This is the content of "+params.URI)), nil
	case "test://static-binary":
		return contents(&kiln.BlobResourceContents{URI: params.URI, MIMEType: check.Some("image/png"), Blob: pixel}), nil
	}
	return nil, &server.ResourceError{URI: params.URI}
}

// templateID is the id in test://template/{id}/data.
func templateID(uri string) (string, bool) {
	rest, ok := strings.CutPrefix(uri, "test://template/")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(rest, "/data")
}

func contents(c ...kiln.ReadResourceResultContent) *kiln.ReadResourceResult {
	return &kiln.ReadResourceResult{Contents: c}
}

func textResource(uri, mime, text string) *kiln.TextResourceContents {
	return &kiln.TextResourceContents{URI: uri, MIMEType: check.Some(mime), Text: text}
}

// Subscribe and Unsubscribe have nothing to do: the watched resource never changes.
func (h *handlers) Subscribe(context.Context, call, *kiln.SubscribeRequestParams) error { return nil }

func (h *handlers) Unsubscribe(context.Context, call, *kiln.UnsubscribeRequestParams) error {
	return nil
}

func (h *handlers) Complete(_ context.Context, _ call, params *kiln.CompleteRequestParams) (*kiln.CompleteResult, error) {
	var values []string
	for _, v := range []string{"paris", "park", "party"} {
		if strings.HasPrefix(v, params.Argument.Value) {
			values = append(values, v)
		}
	}
	return &kiln.CompleteResult{Completion: kiln.CompleteResultCompletion{Values: values}}, nil
}
