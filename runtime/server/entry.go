package server

import (
	"context"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// EntryPolicy says how requests for a prompt, resource or template of a registry run.
type EntryPolicy struct {
	// Timeout is counted per request (CAN20), without the time in which a question is open; 0 means none.
	Timeout time.Duration
	// MustAsk is as in Tool.
	MustAsk bool
	// ClientCapabilities is as in Tool.
	ClientCapabilities []string
}

func (p *EntryPolicy) isZero() bool {
	return p == nil || p.Timeout == 0 && !p.MustAsk && p.ClientCapabilities == nil
}

// policyOf returns the policy of the entry that a request names, nil for an unknown entry: that is refused later.
func (s *Server) policyOf(m *wire.Method, p *wire.Params) *EntryPolicy {
	switch m.Op {
	case wire.OpGetPrompt:
		if of := s.prompts.get(p.Name); of != nil {
			return &of.Policy
		}
	case wire.OpReadResource:
		if of := s.resources.get(p.URI); of != nil {
			return &of.Policy
		}
		for _, e := range s.templates.table.Load().entries {
			if !e.value.Policy.isZero() && e.value.matches(p.URI) {
				return &e.value.Policy
			}
		}
	}
	return nil
}

func (t *ResourceTemplate) matches(uri string) bool {
	_, ok := t.template.Match(uri)
	return ok
}

// write appends to b the result that a handler returned.
type write func(b []byte) ([]byte, error)

// serveEntry runs the handler of an entry of a registry. Its answer is expected to be as large as the last ones in sizes; run returns the
// function that writes it.
func (r *request) serveEntry(b []byte, sizes *answerSizes, run func(ctx context.Context, call *Call) (write, error)) ([]byte, error) {
	return r.withCall(b, func(b []byte, call *Call) ([]byte, error) {
		var out write
		err := call.runWithinBudgets(r.ctx, sizes, func() (err error) {
			out, err = run(r.ctx, call)
			return err
		})
		if err != nil {
			return b, err
		}
		start := len(b)
		b, err = out(b)
		call.encoded(len(b) - start)
		return b, err
	})
}

// answers reports whether requests of the method have a handler, or a registry.
func (rev *revision) answers(m *wire.Method) bool {
	switch m.Op {
	case wire.OpMethod:
		return rev.handlers[m.Name] != nil
	case wire.OpSubscribe, wire.OpUnsubscribe:
		return rev.handlers[m.Name] != nil || rev.methodOf(wire.OpReadResource) != nil
	case wire.OpListPrompts, wire.OpGetPrompt, wire.OpListResources, wire.OpListTemplates, wire.OpReadResource, wire.OpComplete:
		return true
	}
	return false
}

// openRegistries checks the prompts, resources and templates of the Definition, and fills the registries.
func (s *Server) openRegistries() error {
	d, n := &s.def, len(s.revisions)
	prompts := make([]Prompt, len(d.Prompts))
	for i := range d.Prompts {
		prompts[i] = d.Prompts[i]
		if err := prompts[i].prepare(); err != nil {
			return err
		}
	}
	templates := make([]ResourceTemplate, len(d.Templates))
	for i := range d.Templates {
		templates[i] = d.Templates[i]
		if err := templates[i].prepare(); err != nil {
			return err
		}
	}
	if err := s.tools.open(d.Tools, func(t *Tool) string { return t.Name }, n); err != nil {
		return err
	}
	if err := s.prompts.open(prompts, func(p *Prompt) string { return p.Name }, n); err != nil {
		return err
	}
	if err := s.resources.open(d.Resources, func(r *Resource) string { return r.URI }, n); err != nil {
		return err
	}
	return s.templates.open(templates, func(t *ResourceTemplate) string { return t.URITemplate }, n)
}
