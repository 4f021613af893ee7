package server

import (
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// taskChanged is told every change of a task by whoever made it, so it must not wait for a client: the session's outbox sends the
// notification. Only the session that created the task hears of it (TSK20).
func (s *Server) taskChanged(t task.Task) {
	p := s.session(t.ID)
	if t.Status.Terminal() {
		s.endSession(t.ID)
	}
	if p != nil && p.wire.names[OpTaskStatus] != "" {
		p.changes.add(p, t)
	}
}

// outbox holds the changes that are still to be told to a client, one per task: a client that reads slowly gets the newest.
type outbox struct {
	mu      sync.Mutex
	order   []string // ids in the order of their first change
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
	if len(o.order) == 0 {
		o.sending, o.order, o.tasks = false, nil, nil
		return t, false
	}
	id := o.order[0]
	o.order = o.order[1:]
	t = o.tasks[id]
	delete(o.tasks, id)
	return t, true
}

// tellChanges sends until the outbox is empty. A notification carries the whole task (TSK20); its questions follow it.
func (p *peer) tellChanges() {
	defer p.live.done()
	for {
		t, ok := p.changes.take()
		if !ok {
			return
		}
		v := viewOf(&t)
		p.write(rpc.AppendNotification(nil, p.wire.names[OpTaskStatus], p.wire.AppendTaskStatus(nil, &v)))
		if len(t.Questions) > 0 {
			p.offer(t.Owner, t.ID)
		}
	}
}
