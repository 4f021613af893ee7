package server

import (
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// taskChanged is told every change of a task by whoever made it, so it must not wait for a client: the session's
// outbox sends the notification. Only the session that created the task hears of it (TSK20).
func (s *Server) taskChanged(t task.Task) {
	s.tellListens(&t)
	if l := s.life(t.ID); l != nil {
		if t.Status.Terminal() {
			l.over.Store(true)
		}
		l.peer.changes.add(l, t.Owner, t.ID)
	}
}

// outbox holds what is still to be told to a session, one message per task and kind of change: a client that reads slowly gets
// the newest.
type outbox struct {
	mu      sync.Mutex
	order   []string // keys in the order of their first change, from next on
	next    int
	waiting map[string]change
	sending bool
}

// change is a changed task, or a frame. What the task holds is looked up when it is told, and not kept until then.
type change struct {
	owner, task string
	life        *taskLife
	frame       []byte
}

// add tells the change of a task.
func (o *outbox) add(l *taskLife, owner, task string) {
	o.put(l.peer, task, change{owner: owner, task: task, life: l})
}

// post tells anything else.
func (o *outbox) post(p *peer, key string, frame []byte) { o.put(p, key, change{frame: frame}) }

func (o *outbox) put(p *peer, key string, c change) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.waiting == nil {
		o.waiting = map[string]change{}
	}
	if _, waiting := o.waiting[key]; !waiting {
		o.order = append(o.order, key)
	}
	o.waiting[key] = c
	if !o.sending && p.live.add() {
		o.sending = true
		go p.tellChanges()
	}
}

func (o *outbox) take() (c change, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.next == len(o.order) {
		o.sending, o.order, o.next = false, o.order[:0], 0
		return c, false
	}
	key := o.order[o.next]
	o.next++
	c = o.waiting[key]
	delete(o.waiting, key)
	return c, true
}

// tellChanges sends until the outbox is empty. A notification of a task carries the whole task (TSK20); its questions follow it.
func (p *peer) tellChanges() {
	r := p.s.newRequest(p) // for its buffers
	defer p.live.done()
	defer r.release()
	for {
		c, ok := p.changes.take()
		if !ok {
			return
		}
		if c.frame != nil {
			session := subject{peer: p}
			_ = session.tell(c.frame)
			continue
		}
		p.tellTask(r, &c)
	}
}

// tellTask tells the state of a task that was not told yet.
func (p *peer) tellTask(r *request, c *change) {
	r.beginTelling()
	defer r.endTelling()
	t, _, err := p.s.engine.Watch(p.ctx, c.owner, c.task)
	if err != nil {
		if c.life.over.Load() {
			p.s.endSession(c.task) // it is gone, too
		}
		return
	}
	if t.Version <= c.life.told {
		return
	}
	c.life.told = t.Version
	about := subject{peer: p, task: c.life}
	if t.Status.Terminal() {
		r.endTelling()
		p.s.shown(&t)
		p.s.endSession(t.ID)
		about.task = nil // this is its last word
	}
	if p.wire.names[OpTaskStatus] != "" {
		v := p.wire.view(&t)
		r.scratch = p.wire.AppendTaskStatus(r.scratch[:0], &v)
		r.out = rpc.AppendNotification(r.out[:0], p.wire.names[OpTaskStatus], r.scratch)
		_ = about.tell(r.out)
	}
	if len(t.Questions) > 0 {
		p.offer(t.Owner, t.ID)
	}
}
