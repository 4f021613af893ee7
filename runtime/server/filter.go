package server

import (
	"context"
	"runtime/debug"
	"strings"
)

// filter reports whether the caller that ctx names may see and use what has that name.
type filter func(ctx context.Context, name string) bool

// WithToolFilter shows and serves tools only to callers for which show returns true. For other callers the tool is not in the list, and calling it is
// calling an unknown tool. ctx says who calls: PrincipalFrom, SessionFrom, and what HTTP middleware put there. show is called where messages are received,
// so it must not wait; it must be safe for concurrent use. A panic in show hides the tool. Call ToolsChanged when its answers change.
func WithToolFilter(show func(ctx context.Context, tool string) bool) Option {
	return func(c *config) { c.toolFilter = show }
}

// WithPromptFilter does for prompts of the registry what WithToolFilter does for tools. Call PromptsChanged when its answers change.
func WithPromptFilter(show func(ctx context.Context, prompt string) bool) Option {
	return func(c *config) { c.promptFilter = show }
}

// WithResourceFilter does the same for resources of the registry and files of trees, by their URI: a resource that is not shown is not listed, not read
// and not subscribed to. A template is listed if show returns true for the template's own text. Call ResourcesChanged when its answers
// change.
func WithResourceFilter(show func(ctx context.Context, uri string) bool) Option {
	return func(c *config) { c.resourceFilter = show }
}

type sessionKey struct{}

// SessionFrom is the session of the caller in the context of a filter, as Call.Session names it; "" without one.
func SessionFrom(ctx context.Context) string {
	name, _ := ctx.Value(sessionKey{}).(string)
	return name
}

// shown returns f for the caller of r; nil: everything is shown.
func (r *request) shown(f filter) func(name string) bool {
	if f == nil {
		return nil
	}
	ctx := context.WithValue(WithPrincipal(r.ownValues(), r.p.who.principal), sessionKey{}, strings.Clone(r.p.session(r.revision)))
	return func(name string) bool { return r.p.s.filterShows(f, ctx, name) }
}

// filterShows calls the filter. The read loop calls it, too, and recovers no panic itself.
func (s *Server) filterShows(f filter, ctx context.Context, name string) (shown bool) {
	defer func() {
		if v := recover(); v != nil {
			s.log.Error("panic", "filtered", name, "panic", v, "stack", string(debug.Stack()))
			shown = false
		}
	}()
	return f(ctx, name)
}

// Shows reports whether a stateless caller, which ctx names, may call the tool. A transport must not reveal tools that are switched off or filtered
// out.
func (s *Server) Shows(ctx context.Context, t *Tool) bool {
	return s.tool(t.Name) == t && (s.cfg.toolFilter == nil || s.filterShows(s.cfg.toolFilter, ctx, t.Name))
}
