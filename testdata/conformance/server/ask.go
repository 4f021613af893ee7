package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/server"

	"github.com/mcpkiln/mcpkiln/testdata/conformance/server/kiln"
)

func (h *handlers) TestSampling(ctx context.Context, c call, in *kiln.TestSamplingInput) (result, error) {
	return sampled(ctx, c, "sample", in.Prompt)
}

func (h *handlers) TestMissingCapability(ctx context.Context, c call, _ *kiln.TestMissingCapabilityInput) (result, error) {
	return sampled(ctx, c, "sample", "Say anything.")
}

func (h *handlers) TestInputRequiredResultSampling(ctx context.Context, c call, _ *kiln.TestInputRequiredResultSamplingInput) (result, error) {
	return sampled(ctx, c, "capital_question", "What is the capital of France?")
}

func (h *handlers) TestElicitation(ctx context.Context, c *kiln.TestElicitationCall, in *kiln.TestElicitationInput) (result, error) {
	answer, err := c.UserInfo(ctx, in.Message)
	return said(answer, err)
}

func (h *handlers) TestElicitationSep1034Defaults(ctx context.Context, c *kiln.TestElicitationSep1034DefaultsCall, _ *kiln.TestElicitationSep1034DefaultsInput) (result, error) {
	answer, err := c.Defaults(ctx, "")
	return said(answer, err)
}

func (h *handlers) TestElicitationSep1330Enums(ctx context.Context, c *kiln.TestElicitationSep1330EnumsCall, _ *kiln.TestElicitationSep1330EnumsInput) (result, error) {
	answer, err := c.Choices(ctx, "")
	return said(answer, err)
}

func (h *handlers) TestStreamingElicitation(ctx context.Context, c *kiln.TestStreamingElicitationCall, _ *kiln.TestStreamingElicitationInput) (result, error) {
	answer, err := c.Confirmation(ctx, "")
	return said(answer, err)
}

func (h *handlers) TestInputRequiredResultElicitation(ctx context.Context, c *kiln.TestInputRequiredResultElicitationCall, _ *kiln.TestInputRequiredResultElicitationInput) (result, error) {
	answer, err := c.UserName(ctx, "")
	return said(answer, err)
}

func (h *handlers) TestInputRequiredResultRequestState(ctx context.Context, c *kiln.TestInputRequiredResultRequestStateCall, _ *kiln.TestInputRequiredResultRequestStateInput) (result, error) {
	answer, err := c.Confirm(ctx, "")
	if err != nil {
		return nil, err
	}
	return kiln.TextResult(fmt.Sprintf("state-ok: %s", answer.Action)), nil
}

func (h *handlers) TestInputRequiredResultTamperedState(ctx context.Context, c *kiln.TestInputRequiredResultTamperedStateCall, _ *kiln.TestInputRequiredResultTamperedStateInput) (result, error) {
	answer, err := c.Confirm(ctx, "")
	return said(answer, err)
}

func (h *handlers) TestInputRequiredResultListRoots(ctx context.Context, c call, _ *kiln.TestInputRequiredResultListRootsInput) (result, error) {
	roots, err := kiln.ListRoots(ctx, c, "client_roots")
	if err != nil {
		return nil, err
	}
	return kiln.TextResult(fmt.Sprintf("%d roots", len(roots.Roots))), nil
}

// TestInputRequiredResultMultipleInputs asks everything at once.
func (h *handlers) TestInputRequiredResultMultipleInputs(ctx context.Context, c *kiln.TestInputRequiredResultMultipleInputsCall, _ *kiln.TestInputRequiredResultMultipleInputsInput) (result, error) {
	err := together(
		func() error { _, err := c.UserName(ctx, ""); return err },
		func() error { _, err := sampled(ctx, c.Call, "greeting", "Write a greeting."); return err },
		func() error { _, err := kiln.ListRoots(ctx, c.Call, "client_roots"); return err },
	)
	if err != nil {
		return nil, err
	}
	return kiln.TextResult("all three answered"), nil
}

func (h *handlers) TestInputRequiredResultMultiRound(ctx context.Context, c *kiln.TestInputRequiredResultMultiRoundCall, _ *kiln.TestInputRequiredResultMultiRoundInput) (result, error) {
	name, err := c.StepOne(ctx, "")
	if err != nil {
		return nil, err
	}
	color, err := c.StepTwo(ctx, "")
	if err != nil {
		return nil, err
	}
	if !name.Accepted() || !color.Accepted() {
		return kiln.TextResult("declined"), nil
	}
	return kiln.TextResult(name.Value.Name + " likes " + color.Value.Color), nil
}

// TestInputRequiredResultCapabilities asks with what the client has: a user, or else a model.
func (h *handlers) TestInputRequiredResultCapabilities(ctx context.Context, c *kiln.TestInputRequiredResultCapabilitiesCall, _ *kiln.TestInputRequiredResultCapabilitiesInput) (result, error) {
	answer, err := c.UserName(ctx, "")
	if err != nil || answer.Accepted() {
		return said(answer, err)
	}
	return sampled(ctx, c.Call, "greeting", "Write a greeting.")
}

func (h *handlers) ConfirmDelete(ctx context.Context, c *kiln.ConfirmDeleteCall, in *kiln.ConfirmDeleteInput) (result, error) {
	answer, err := c.Confirm(ctx, "Delete "+in.Filename+"?")
	if err != nil {
		return nil, err
	}
	if !answer.Accepted() || !answer.Value.Confirm {
		return kiln.TextResult("kept " + in.Filename), nil
	}
	return kiln.TextResult("deleted " + in.Filename), nil
}

func (h *handlers) MultiInput(ctx context.Context, c *kiln.MultiInputCall, _ *kiln.MultiInputInput) (result, error) {
	err := together(
		func() error { _, err := c.First(ctx, ""); return err },
		func() error { _, err := c.Second(ctx, ""); return err },
	)
	if err != nil {
		return nil, err
	}
	return kiln.TextResult("both answered"), nil
}

func (h *handlers) TestToolWithTask(ctx context.Context, c *kiln.TestToolWithTaskCall, _ *kiln.TestToolWithTaskInput) (result, error) {
	answer, err := c.UserName(ctx, "")
	if err != nil {
		return nil, err
	}
	if !answer.Accepted() {
		return kiln.TextResult("Hello, whoever you are!"), nil
	}
	return kiln.TextResult("Hello, " + answer.Value.Name + "!"), nil
}

// sampled lets the client's model answer the prompt.
func sampled(ctx context.Context, c call, name, prompt string) (result, error) {
	answer, err := kiln.CreateMessage(ctx, c, name, &kiln.CreateMessageRequestParams{
		MaxTokens: 100,
		Messages:  []kiln.SamplingMessage{{Role: kiln.RoleUser, Content: &kiln.TextContent{Text: prompt}}},
	})
	if err != nil {
		return nil, err
	}
	if text, ok := answer.Content.(*kiln.TextContent); ok {
		return kiln.TextResult("LLM response: " + text.Text), nil
	}
	return kiln.TextResult("LLM response"), nil
}

// said tells what the user did.
func said[T any](answer server.Answer[T], err error) (result, error) {
	if err != nil {
		return nil, err
	}
	return kiln.TextResult(fmt.Sprintf("User response: %s %+v", answer.Action, answer.Value)), nil
}

// together asks several questions at once and returns the first error.
func together(asks ...func() error) error {
	var wg sync.WaitGroup
	errs := make([]error, len(asks))
	for i, ask := range asks {
		wg.Go(func() { errs[i] = ask() })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
