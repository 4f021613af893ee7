package server

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// Questions of a task travel on an open request for its result if there is one, else on the session that created the
// task (TSK19). Some clients ask for the result only when input is required, others never do: a question has to reach
// both. The engine's claims see to it that it is with one of them at a time.

// delivery puts questions of one task to one client.
type delivery struct {
	peer        *peer
	owner, task string
	about       subject // the request for the result, or the session's stream
	waits       bool    // for a question that somebody else delivers, in case that fails
}

// put asks q and records the answer, unless the question is closed or somebody else asks it. It returns when the question
// is closed or ctx ends.
func (d *delivery) put(ctx context.Context, q task.Question) {
	for ctx.Err() == nil && d.open(ctx, q.Name) {
		release, busy := d.peer.s.engine.Claim(d.task, q.Name)
		if release != nil {
			defer release()
			// Again, because it may have been answered before the claim.
			if d.open(ctx, q.Name) {
				d.ask(ctx, q)
			}
			return
		}
		if !d.waits {
			return
		}
		select {
		case <-busy:
		case <-ctx.Done():
		}
	}
}

// ask elicits the answer while the question is open.
func (d *delivery) ask(ctx context.Context, q task.Question) {
	ctx, cancel := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		defer cancel()
		d.whileOpen(ctx, q.Name)
	})
	data, err := (&asking{about: d.about, call: ctx, wait: ctx, task: d.task}).send(q)
	cancel()
	watch.Wait()
	if err != nil {
		d.peer.s.log.Debug("question not answered", "task", d.task, "question", q.Name, "error", err)
		return
	}
	_, err = d.peer.s.engine.Answer(context.WithoutCancel(ctx), d.owner, d.task, task.Answer{Name: q.Name, Data: data})
	if limit := (*task.LimitError)(nil); errors.As(err, &limit) { // the handler is told instead
		data, _ = json.Marshal(reply{Error: rpc.Errorf(rpc.CodeInvalidRequest, "the answer can not be kept: %v", limit)})
		_, err = d.peer.s.engine.Answer(context.WithoutCancel(ctx), d.owner, d.task, task.Answer{Name: q.Name, Data: data})
	}
	if err != nil {
		d.peer.s.log.Debug("answer not recorded", "task", d.task, "question", q.Name, "error", err)
	}
}

func (d *delivery) open(ctx context.Context, name string) bool {
	t, _, err := d.peer.s.engine.Watch(ctx, d.owner, d.task)
	return err == nil && isOpen(&t, name)
}

// whileOpen returns when the question is closed: answered, withdrawn, or its task over.
func (d *delivery) whileOpen(ctx context.Context, name string) {
	for {
		t, changed, err := d.peer.s.engine.Watch(ctx, d.owner, d.task)
		if err != nil || !isOpen(&t, name) {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func isOpen(t *task.Task, name string) bool {
	return !t.Status.Terminal() && slices.ContainsFunc(t.Questions, func(q task.Question) bool { return q.Name == name })
}

// awaitTask waits for the end of the task and takes its questions meanwhile. A waiter that ends leaves nothing behind
// (TSK09).
func (r *request) awaitTask() (task.Task, error) {
	s, owner, id := r.p.s, r.p.owner, r.params.TaskID
	t, changed, err := s.engine.Watch(r.entry, owner, id)
	if err == nil && !t.Status.Terminal() {
		err = r.streamTask(t, changed)
	}
	if err != nil {
		return t, err
	}
	return s.engine.Wait(r.entry, owner, id) // returns at once; it is what the audit counts as retrieval (TSK23)
}

// streamTask returns when the task is over.
func (r *request) streamTask(t task.Task, changed <-chan struct{}) (err error) {
	s, owner := r.p.s, r.p.owner
	d := &delivery{peer: r.p, owner: owner, task: t.ID, about: r.subject(), waits: true}
	d.about.task = s.life(t.ID)
	var deliveries sync.WaitGroup
	asked := map[string]bool{}
	s.openStream(t.ID)
	defer s.closeStream(owner, t.ID)
	defer deliveries.Wait()
	for !t.Status.Terminal() {
		for _, q := range t.Questions {
			if r.p.delivers(&q) && !asked[q.Name] {
				asked[q.Name] = true
				deliveries.Go(func() { d.put(r.entry, q) })
			}
		}
		select {
		case <-changed:
		case <-r.entry.Done():
			return context.Cause(r.entry)
		case <-s.engine.Done():
			return task.ErrClosed
		}
		if t, changed, err = s.engine.Watch(r.entry, owner, t.ID); err != nil {
			return err
		}
	}
	return nil
}

// delivers tells whether q can be put to the client of the session.
func (p *peer) delivers(q *task.Question) bool { return p.wire.refuses(p.can, q) == nil }

func (s *Server) openStream(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams[id]++
}

// closeStream hands questions that are still open to the session when the last stream is gone.
func (s *Server) closeStream(owner, id string) {
	s.mu.Lock()
	s.streams[id]--
	last := s.streams[id] == 0
	if last {
		delete(s.streams, id)
	}
	session := s.sessions[id]
	s.mu.Unlock()
	if last && session != nil {
		session.peer.offer(owner, id)
	}
}

// streamed tells whether a request for the task's result is open.
func (s *Server) streamed(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.streams[id] > 0
}

// notice is how long a client has to take note of a new task before it is asked for it. Some clients run what a question
// starts before what the answer of the call starts, even if that came first, and know of no task then that asks.
const notice = 100 * time.Millisecond

// offer puts the open questions of a task to its session, unless there is a stream for them.
func (p *peer) offer(owner, id string) {
	if p.s.streamed(id) || !p.live.add() {
		return
	}
	go func() {
		defer p.live.done()
		t, _, err := p.s.engine.Watch(p.ctx, owner, id)
		if err != nil || !p.notice(&t) || p.s.streamed(id) {
			return
		}
		d := &delivery{peer: p, owner: owner, task: id, about: subject{peer: p, task: p.s.life(id)}}
		var deliveries sync.WaitGroup
		for _, q := range t.Questions {
			if p.delivers(&q) {
				deliveries.Go(func() { d.put(p.ctx, q) })
			}
		}
		deliveries.Wait()
	}()
}

// notice returns when the client knows the task, false when it is gone.
func (p *peer) notice(t *task.Task) bool {
	left := min(notice, time.Until(t.CreatedAt.Add(notice))) // at most, whatever another replica's clock says
	if left <= 0 {
		return true
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.ctx.Done():
		return false
	}
}
