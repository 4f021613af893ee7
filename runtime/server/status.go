package server

import (
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// taskChanged is told every change of a task by whoever made it, so it must not wait for a client: the session's
// outbox sends the notification. Only the session that created the task hears of it (TSK20).
func (s *Server) taskChanged(t task.Task) {
	p := s.session(t.ID)
	if t.Status.Terminal() {
		s.endSession(t.ID)
	}
	if p != nil && p.wire.names[OpTaskStatus] != "" {
		p.changes.add(p, t)
	}
}

// outbox holds the changes that are still to be told to a client, one per task: a client that reads slowly gets the
// newest.
type outbox struct {
	mu      sync.Mutex
	order   []string // ids in the order of their first change, from next on
	next    int
	tasks   map[string]task.Task
	sending bool
}

func (o *outbox) add(p *peer, t task.Task) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.tasks == nil {
		o.tasks = map[string]task.Task{}
	}
	if _, waiting := o.tasks[t.ID]; !waiting {
		o.order = append(o.order, t.ID)
	}
	o.tasks[t.ID] = t
	if !o.sending && p.live.add() {
		o.sending = true
		go p.tellChanges()
	}
}

func (o *outbox) take() (t task.Task, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.next == len(o.order) {
		o.sending, o.order, o.next = false, o.order[:0], 0
		return t, false
	}
	id := o.order[o.next]
	o.next++
	t = o.tasks[id]
	delete(o.tasks, id)
	return t, true
}

// tellChanges sends until the outbox is empty. A notification carries the whole task (TSK20); its questions follow it.
func (p *peer) tellChanges() {
	r := p.s.newRequest(p) // for its buffers
	defer p.live.done()
	defer r.release()
	for {
		t, ok := p.changes.take()
		if !ok {
			return
		}
		v := viewOf(&t)
		r.scratch = p.wire.AppendTaskStatus(r.scratch[:0], &v)
		r.out = rpc.AppendNotification(r.out[:0], p.wire.names[OpTaskStatus], r.scratch)
		p.write(r.out)
		if len(t.Questions) > 0 {
			p.offer(t.Owner, t.ID)
		}
	}
}
