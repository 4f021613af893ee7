package server

import (
	"sync/atomic"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

func (r *request) listTools(b []byte) ([]byte, error) {
	const kind = "tools"
	s, rev, t := r.p.s, r.revision, r.p.s.tools.table.Load()
	after, ok := numberIn(&r.params, kind)
	if !ok {
		return nil, errCursor
	}
	shown := r.shown(s.cfg.toolFilter)
	if page := t.page(rev, after); page != nil && shown == nil {
		return append(b, page...), nil
	}
	l := &listing[Tool]{kind: kind, size: s.cfg.pageSize, perCaller: shown != nil, appendEntry: func(b []byte, t *Tool) []byte {
		if !rev.offers(t) || !s.ToolEnabled(t.Name) || shown != nil && !shown(t.Name) {
			return b
		}
		return rev.AppendTool(nextItem(b), t.Definition, t.Execution)
	}}
	scope := s.cfg.cacheScope
	if shown != nil {
		scope = cachePrivate
	}
	l.wrap = func(items []byte, next string) []byte {
		const rest = 512 // bytes, for the other members of most pages
		list := wire.ToolList{Tools: items, NextCursor: next, CacheTTL: wire.MillisOf(s.cfg.cacheTTL), CacheScope: scope, ServerInfo: rev.info}
		return rev.AppendToolList(make([]byte, 0, len(items)+len(rev.info)+rest), &list)
	}
	return append(b, t.list(rev, after, l)...), nil
}

var errCursor = refusedParam(atCursor, "invalid cursor: not one that this server gave")

// emptyList appends an empty list: the answer of a method that a declared capability requires although there is nothing to list.
func (r *request) emptyList(b []byte) ([]byte, error) {
	if r.params.HasCursor {
		return nil, errCursor
	}
	start := len(b)
	b = append(check.AppendString(append(b, '{'), r.method.EmptyList), ":[]}"...)
	return r.complete(b, start)
}

// listScope is the cache scope of a list that a handler gives page by page. All pages have the same one (LET21): once a page is private,
// all are from then on, separately for callers with an identity and for those without.
type listScope struct{ private [2]atomic.Bool }

// oneScope returns the scope for a page whose handler declared a scope, as JSON. If the first page was public and a later one is private, the cursor of
// the later one is refused: the client begins the list again, and gets all of it as private.
func (l *listScope) oneScope(r *request, declared string) (scope string, err error) {
	private := &l.private[0]
	if r.p.who.principal != "" {
		private = &l.private[1]
	}
	if declared == `"`+cachePublic+`"` && !private.Load() {
		return cachePublic, nil
	}
	if private.CompareAndSwap(false, true) && r.params.HasCursor {
		r.p.s.log.Warn("a page of a list is private, the first one was not: the client begins again", "method", r.method.Name)
		return "", errCursor
	}
	return cachePrivate, nil
}
