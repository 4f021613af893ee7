package server

import (
	"context"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// listen is one open subscription (EXT13). What changes is queued here, and the request's own
// goroutine tells the client.
type listen struct {
	peer  *peer
	wire  *wire
	can   ability // of the listener
	id    rpc.ID
	kinds map[Op]bool
	uris  map[string]bool
	tasks map[string]bool // guarded by Server.mu
	ack   *Acknowledged
	// watched are the resources that the application was told of.
	watched []string

	end  chan struct{} // closed when the server ends it
	gone chan struct{} // closed when it is answered
	wake chan struct{}

	news newest[topic, news]
	told map[string]uint64 // versions of tasks; of the request's goroutine alone

	ending sync.Once
}

// news makes a frame of what is to be told, nil when there is nothing to say any more. An error ends the subscription.
type news func(r *request) ([]byte, error)

// openSubscription runs where messages are received in order: some clients do not wait for the acknowledgement, and have to hear of
// what their next message changes.
func (r *request) openSubscription() {
	l := &listen{
		peer: r.p, wire: r.wire, can: r.can, id: r.id, kinds: map[Op]bool{}, uris: map[string]bool{}, tasks: map[string]bool{},
		end: make(chan struct{}), gone: make(chan struct{}), wake: make(chan struct{}, 1), told: map[string]uint64{},
	}
	l.ack = l.accept(&r.params)
	r.sub = l
	r.after = func() {
		l.peer.s.closeListen(l)
		close(l.gone)
		l.unwatch(r)
	}
	l.peer.s.openListen(l)
}

// listen serves subscriptions/listen until the client or the server ends it.
func (r *request) listen(b []byte) ([]byte, error) {
	l := r.sub
	defer r.p.s.closeListen(l)
	l.watch(r)
	r.p.s.followTasks(l, l.acceptTasks(r))
	l.write(r, rpc.AppendNotification(nil, r.wire.names[OpAcknowledged], r.wire.AppendAcknowledged(nil, l.ack)))
	l.catchUp(r.entry, l.ack.TaskIDs)
	err := l.serve(r, &b)
	l.withdraw(r)
	return b, err
}

// withdraw tells the client that the server ends the subscription, unless the client did. It comes before the answer, because a
// cancellation names what still runs (LET21).
func (l *listen) withdraw(r *request) {
	w := l.wire
	if w.names[OpCancelled] == "" {
		return
	}
	params := w.AppendCancelled(nil, &Cancelled{RequestID: l.id, SubscriptionID: l.id, Reason: "the server ends the subscription"})
	l.write(r, rpc.AppendNotification(nil, w.names[OpCancelled], params))
}

func (s *Server) openListen(l *listen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listens[l] = struct{}{}
}

func (s *Server) followTasks(l *listen, ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		l.tasks[id] = true
		if s.taskListens[id] == nil {
			s.taskListens[id] = map[*listen]struct{}{}
		}
		s.taskListens[id][l] = struct{}{}
	}
}

func (s *Server) closeListen(l *listen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listens, l)
	for id := range l.tasks {
		if delete(s.taskListens[id], l); len(s.taskListens[id]) == 0 {
			delete(s.taskListens, id)
		}
	}
}

// accept decides which of the wanted kinds and resources are served. Tasks come later, because looking them up takes time.
func (l *listen) accept(p *Params) *Acknowledged {
	w, ack := l.wire, &Acknowledged{SubscriptionID: l.id}
	for op, kind := range map[Op]struct{ asked, accepted *bool }{
		OpToolsChanged:     {&p.ToolsChanged, &ack.ToolsChanged},
		OpPromptsChanged:   {&p.PromptsChanged, &ack.PromptsChanged},
		OpResourcesChanged: {&p.ResourcesChanged, &ack.ResourcesChanged},
	} {
		if *kind.asked && w.names[op] != "" {
			l.kinds[op], *kind.accepted = true, true
		}
	}
	for _, uri := range p.ResourceURIs {
		if w.names[OpResourceUpdated] != "" && !l.uris[uri] && len(l.uris) < maxSubscribed {
			l.uris[uri] = true
			ack.ResourceURIs = append(ack.ResourceURIs, uri)
		}
	}
	return ack
}

// acceptTasks adds the tasks that the caller owns.
func (l *listen) acceptTasks(r *request) []string {
	if !r.wire.tasks || r.wire.names[OpTaskStatus] == "" {
		return nil
	}
	seen := map[string]bool{}
	for i, id := range r.params.TaskIDs {
		if i == maxSubscribed {
			break // looking one up costs as much as having it
		}
		if !seen[id] && r.p.owns(r.entry, id) {
			l.ack.TaskIDs = append(l.ack.TaskIDs, id)
		}
		seen[id] = true
	}
	return l.ack.TaskIDs
}

func (p *peer) owns(ctx context.Context, id string) bool {
	_, _, err := p.s.engine.Watch(ctx, p.owner, id)
	return err == nil
}

// catchUp queues tasks that wait for the client or are over already: they may not change again.
func (l *listen) catchUp(ctx context.Context, ids []string) {
	for _, id := range ids {
		if t, _, err := l.peer.s.engine.Watch(ctx, l.peer.owner, id); err == nil && t.Status != task.Working {
			l.taskChanged(id)
		}
	}
}

// serve tells changes until the subscription ends; the result of one that the server ends is appended to b.
func (l *listen) serve(r *request, b *[]byte) error {
	for {
		if err := l.tell(r); err != nil {
			return err
		}
		select {
		case <-l.wake:
		case <-r.entry.Done():
			return context.Cause(r.entry)
		case <-l.end:
			*b = r.wire.AppendListenResult(*b, &ListenResult{SubscriptionID: l.id, ServerInfo: r.p.s.info})
			return nil
		}
	}
}

// write writes unless the subscription is over (CAN02).
func (l *listen) write(r *request, frame []byte) {
	about := r.subject()
	_ = about.tell(frame)
}

// note queues what is to be told; a later one of the same topic replaces it.
func (l *listen) note(about topic, n news) {
	if !l.news.put(about, n) {
		return
	}
	select {
	case l.wake <- struct{}{}:
	default: // it is awake
	}
}

// tell writes what is queued.
func (l *listen) tell(r *request) error {
	for n, ok := l.news.take(); ok; n, ok = l.news.take() {
		frame, err := n(r)
		if err != nil {
			return err
		}
		if frame != nil {
			r.room.weigh(len(frame))
			l.write(r, frame)
		}
		r.endTelling()
		r.room.free()
	}
	return nil
}

func (l *listen) listChanged(op Op) {
	l.note(topic{op: op}, func(*request) ([]byte, error) { return l.wire.changedFrame(op, l.id), nil })
}

func (l *listen) updated(uri string) {
	l.note(topic{OpResourceUpdated, uri}, func(*request) ([]byte, error) { return l.wire.updatedFrame(uri, l.id), nil })
}

// taskChanged queues the task's id. Its state is read when it is told, so nothing of it is kept for a client that reads slowly.
func (l *listen) taskChanged(id string) {
	l.note(topic{OpTaskStatus, id}, func(r *request) ([]byte, error) { return l.taskFrame(r, id) })
}

// taskFrame tells the state of a task that was not told yet. One that is over brings its result, which may be large.
func (l *listen) taskFrame(r *request, id string) ([]byte, error) {
	r.beginTelling()
	t, _, err := l.peer.s.engine.Watch(r.entry, l.peer.owner, id)
	if err != nil || t.Version <= l.told[id] {
		return nil, r.entry.Err()
	}
	l.told[id] = t.Version
	if t.Status.Terminal() {
		r.endTelling()
		if err := r.room.reserve(r.entry); err != nil {
			return nil, err
		}
	}
	v := l.peer.s.detail(l.wire, &t, l.can)
	v.SubscriptionID, v.ServerInfo = l.id, nil
	return rpc.AppendNotification(nil, l.wire.names[OpTaskStatus], l.wire.AppendTaskStatus(nil, &v)), nil
}

// endListens ends the subscriptions of p, or all if p is nil, each with its result. It waits for that, because its caller cancels what
// is left.
func (s *Server) endListens(p *peer) {
	s.mu.Lock()
	var ended []*listen
	for l := range s.listens {
		if p == nil || l.peer == p {
			ended = append(ended, l)
		}
	}
	s.mu.Unlock()
	grace := time.NewTimer(s.cfg.grace)
	defer grace.Stop()
	for _, l := range ended {
		l.close()
	}
	for _, l := range ended {
		select {
		case <-l.gone:
		case <-grace.C:
			return // its client does not read
		}
	}
}

func (l *listen) close() { l.ending.Do(func() { close(l.end) }) }

// EndSubscriptions ends the subscriptions that out carries, each with its result, and waits for that up to the grace period: a
// transport that stops calls it before it cancels exchanges.
func (s *Server) EndSubscriptions(out Outlet) {
	s.mu.Lock()
	var own []*peer
	for l := range s.listens {
		if l.peer.out == out {
			own = append(own, l.peer)
		}
	}
	s.mu.Unlock()
	for _, p := range own {
		s.endListens(p)
	}
}
