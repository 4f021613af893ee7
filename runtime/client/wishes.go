package client

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// wishes are what the host has asked the server to send, until the host says otherwise. A server forgets them with its session, so they are sent again in the
// next. They are recorded before they are sent: so wishLevel and wishUpdates, which send old ones at the same time, see the newer ones.
type wishes struct {
	mu     sync.Mutex
	level  string          // of log records, "" for none
	levels int             // how often it was set
	uris   map[string]*int // of resources: how many calls of Subscribe since the last Unsubscribe have not failed
}

// SetLevel asks for log records from that level on, also in the session that replaces one which the server has ended. In revisions without a handshake use
// WithLogLevel.
func (s *Session) SetLevel(ctx context.Context, level string, opts ...CallOption) error {
	undo := s.wishes.setLevel(level)
	err := s.sendLevel(ctx, level, opts)
	if err != nil {
		undo()
	}
	return err
}

func (s *Session) sendLevel(ctx context.Context, level string, opts []CallOption) error {
	c, err := s.newCall(wire.OpSetLevel, opts)
	if err != nil {
		return err
	}
	v := c.values()
	v.SetText(wire.SlotLevel, level)
	_, _, err = c.run(ctx, v, nil)
	return err
}

// Subscribe asks the server to notify Handlers.ResourceUpdated of changes of a resource, also in the session that replaces one which the server has ended. In
// revisions without a handshake use Listen.
func (s *Session) Subscribe(ctx context.Context, uri string, opts ...CallOption) error {
	undo := s.wishes.add(uri)
	_, err := s.ofURI(ctx, wire.OpSubscribe, uri, opts)
	if err != nil {
		undo()
	}
	return err
}

// Unsubscribe ends Subscribe.
func (s *Session) Unsubscribe(ctx context.Context, uri string, opts ...CallOption) error {
	s.wishes.remove(uri)
	_, err := s.ofURI(ctx, wire.OpUnsubscribe, uri, opts)
	return err
}

// setLevel records a level. undo restores the one before, unless it was set again meanwhile.
func (w *wishes) setLevel(level string) (undo func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.level
	w.levels++
	w.level = level
	set := w.levels
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.levels == set {
			w.level = before
		}
	}
}

// add records a resource. undo ends that, unless another call has asked for the same.
func (w *wishes) add(uri string) (undo func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.uris == nil {
		w.uris = map[string]*int{}
	}
	calls := w.uris[uri]
	if calls == nil {
		calls = new(int)
		w.uris[uri] = calls
	}
	*calls++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if *calls--; *calls == 0 && w.uris[uri] == calls {
			delete(w.uris, uri)
		}
	}
}

func (w *wishes) remove(uri string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.uris, uri)
}

func (w *wishes) has(uri string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, wished := w.uris[uri]
	return wished
}

func (w *wishes) all() (level string, uris []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.level, slices.Sorted(maps.Keys(w.uris))
}

// wishAgain sends the host's wishes in a session that is new, and does not wait for the answers. If the server has ended that session, too, whoever
// renews it next wishes again.
func (s *Session) wishAgain() {
	if level, uris := s.wishes.all(); level != "" || len(uris) > 0 {
		s.spawn(func() {
			s.wishLevel(level)
			for _, uri := range uris {
				s.wishUpdates(uri)
			}
		})
	}
}

// wishLevel sends a level again, and then the one that the host has set meanwhile, which may have reached the server first.
func (s *Session) wishLevel(level string) {
	for sent := ""; level != "" && level != sent; level, _ = s.wishes.all() {
		sent = level
		if err := s.sendLevel(s.ctx, level, []CallOption{renewNothing}); err != nil {
			s.notGranted("log records from a level on", level, err)
		}
	}
}

// wishUpdates subscribes to a resource again, unless the host does not want that any more. What the host changes meanwhile may have reached
// the server first.
func (s *Session) wishUpdates(uri string) {
	for s.wishes.has(uri) {
		_, err := s.ofURI(s.ctx, wire.OpSubscribe, uri, []CallOption{renewNothing})
		if err == nil && s.wishes.has(uri) {
			return
		}
		if err == nil {
			_, err = s.ofURI(s.ctx, wire.OpUnsubscribe, uri, []CallOption{renewNothing})
		}
		if err != nil {
			s.notGranted("changes of a resource", uri, err)
			return
		}
	}
}

// notGranted logs that the server may not send any more what it did.
func (s *Session) notGranted(what, which string, err error) {
	if s.usable() == nil {
		s.cfg.logger.Warn("the server has begun a new session, and may not send "+what+" in it", "which", which, "error", err)
	}
}

// inherit makes the wishes of another session, whose server has ended, those of this one.
func (s *Session) inherit(other *Session) {
	level, uris := other.wishes.all()
	if level != "" {
		s.wishes.setLevel(level)
	}
	for _, uri := range uris {
		s.wishes.add(uri)
	}
	s.wishAgain()
}

// ofURI makes a request whose parameter is a URI, and returns the result.
func (s *Session) ofURI(ctx context.Context, op wire.Op, uri string, opts []CallOption) (json.RawMessage, error) {
	c, err := s.newCall(op, opts)
	if err != nil {
		return nil, err
	}
	if err := nameError("URI", uri); err != nil {
		return nil, err
	}
	v := c.values()
	v.SetText(wire.SlotURI, uri)
	result, _, err := c.run(ctx, v, c.callerMeta())
	return result, err
}
