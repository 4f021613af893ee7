package client

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// ListTools returns the definitions of all tools, page by page. It ends with the first error. Nothing verifies what a definition says of its
// tool, such as its annotations. A definition that lacks what the protocol requires is left out, as in all lists, and the log says so.
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
	maxListFrames = 4  // how large all its pages may be, in messages of the largest size (WithMaxFrame)
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
	count   int                        // of the items so far, also those that were left out

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
	result, _, err := c.run(ctx, v, c.callerMeta())
	p.spent, p.requests = c.spent-c.before, c.requests
	if err != nil {
		return nil, err
	}
	came := time.Now()
	page, err := c.read(c.op.Result, result)
	if err != nil {
		return nil, err
	}
	if page[wire.SlotItems] == nil {
		return nil, broken(p.method, "its result has no %s, in which the list would be", c.op.Result.NameOf(wire.SlotItems))
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
	items = p.usable(c.dialect, items)
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
		return moreThanRead(p.method, fmt.Errorf("the list is larger than %d bytes, %d times the largest message", most, maxListFrames))
	}
	return nil
}

// required is a member that every revision requires of the items of a list.
type required struct {
	name string
	kind byte // the first character of its value: " of a string, { of an object
}

func requiredOf(op wire.Op) []required {
	switch op {
	case wire.OpListTools:
		return []required{{"name", '"'}, {"inputSchema", '{'}}
	case wire.OpListPrompts:
		return []required{{"name", '"'}}
	case wire.OpListResources:
		return []required{{"uri", '"'}, {"name", '"'}}
	case wire.OpListTemplates:
		return []required{{"uriTemplate", '"'}, {"name", '"'}}
	}
	return nil
}

// usable returns the items of a page that have what the protocol requires of them, and remembers those that are tools. The others are left out with a
// warning each.
func (p *pages) usable(d *wire.Dialect, items []json.RawMessage) []json.RawMessage {
	all := requiredOf(p.op)
	if all == nil {
		return items
	}
	tools := map[string]knownTool{}
	kept := items[:0]
	for _, item := range items {
		why, name := lacks(item, all)
		if why == "" && p.op == wire.OpListTools {
			why = p.s.learn(d, name, item, tools)
		}
		if why == "" {
			kept = append(kept, item)
		} else {
			p.leaveOut(name, why)
		}
		p.count++
	}
	p.s.tools.add(tools)
	p.tools.add(tools)
	return kept
}

// maxLeftOut is how many items that a list has left out are remembered.
const maxLeftOut = 1000

// leaveOut warns that the next item is left out, and remembers it.
func (p *pages) leaveOut(name, why string) {
	of := []any{"list", p.method, "index", p.count}
	if name != "" {
		of = append(of, "name", rpc.Cut(name))
	}
	p.s.cfg.logger.Warn("an item of a list was left out", append(of, "error", why)...)
	if len(p.tools.leftOut) < maxLeftOut {
		p.tools.leftOut = append(p.tools.leftOut, LeftOut{p.count, rpc.Cut(name), why})
	}
}

// lacks returns which of the required members an item does not have, "" for none, and its name.
func lacks(item json.RawMessage, all []required) (why, name string) {
	var members map[string]json.RawMessage
	if json.Unmarshal(item, &members) != nil || members == nil {
		return fmt.Sprintf("it is no object: %.80s", item), ""
	}
	_ = json.Unmarshal(members["name"], &name)
	for _, r := range all {
		switch value := members[r.name]; {
		case value == nil:
			return "its " + r.name + " is missing", name
		case value[0] != r.kind && r.kind == '{':
			return fmt.Sprintf("its %s is no object: %.80s", r.name, value), name
		case value[0] != r.kind:
			return fmt.Sprintf("its %s is no string: %.80s", r.name, value), name
		}
	}
	return "", name
}
