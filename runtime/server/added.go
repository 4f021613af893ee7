package server

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// added is what a handler adds to its tool's result. It has a lock of its own, since Call.mu is held while a slow client reads.
type added struct {
	mu      sync.Mutex
	taken   bool // the handler has returned: what it adds now is dropped
	blocks  []Block
	summary *string
	meta    []metaMember
	err     error
}

// Content adds blocks to the tool's result, after what is there: the text of a structured output (see Summary), or the content of a
// result that the handler returns. Several calls of Content append their blocks.
//
// The blocks belong to this run and its result. A handler that runs again, because a question was answered or its task was interrupted, adds them
// again; those of a task's run are kept with the task's result. A handler that returns an error has no content of its own: see ToolError. Methods
// other than tools have results of their own: what is added there is dropped and logged.
func (c *Call) Content(blocks ...Block) {
	if c.add(func(a *added) { a.blocks = append(a.blocks, blocks...) }) {
		return
	}
	for i := range blocks {
		blocks[i].open.closeUnopened(c.s.log)
	}
}

// Summary sets the text that stands for a structured output in the content, in place of the output's JSON; the last call counts. In a revision
// without structured output the JSON follows it, since the result has it nowhere else. For a tool without an outputSchema it is the first block.
func (c *Call) Summary(text string) {
	c.add(func(a *added) { a.summary = &text })
}

// ResultMeta puts a value under a key of the result's _meta, errors of the tool included; encoding/json writes it, and the last value of a
// key counts. A key is a name, which may have a prefix, such as "example.com/cost"; prefixes of the protocol are reserved, and keys that
// the runtime itself writes stay as they are.
func (c *Call) ResultMeta(key string, value any) {
	c.add(func(a *added) {
		meta, err := withMember(a.meta, key, value)
		if err != nil {
			a.err = errors.Join(a.err, err)
			return
		}
		a.meta = meta
	})
}

// add reports whether the change was made, which is too late once the handler has returned.
func (c *Call) add(change func(*added)) bool {
	if c.tool == nil {
		c.Log().Error("nothing added to a result: only those of tools take content, a summary and metadata")
		return false
	}
	a := c.added.Load()
	if a == nil {
		c.added.CompareAndSwap(nil, new(added))
		a = c.added.Load()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.taken {
		return false
	}
	change(a)
	return true
}

// takeAdded returns what the handler added, nil for nothing, and for what was taken before. Later additions are dropped.
func (c *Call) takeAdded() *added {
	if c.added.Load() == nothingAdded || c.added.CompareAndSwap(nil, nothingAdded) {
		return nil // without its lock, which is one for all calls
	}
	a := c.added.Load()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.taken {
		return nil
	}
	a.taken = true
	c.r.noteReaders(a.blocks)
	return a
}

// nothingAdded is in a call whose handler has returned and added nothing. It never changes.
var nothingAdded = &added{taken: true}

// check returns the first error of the blocks and the metadata.
func (a *added) check() error {
	if a.err != nil {
		return a.err
	}
	for i := range a.blocks {
		if err := a.blocks[i].err; err != nil {
			return fmt.Errorf("block %d of the content: %w", i, err)
		}
		if a.blocks[i].kind == noBlock {
			return fmt.Errorf("block %d of the content is the zero Block: use Text, Image and so on", i)
		}
	}
	return nil
}

// addTo puts into a result what the handler added. result.Content is what the handler returned; nil stands for the text of its output.
func (s *Server) addTo(call *Call, result wire.CallResult, a *added) (wire.CallResult, error) {
	if err := a.check(); err != nil {
		return s.failure(call, &outputError{&contentError{err}})
	}
	size := len(result.Content) + len(result.StructuredContent) + len(result.StructuredContent)/4
	for i := range a.blocks {
		size += a.blocks[i].size()
	}
	b := append(make([]byte, 0, size+1<<8), '[')
	if a.summary != nil {
		b = appendTextBlock(nextItem(b), *a.summary)
	}
	if result.StructuredContent != nil && result.Content == nil && (a.summary == nil || call.revision.structuredMember == "") {
		b = call.r.appendOutputBlock(nextItem(b), result.StructuredContent)
	}
	b = appendItems(b, result.Content)
	for i := range a.blocks {
		b = a.blocks[i].append(nextItem(b), call.revision, &call.r.placeholders)
	}
	result.Content = append(b, ']')
	if call.taskRun != nil { // the store keeps results without placeholders
		filled, err := call.r.fillPlaceholders(result.Content, 0)
		if err != nil {
			call.Log().Error("content of a task refused", "error", err)
			return wire.CallResult{}, asRPC(err)
		}
		result.Content = filled
	}
	result.Meta = call.revision.mergeMeta(result.Meta, a.meta)
	return result, nil
}

// nextItem appends a comma to b, unless the list that b ends in is still empty.
func nextItem(b []byte) []byte {
	if b[len(b)-1] == '[' {
		return b
	}
	return append(b, ',')
}

// appendItems appends the items of a list to the list that b ends in.
func appendItems(b, list []byte) []byte {
	items := strings.TrimSpace(string(list))
	if len(items) < 2 {
		return b
	}
	if items = strings.TrimSpace(items[1 : len(items)-1]); items == "" {
		return b
	}
	return append(nextItem(b), items...)
}
