package server

import (
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// taskChanged is called for every change of a task by whoever made it, so it must not wait for a client: it queues the
// notification. Only the session that created the task hears of it (TSK20).
func (s *Server) taskChanged(t task.Task) {
	s.tellListens(&t)
	if l := s.life(t.ID); l != nil {
		if t.Status.Terminal() {
			l.over.Store(true)
		}
		l.peer.notify(topic{OpTaskStatus, t.ID}, change{owner: t.Owner, task: t.ID, life: l})
	}
}

// change is a changed task, or makes another frame. What it says is looked up or written when it is told, and not kept until then.
type change struct {
	owner, task string
	life        *taskLife
	frame       func() []byte
}

// notify queues a change for the client: one of each topic, the newest.
func (p *peer) notify(about topic, c change) {
	if p.changes.put(about, c) && p.live.add() {
		go p.tellChanges()
	}
}

// tellChanges sends until no change waits. A notification of a task carries the whole task (TSK20); its questions follow it.
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
			_ = session.tell(c.frame())
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
		p.s.silenceIfOver(&t)
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
