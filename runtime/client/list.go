package client

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"iter"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// ListTools returns the definitions of all tools, page by page. It ends with the first error. Nothing verifies what a definition says of its
// tool, such as its annotations.
func (s *Session) ListTools(ctx context.Context, opts ...CallOption) iter.Seq2[json.RawMessage, error] {
	return s.list(ctx, wire.OpListTools, opts)
}

// ListPrompts returns the definitions of all prompts.
func (s *Session) ListPrompts(ctx context.Context, opts ...CallOption) iter.Seq2[json.RawMessage, error] {
	return s.list(ctx, wire.OpListPrompts, opts)
}

// ListResources returns the descriptions of all resources that the server lists.
func (s *Session) ListResources(ctx context.Context, opts ...CallOption) iter.Seq2[json.RawMessage, error] {
	return s.list(ctx, wire.OpListResources, opts)
}

// ListTemplates returns the resource templates.
func (s *Session) ListTemplates(ctx context.Context, opts ...CallOption) iter.Seq2[json.RawMessage, error] {
	return s.list(ctx, wire.OpListTemplates, opts)
}

// Limits of a list: a server decides how long it is.
const (
	maxPages      = 10_000
	maxListFrames = 4  // how many messages of the largest size (WithMaxFrame) all its pages have room in
	itemSize      = 32 // bytes that an item takes beside its text
)

// list reads a list from the cache, or page by page.
func (s *Session) list(ctx context.Context, op wire.Op, opts []CallOption) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		kept, epoch, ok := s.cache.get(op)
		if ok {
			for _, item := range kept {
				if !yield(item, nil) {
					return
				}
			}
			return
		}
		p := &pages{s: s, op: op, opts: opts, seen: map[[sha256.Size]byte]bool{}}
		for range maxPages {
			items, err := p.next(ctx)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if p.cursor == nil {
				if op == wire.OpListTools {
					s.tools.replace(&p.tools)
				}
				s.cache.put(op, p.all, p.expires, epoch)
				return
			}
		}
		yield(nil, broken(string(p.method), "the list has more than %d pages", maxPages))
	}
}

// pages reads a list page by page.
type pages struct {
	s       *Session
	op      wire.Op
	opts    []CallOption
	method  string
	cursor  []byte                     // of the next page, nil: there is none; "" is one, too
	seen    map[[sha256.Size]byte]bool // cursors, which may be long
	all     []json.RawMessage          // nil if the list is not to be cached
	expires time.Time                  // when the first of the pages does
	tools   knownTools                 // of a list of tools
	size    int                        // of the items so far, in bytes

	spent    time.Duration // in the requests so far, which are rounds of one call as far as its maximum goes
	requests int
}

func (p *pages) next(ctx context.Context) ([]json.RawMessage, error) {
	c, err := p.s.newCall(p.op, p.opts)
	if err != nil {
		return nil, err
	}
	p.method = c.op.Name
	v := c.values()
	v[wire.SlotCursor] = p.cursor
	c.spent, c.requests = c.before+p.spent, p.requests
	result, _, err := c.run(ctx, v, c.extra())
	p.spent, p.requests = c.spent-c.before, c.requests
	if err != nil {
		return nil, err
	}
	came := time.Now()
	page, err := c.read(c.op.Result, result)
	if err != nil {
		return nil, err
	}
	var items []json.RawMessage
	if json.Unmarshal(page[wire.SlotItems], &items) != nil || items == nil {
		return nil, broken(p.method, "its list is none: %.200s", page[wire.SlotItems])
	}
	if err := p.measure(items); err != nil {
		return nil, err
	}
	if cursor := page[wire.SlotNextCursor]; page.Has(wire.SlotNextCursor) && cursor[0] != '"' {
		return nil, broken(p.method, "its nextCursor is no string: %.80s", cursor)
	}
	if p.op == wire.OpListTools {
		items = p.s.learn(c.dialect, items, &p.tools)
	}
	if p.cursor = nil; page.Has(wire.SlotNextCursor) {
		p.cursor = page[wire.SlotNextCursor]
		seen := sha256.Sum256(p.cursor)
		if p.seen[seen] {
			return nil, broken(p.method, "the list has no end: a cursor comes again after %d pages", len(p.seen))
		}
		p.seen[seen] = true
	}
	ttl, ok := page.Millis(wire.SlotCacheTTL)
	if !ok || !c.op.Cacheable {
		ttl = 0
	}
	if expires := came.Add(ttl); p.expires.IsZero() || expires.Before(p.expires) {
		p.expires = expires
	}
	if !time.Now().Before(p.expires) {
		p.all = nil // it will not be cached
		return items, nil
	}
	p.all = append(p.all, items...)
	return items, nil
}

// measure adds the items of a page to the size of the list, which is limited: whoever reads a list keeps all of it.
func (p *pages) measure(items []json.RawMessage) error {
	for _, item := range items {
		p.size += len(item) + itemSize
	}
	if most := maxListFrames * cmp.Or(p.s.cfg.maxFrame, rpc.DefaultMaxFrame); p.size > most {
		return broken(p.method, "the list is larger than %d bytes, %d times the largest message (WithMaxFrame)", most, maxListFrames)
	}
	return nil
}
