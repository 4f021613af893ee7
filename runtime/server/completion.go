package server

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/uritemplate"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Argument says how an argument of a prompt, or a variable of a resource template, is completed.
type Argument struct {
	Name string
	// Values are what CompleteFrom suggests, if Complete is nil.
	Values []string
	// Complete suggests values. It may be called for each letter that the user types.
	Complete func(ctx context.Context, call *Call, in *CompletionRequest) (*Completion, error)
}

// CompletionRequest is what the user has typed.
type CompletionRequest struct {
	Value string
	// Arguments are the other arguments that have a value already, as the client says. Neither their names nor their values are validated.
	Arguments map[string]string
}

// Completion are suggestions, the best first. At most a hundred are sent; the others are counted.
type Completion struct {
	Values []string
	// Total is how many there are; 0: as many as Values.
	Total int
	// HasMore: there are more than Values, however many.
	HasMore bool
}

// CompleteFrom suggests those of all that begin with what was typed, then those that contain it, whatever their case.
func CompleteFrom(all []string, typed string) *Completion {
	typed = strings.ToLower(typed)
	var begin, within []string
	for _, v := range all {
		switch lower := strings.ToLower(v); {
		case strings.HasPrefix(lower, typed):
			begin = append(begin, v)
		case strings.Contains(lower, typed):
			within = append(within, v)
		}
	}
	return &Completion{Values: append(begin, within...)}
}

// maxSuggestions is how many the protocol allows in one answer.
const maxSuggestions = 100

func (r *request) completeArgument(b []byte) ([]byte, error) {
	argument, err := r.argument()
	if err != nil {
		return nil, err
	}
	return r.serveEntry(b, &r.p.s.completionSizes, func(ctx context.Context, call *Call) (write, error) {
		out, err := r.suggest(ctx, call, argument)
		if err = call.returned(err); err != nil {
			return nil, err
		}
		return func(b []byte) ([]byte, error) { return r.revision.appendCompletion(b, out) }, nil
	})
}

// argument finds what is completed; nil for an argument that has no suggestions.
func (r *request) argument() (*Argument, error) {
	s, p := r.p.s, &r.params
	var of []Argument
	var names []string
	what := ""
	prompt, template := s.prompts.find(p.Name), s.templates.find(p.URI)
	if prompt != nil && !r.shows(s.cfg.promptFilter, p.Name) {
		prompt = nil
	}
	if template != nil && !r.shows(s.cfg.resourceFilter, p.URI) {
		template = nil
	}
	switch {
	case p.Name != "" && prompt == nil:
		return nil, withParam(r.revision.Codes.PromptNotFound, atPromptName, "unknown prompt %s", rpc.Quoted(p.Name))
	case prompt != nil:
		of, names, what = prompt.Arguments, prompt.arguments, "prompt "+rpc.Quoted(p.Name)
	case template != nil:
		for _, v := range template.template.Variables() {
			names = append(names, v.Name)
		}
		of, what = template.Arguments, "template "+rpc.Quoted(p.URI)
	case p.URI == "":
		return nil, refusedParam(atReference, "it refers to nothing: its name or URI is empty")
	default:
		return nil, refusedParam(atTemplateURI, "unknown resource template %s", rpc.Quoted(p.URI))
	}
	if i := slices.IndexFunc(of, func(a Argument) bool { return a.Name == p.Argument }); i >= 0 {
		return &of[i], nil
	}
	if !slices.Contains(names, p.Argument) {
		return nil, refusedParam(atArgumentName, "the %s has no argument %s", what, rpc.Quoted(p.Argument))
	}
	return nil, nil
}

// find is get for a key that a reference may lack.
func (r *registry[T]) find(key string) *T {
	if key == "" {
		return nil
	}
	return r.get(key)
}

func (r *request) suggest(ctx context.Context, call *Call, a *Argument) (*Completion, error) {
	switch {
	case a == nil:
		return &Completion{}, nil
	case a.Complete == nil:
		return CompleteFrom(a.Values, r.params.Value), nil
	}
	in := &CompletionRequest{Value: strings.Clone(r.params.Value)}
	if len(r.params.Arguments) > 0 {
		if err := json.Unmarshal(r.params.Arguments, &in.Arguments); err != nil {
			return nil, invalidInput(fmt.Errorf("the other arguments are no object of strings: %w", err))
		}
	}
	return a.Complete(ctx, call, in)
}

func (rev *revision) appendCompletion(b []byte, out *Completion) ([]byte, error) {
	if out == nil {
		return b, &outputError{errNoOutput}
	}
	c := wire.Completion{Values: out.Values, Total: float64(out.Total), HasMore: out.HasMore, ServerInfo: rev.resultInfo}
	if n := len(out.Values); n > maxSuggestions {
		c.Values, c.Total, c.HasMore = out.Values[:maxSuggestions], float64(max(n, out.Total)), true
	}
	return rev.AppendCompletion(b, &c), nil
}

// prepare checks a prompt of the Definition, and finds the names of its arguments.
func (p *Prompt) prepare() (err error) {
	if p.Handler.get == nil {
		return fmt.Errorf("server: prompt %q has no handler", p.Name)
	}
	if err := check.Valid([]byte(p.Definition), check.Limits{}); err != nil {
		return fmt.Errorf("server: the definition of prompt %q is not JSON: %w", p.Name, err)
	}
	if p.arguments, err = promptNames(p.Definition); err != nil {
		return fmt.Errorf("server: the definition of prompt %q: %w", p.Name, err)
	}
	return nil
}

func (t *ResourceTemplate) prepare() (err error) {
	if t.template, err = uritemplate.Parse(t.URITemplate); err != nil {
		return fmt.Errorf("server: resource template %q: %w", t.URITemplate, err)
	}
	return nil
}
