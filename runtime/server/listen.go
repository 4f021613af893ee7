package server

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// listen is one open subscription (EXT13). Changes are queued here; the goroutine of its request sends them
// to the client.
type listen struct {
	peer     *peer
	revision *revision
	can      ability // of its client
	id       rpc.ID
	kinds    map[wire.Op]bool   // the lists of whose changes it is notified, by notification
	tasks    map[string]bool    // ids of the tasks of whose changes it is notified; guarded by Server.mu
	ack      *wire.Acknowledged // what of the request is served
	// watched are the resources for which the application's watch handler ran.
	watched []string

	end  chan struct{} // closed when the server ends it
	gone chan struct{} // closed when its request is over
	wake chan struct{} // has an element when changes were queued

	changes newest[topic, struct{}]
	sent    map[string]uint64 // the last version of each task that was sent, by id; for the request's goroutine only

	ending sync.Once
}

// openSubscription runs in the read loop, before the next message: some clients do not wait for the acknowledgement, and must be
// notified of the changes that their next message makes.
func (r *request) openSubscription() {
	l := &listen{
		peer: r.p, revision: r.revision, can: r.can, id: r.requestID(), kinds: map[wire.Op]bool{}, tasks: map[string]bool{},
		end: make(chan struct{}), gone: make(chan struct{}), wake: make(chan struct{}, 1), sent: map[string]uint64{},
	}
	l.ack = l.accept(&r.params)
	r.sub = l
	// It stays in Server.listens until its result is written: endListens waits for that.
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
	if err := l.acceptTasks(r); err != nil {
		return b, err
	}
	l.watch(r)
	r.p.s.followTasks(l, l.ack.TaskIDs)
	l.write(r, notification{revision: r.revision, op: wire.OpAcknowledged, params: r.revision.AppendAcknowledged(nil, l.ack)})
	l.catchUp(r.ctx, l.ack.TaskIDs)
	err := l.serve(r, &b)
	if !r.p.exchange {
		r.trailer = l.withdrawal()
	}
	return b, err
}

// withdrawal is the notification that cancels the subscription: the server's last message about it, after its result (LET21).
// Exchanges need none: their response ends with the result.
func (l *listen) withdrawal() []byte {
	rev := l.revision
	if rev.names[wire.OpCancelled] == "" {
		return nil
	}
	params := rev.AppendCancelled(nil, &wire.Cancelled{RequestID: l.id, SubscriptionID: l.id, Reason: "the server ends the subscription"})
	return rpc.AppendNotification(nil, rev.names[wire.OpCancelled], params)
}

func (s *Server) openListen(l *listen) {
	for _, uri := range l.ack.ResourceURIs {
		s.followers.add(uri, l)
	}
	s.followers.followLists(l)
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
	for _, uri := range l.ack.ResourceURIs {
		s.followers.remove(uri, l)
	}
	s.followers.leaveLists(l)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listens, l)
	for id := range l.tasks {
		if delete(s.taskListens[id], l); len(s.taskListens[id]) == 0 {
			delete(s.taskListens, id)
		}
	}
}

// accept selects the lists and resources in the request whose changes are served. acceptTasks adds tasks later, because looking them up takes time.
func (l *listen) accept(p *wire.Params) *wire.Acknowledged {
	rev, ack := l.revision, &wire.Acknowledged{SubscriptionID: l.id}
	for op, kind := range map[wire.Op]struct{ asked, accepted *bool }{
		wire.OpToolsChanged:     {&p.ToolsChanged, &ack.ToolsChanged},
		wire.OpPromptsChanged:   {&p.PromptsChanged, &ack.PromptsChanged},
		wire.OpResourcesChanged: {&p.ResourcesChanged, &ack.ResourcesChanged},
	} {
		if *kind.asked && rev.names[op] != "" {
			l.kinds[op], *kind.accepted = true, true
		}
	}
	seen := map[string]bool{}
	for _, uri := range p.ResourceURIs {
		if rev.names[wire.OpResourceUpdated] != "" && !seen[uri] && len(seen) < maxSubscribed {
			seen[uri] = true
			ack.ResourceURIs = append(ack.ResourceURIs, uri)
		}
	}
	return ack
}

// acceptTasks adds the tasks that the caller owns. A caller that guesses too many ids is refused, as with any request about tasks (LET03).
func (l *listen) acceptTasks(r *request) error {
	if !r.revision.tasks || r.revision.names[wire.OpTaskStatus] == "" {
		return nil
	}
	seen := map[string]bool{}
	for i, id := range r.params.TaskIDs {
		if i == maxSubscribed {
			break // unknown tasks count, too: looking one up costs as much as following it
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		_, err := r.p.s.engine.Look(r.ctx, r.p.owner, id)
		if err == nil {
			l.ack.TaskIDs = append(l.ack.TaskIDs, id)
		} else if task.Outage(err) || errors.Is(err, task.ErrLost) {
			return r.taskError(err) // the store can not tell whose task it is
		} else if refused := r.p.s.rates.take(r.p, ratedUnknownTasks, 1); refused != nil {
			return refused
		}
	}
	return nil
}

// catchUp queues the states of tasks that wait for input or are over already: they may not change again.
func (l *listen) catchUp(ctx context.Context, ids []string) {
	for _, id := range ids {
		if t, err := l.peer.s.engine.Look(ctx, l.peer.owner, id); err == nil && t.Status != task.Working {
			l.queue(topic{wire.OpTaskStatus, id})
		}
	}
}

// serve sends changes until the subscription ends; if the server ends it, its result is appended to b.
func (l *listen) serve(r *request, b *[]byte) error {
	for {
		if err := l.sendQueued(r); err != nil {
			return err
		}
		select {
		case <-l.wake:
		case <-r.ctx.Done():
			return context.Cause(r.ctx)
		case <-l.end:
			*b = r.revision.AppendListenResult(*b, &wire.ListenResult{SubscriptionID: l.id, ServerInfo: r.revision.info})
			return nil
		}
	}
}

// write sends a notification unless the subscription is over (CAN02).
func (l *listen) write(r *request, n notification) {
	about := r.subject()
	_ = about.send(n)
}

// queue queues a notification about a topic. All changes of a topic until it is sent are one notification.
func (l *listen) queue(about topic) {
	if !l.changes.put(about, struct{}{}) {
		return
	}
	select {
	case l.wake <- struct{}{}:
	default: // the goroutine is awake already
	}
}

func (l *listen) sendQueued(r *request) error {
	for about, _, ok := l.changes.take(); ok; about, _, ok = l.changes.take() {
		n, err := l.notification(r, about)
		if err != nil {
			return err
		}
		if n.revision != nil {
			r.reservation.countAnswer(r.ctx, len(n.params))
			l.write(r, n)
		}
		r.unlockTaskState()
		r.reservation.free()
	}
	return nil
}

// notification returns the notification about a topic, zero if there is nothing to send any more. An error ends the subscription.
func (l *listen) notification(r *request, about topic) (notification, error) {
	if about.op == wire.OpTaskStatus {
		return l.taskStatus(r, about.name)
	}
	return l.revision.change(about, l.id), nil
}

// taskStatus returns the notification of a task's state, zero if that was sent already or can not be read. If the task is over, the
// notification contains the result, which may be large.
func (l *listen) taskStatus(r *request, id string) (n notification, err error) {
	r.lockTaskState()
	t, err := l.peer.s.engine.Look(r.ctx, l.peer.owner, id)
	if err != nil || t.Version <= l.sent[id] {
		return n, r.ctx.Err()
	}
	l.sent[id] = t.Version
	if t.Status.Terminal() {
		r.unlockTaskState()
		if err := r.reservation.reserve(r.ctx, int64(len(t.Result))); err != nil {
			return n, err
		}
	}
	v := l.peer.s.detail(l.revision, &t, l.can)
	v.SubscriptionID, v.ServerInfo = l.id, nil
	return notification{revision: l.revision, op: wire.OpTaskStatus, params: l.revision.AppendTaskStatus(nil, &v)}, nil
}

// endListens ends the subscriptions of p, or all if p is nil, and waits until their results are written, at most for the grace period:
// its caller cancels what is left.
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

func (s *Server) notifyListens(t *task.Task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.taskListens[t.ID] {
		l.queue(topic{wire.OpTaskStatus, t.ID})
	}
}
