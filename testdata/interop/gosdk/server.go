package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// pageSize makes tools/list of the server take several pages.
const pageSize = "10"

// ofServer are the checks of the server of the conformance suite.
func ofServer(on target) []check {
	return []check{
		{"the revision is negotiated and what the server can do is declared", on, negotiated},
		{"tools/list is read page by page", on, paged},
		{"tools/call answers", on, called},
		{"violations come back as a tool error that names each of them", on, namesViolations},
		{"a call that is cancelled in flight is never answered", on, cancelledInFlight},
		{"progress arrives before the answer", on, progress},
		{"a question in a call is answered", on, asked},
		{"declining is an answer", on, declined},
		{"a tool asks twice, one after the other", on, askedTwice},
		{"a tool asks the user, the model and for the roots at once", on, askedAll},
		{"prompts, resources and completion are served", on, others},
		{"a changed list is told to who wants to know", on, changed},
	}
}

func negotiated(_ context.Context, s *session) error {
	res := s.InitializeResult()
	if res.ProtocolVersion != s.on.revision {
		return fmt.Errorf("revision %s, want %s", res.ProtocolVersion, s.on.revision)
	}
	c := res.Capabilities
	if c.Tools == nil || c.Prompts == nil || c.Resources == nil || c.Completions == nil {
		return fmt.Errorf("capabilities: %+v", c)
	}
	extension, ok := c.Extensions["io.modelcontextprotocol/tasks"]
	if settings, _ := extension.(map[string]any); ok != (s.on.revision == stateless) || len(settings) > 0 {
		return fmt.Errorf("the tasks extension: %v", c.Extensions)
	}
	return nil
}

func paged(ctx context.Context, s *session) error {
	var names []string
	for tool, err := range s.Tools(ctx, nil) {
		if err != nil {
			return err
		}
		names = append(names, tool.Name)
	}
	if pages := s.wire.count("tools/list"); pages != (len(names)+9)/10 {
		return fmt.Errorf("%d tools in %d pages", len(names), pages)
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != len(names) || !slices.Contains(names, "multi_input") {
		return fmt.Errorf("tools: %v", names)
	}
	return nil
}

func called(ctx context.Context, s *session) error {
	got, err := s.call(ctx, "greet", map[string]any{"name": "Ada"})
	if err == nil && got != "Hello, Ada!" {
		err = fmt.Errorf("greet: %q", got)
	}
	return err
}

func namesViolations(ctx context.Context, s *session) error {
	return refused(ctx, s, "slow_compute", map[string]any{"seconds": -1, "label": 7}, "/seconds", "/label")
}

func cancelledInFlight(ctx context.Context, s *session) error {
	id, err := abandon(ctx, s, "slow_compute", map[string]any{"seconds": 60})
	if err != nil {
		return err
	}
	for range 10 {
		if err := called(ctx, s); err != nil {
			return err
		}
	}
	return unanswered(s, id)
}

func progress(ctx context.Context, s *session) error {
	params := &mcp.CallToolParams{Name: "test_tool_with_progress"}
	params.SetProgressToken("interop")
	if _, err := s.CallTool(ctx, params); err != nil {
		return err
	}
	for _, want := range []float64{0, 50, 100} {
		select {
		case p := <-s.progress:
			if p.Progress != want || p.ProgressToken != "interop" {
				return fmt.Errorf("progress %v of %v, want %v", p.Progress, p.ProgressToken, want)
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func asked(ctx context.Context, s *session) error {
	return s.ask(ctx, "test_elicitation", "Who is there?", "accept", "ada")
}

func declined(ctx context.Context, s *session) error {
	return s.ask(ctx, "test_elicitation", "Who is it then?", "decline")
}

// ask calls a tool that asks the question, once, and tells of the answer in these words.
func (s *session) ask(ctx context.Context, tool, question string, words ...string) error {
	got, err := s.call(ctx, tool, map[string]any{"message": question})
	if err != nil {
		return err
	}
	for _, word := range words {
		if !strings.Contains(got, word) {
			return fmt.Errorf("%q, want %q in it", got, word)
		}
	}
	return s.wasAsked(question)
}

// wasAsked wants exactly these questions, in this order.
func (s *session) wasAsked(questions ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.questions, questions) {
		return fmt.Errorf("asked %q, want %q", s.questions, questions)
	}
	return nil
}

func askedTwice(ctx context.Context, s *session) error {
	got, err := s.call(ctx, "test_input_required_result_multi_round", nil)
	if err != nil {
		return err
	}
	if !strings.Contains(got, "Ada") || !strings.Contains(got, "green") {
		return fmt.Errorf("result %q", got)
	}
	return s.wasAsked("What is your name?", "What is your favorite color?")
}

func askedAll(ctx context.Context, s *session) error {
	got, err := s.call(ctx, "test_input_required_result_multiple_inputs", nil)
	if err == nil && got != "all three answered" {
		err = fmt.Errorf("result %q", got)
	}
	return err
}

func others(ctx context.Context, s *session) error {
	prompt, err := s.GetPrompt(ctx, &mcp.GetPromptParams{Name: "test_prompt_with_arguments", Arguments: map[string]string{"arg1": "one", "arg2": "two"}})
	if err != nil {
		return err
	}
	resource, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: "test://template/42/data"})
	if err != nil {
		return err
	}
	completion, err := s.Complete(ctx, &mcp.CompleteParams{
		Ref:      &mcp.CompleteReference{Type: "ref/prompt", Name: "test_prompt_with_arguments"},
		Argument: mcp.CompleteParamsArgument{Name: "arg1", Value: "par"},
	})
	if err != nil {
		return err
	}
	if len(prompt.Messages) != 1 || !strings.Contains(resource.Contents[0].Text, "42") || len(completion.Completion.Values) != 3 {
		return fmt.Errorf("prompt %+v, resource %+v, completion %+v", prompt, resource, completion)
	}
	return nil
}

func changed(ctx context.Context, s *session) error {
	if _, err := s.call(ctx, "test_trigger_tool_change", nil); err != nil {
		return err
	}
	select {
	case <-s.changed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
