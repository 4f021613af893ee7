package server

import (
	"github.com/mcpkiln/mcpkiln/runtime/internal/stack"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// taskChanged is called for every change of a task, on the goroutine that made it, so it must not wait for a client:
// it queues the notification. Only the session that created the task gets it (TSK20).
func (s *Server) taskChanged(t task.Task) {
	if s.observed {
		s.observeTask(TaskChanged, &t)
	}
	if t.Status.Terminal() {
		s.forgetWaiting(t.ID)
	}
	s.notifyListens(&t)
	if l := s.taskLife(t.ID); l != nil {
		if t.Status.Terminal() {
			l.markOver()
		}
		l.peer.notify(topic{wire.OpTaskStatus, t.ID}, l)
	}
}

// notify queues a change for the client, in place of an earlier one of the topic. life is that of the changed task, nil for other topics.
func (p *peer) notify(about topic, life *taskLife) {
	if p.changes.put(about, life) && p.live.add() {
		go p.sendChanges()
	}
}

// untilBegun returns when the client is initialized: until then the client gets nothing but answers, pings and log messages (LET09). untilBegun returns false if the connection has ended before.
func (p *peer) untilBegun() bool {
	if p.hasBegun() {
		return true
	}
	select {
	case <-p.begun.Done():
		return true
	case <-p.ctx.Done():
		return false
	}
}

// sendChanges sends until no change waits. A notification of a task carries the whole task (TSK20); its questions follow it.
func (p *peer) sendChanges() {
	stack.Grow()
	p.writing.Add(1)
	r := p.s.newRequest(p) // for its buffers
	defer p.endWriter()
	defer r.release()
	begun := p.untilBegun()
	for {
		about, life, ok := p.changes.take()
		if !ok {
			return
		}
		if !begun {
			continue
		}
		if life == nil {
			session := subject{peer: p}
			if about.op == wire.OpResourceUpdated {
				session.ctx = subscription{p, about.name}
			}
			_ = session.send(p.revision.change(about, rpc.ID{}))
			continue
		}
		p.sendTaskStatus(r, about.name, life)
	}
}

// sendTaskStatus sends the state of a task, unless that was sent already.
func (p *peer) sendTaskStatus(r *request, id string, life *taskLife) {
	r.lockTaskState()
	defer r.unlockTaskState()
	t, err := p.s.engine.Look(p.ctx, p.owner, id)
	if err != nil {
		switch {
		case life.over.Load():
			p.s.endTaskLife(id) // it is gone, or its last state can not be read: nothing more is sent about it
		case task.Outage(err):
			p.offer(p.owner, id) // its status is sent with the next change, its questions are asked as soon as the store is back
		}
		return
	}
	if t.Version <= life.sent {
		return
	}
	life.sent = t.Version
	about := subject{peer: p, task: life}
	if t.Status.Terminal() {
		r.unlockTaskState()
		p.s.silenceIfOver(&t)
		p.s.endTaskLife(t.ID)
		about.task = nil // this is its last message
	}
	if p.revision.names[wire.OpTaskStatus] != "" {
		r.view = p.revision.view(&t)
		r.scratch = p.revision.AppendTaskStatus(r.scratch[:0], &r.view)
		_ = about.send(notification{revision: p.revision, op: wire.OpTaskStatus, params: r.scratch, buf: &r.out})
	}
	if len(t.Questions) > 0 {
		p.offer(t.Owner, t.ID)
	}
}
