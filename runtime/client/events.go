package client

import (
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// maxEvents is how many notifications may wait for a handler that is slow, and maxEventBytes how large they may be together. Further ones
// are dropped, except changes of lists, of which there are only three.
const (
	maxEvents     = 1024
	maxEventBytes = 16 << 20
)

// events calls the handlers of notifications, in order, on a goroutine that runs while there are some.
type events struct {
	s       *Session
	mu      sync.Mutex
	queue   []event
	bytes   int             // of the queued events
	waits   map[string]bool // names of the queued events
	running bool
	dropped int
}

// event is one call of a handler. Equal events have the same name, and only one of them waits.
type event struct {
	name  string // "" for none
	bytes int
	call  func()
}

func newEvents(s *Session) *events { return &events{s: s, waits: map[string]bool{}} }

// add queues a call of the handler of a notification, if there is one.
func (e *events) add(op wire.Op, v *wire.Values) {
	h := &e.s.cfg.handlers
	switch op {
	case wire.OpToolsChanged:
		e.changed(Tools, wire.OpListTools)
	case wire.OpPromptsChanged:
		e.changed(Prompts, wire.OpListPrompts)
	case wire.OpResourcesChanged:
		e.changed(Resources, wire.OpListResources, wire.OpListTemplates)
	case wire.OpResourceUpdated:
		if uri := v.Text(wire.SlotURI); h.ResourceUpdated != nil {
			e.push(event{"resource " + uri, len(uri), func() { h.ResourceUpdated(uri) }}, true)
		}
	case wire.OpElicitationComplete:
		if id := v.Text(wire.SlotElicitationID); h.PageDone != nil {
			e.push(event{"page " + id, len(id), func() { h.PageDone(id) }}, true)
		}
	case wire.OpLog:
		if h.Log != nil {
			level, logger, data := v.Text(wire.SlotLevel), v.Text(wire.SlotLogger), v[wire.SlotData]
			e.push(event{"", len(level) + len(logger) + len(data), func() { h.Log(level, logger, data) }}, true)
		}
	}
}

// changed drops a list from the cache, and queues a call of Handlers.ListChanged.
func (e *events) changed(list List, ops ...wire.Op) {
	e.s.cache.forget(ops...)
	if f := e.s.cfg.handlers.ListChanged; f != nil {
		e.push(event{"list " + string(list), 0, func() { f(list) }}, false)
	}
}

func (e *events) push(v event, droppable bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case v.name != "" && e.waits[v.name]:
		return
	case droppable && (len(e.queue) >= maxEvents || e.bytes > 0 && e.bytes+v.bytes > maxEventBytes):
		e.dropped++
		return
	case v.name != "":
		e.waits[v.name] = true
	}
	e.queue = append(e.queue, v)
	e.bytes += v.bytes
	if !e.running {
		e.running = e.s.spawn(e.run)
	}
}

func (e *events) run() {
	for {
		e.mu.Lock()
		if len(e.queue) == 0 || e.s.ctx.Err() != nil {
			e.running, e.queue, e.bytes = false, nil, 0
			clear(e.waits)
			dropped := e.dropped
			e.dropped = 0
			e.mu.Unlock()
			if dropped > 0 {
				e.s.cfg.logger.Warn("notifications were dropped", "count", dropped)
			}
			return
		}
		next := e.queue[0]
		e.queue = e.queue[1:]
		e.bytes -= next.bytes
		delete(e.waits, next.name)
		e.mu.Unlock()
		next.call()
	}
}
