package server

import (
	"context"
	"runtime/debug"
	"strings"
)

// filter reports whether a caller, whom ctx names, is shown and served what has that name.
type filter func(ctx context.Context, name string) bool

// WithToolFilter shows and serves tools to some callers alone: those of whom show returns true. Others do not see the tool in the list, and
// a call of it is one of an unknown tool. ctx says who calls: PrincipalFrom, SessionFrom, and what HTTP middleware put there. show is
// asked where messages are received, so it must not wait; it is safe for concurrent use. One that panics shows nothing. Whoever changes its answers calls ToolsChanged.
func WithToolFilter(show func(ctx context.Context, tool string) bool) Option {
	return func(c *config) { c.toolFilter = show }
}

// WithPromptFilter does for prompts of the registry what WithToolFilter does for tools. Whoever changes its answers calls PromptsChanged.
func WithPromptFilter(show func(ctx context.Context, prompt string) bool) Option {
	return func(c *config) { c.promptFilter = show }
}

// WithResourceFilter does the same for resources of the registry and files of trees, by their URI: one that is not shown is not listed, not
// read and not subscribed to. A template is listed if show is true of the template as it is written. Whoever changes its answers calls
// ResourcesChanged.
func WithResourceFilter(show func(ctx context.Context, uri string) bool) Option {
	return func(c *config) { c.resourceFilter = show }
}

type sessionKey struct{}

// SessionFrom is the session of the caller in the context of a filter, as Call.Session names it; "" without one.
func SessionFrom(ctx context.Context) string {
	name, _ := ctx.Value(sessionKey{}).(string)
	return name
}

// shown is the filter for the caller of r; nil: everything is shown.
func (r *request) shown(f filter) func(name string) bool {
	if f == nil {
		return nil
	}
	ctx := context.WithValue(WithPrincipal(r.ownValues(), r.p.principal), sessionKey{}, strings.Clone(r.p.session(r.revision)))
	return func(name string) bool { return r.p.s.passes(f, ctx, name) }
}

// passes asks the filter. Who reads messages does so, too, and nothing there takes care of a panic.
func (s *Server) passes(f filter, ctx context.Context, name string) (shown bool) {
	defer func() {
		if v := recover(); v != nil {
			s.log.Error("panic", "filtered", name, "panic", v, "stack", string(debug.Stack()))
			shown = false
		}
	}()
	return f(ctx, name)
}

// Shows reports whether a stateless caller, whom ctx names, is served the tool. A transport says nothing of those that are switched off or
// filtered out.
func (s *Server) Shows(ctx context.Context, t *Tool) bool {
	return s.tool(t.Name) == t && (s.cfg.toolFilter == nil || s.passes(s.cfg.toolFilter, ctx, t.Name))
}
