package server

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// delivery puts questions of one task to one client.
//
// Questions of a task travel on an open request for its result if there is one, else on the session that created the
// task (TSK19). Some clients ask for the result only when input is required, others never do: a question has to reach
// both, and each client once. So one stream has a question at a time, and only a stream that somebody reads, of a client that can be asked the
// question. When nobody reads it any more, it is lost, and the question goes to the first stream that is read. The client may have seen the question on
// the lost stream, so an answer to it still counts until that stream is read again; then the client is told there that nobody waits for the answer
// (DUR05).
type delivery struct {
	peer        *peer
	owner, task string
	about       subject // of its questions: on the stream of the request for the result, or on the session's
}

// onSession reports whether the questions go on the session's stream.
func (d *delivery) onSession() bool { return d.about.id.IsZero() }

// hasReader reports whether somebody reads the stream, and returns a channel that is closed when that may have changed.
func (d *delivery) hasReader() (read bool, changed <-chan struct{}) {
	if a := d.peer.attended; a != nil {
		return a.Attended(d.about.id)
	}
	return true, nil
}

// put asks q and records the answer, as soon as the delivery's stream is read and no other stream has the question. It returns when the question is
// closed; on the session's stream also when a request for the result takes the question over, which it does as long as the session was not asked, and
// again when nobody reads the session's stream any more.
func (d *delivery) put(ctx context.Context, q task.Question) {
	ctx, cancel := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		var why error
		defer func() { cancel(why) }()
		why = d.watch(ctx, &q)
	})
	defer running.Wait()
	defer cancel(nil)
	s, name := d.peer.s, questionID{d.task, q.Name}
	var withdraw context.CancelFunc // withdraws the question that was asked before the stream was lost; nil: none was
	for ctx.Err() == nil && !(d.onSession() && s.withdrawOfferIfStreamed(d.task, &q)) {
		read, changed := d.hasReader()
		if !read {
			await(ctx, changed, nil)
			continue
		}
		if withdraw != nil {
			withdraw()
		}
		claimed, yield := context.WithCancel(ctx) // ends when the stream is lost and another one wants the question
		held, ours := s.claimQuestion(name, d, yield)
		if !ours {
			held.awaitFree(ctx, changed)
			yield()
			continue
		}
		var askCtx context.Context // lasts longer: the client may still answer
		askCtx, withdraw = context.WithCancel(ctx)
		closed := make(chan struct{})
		running.Go(func() {
			asked := false
			defer d.answerIfExited(askCtx, &q, &asked, closed)
			if d.ask(askCtx, claimed, held, q) {
				close(closed)
			}
			asked = true
		})
		select {
		case <-closed:
			cancel(nil)
		case <-claimed.Done():
		}
		s.releaseQuestion(name, held)
		yield()
	}
	if withdraw != nil {
		d.awaitReader(ctx)
		withdraw()
	}
}

// answerIfExited answers the question with an internal error, as after a panic, if middleware has ended the goroutine that asks it, since nobody asks it
// any more.
func (d *delivery) answerIfExited(ctx context.Context, q *task.Question, asked *bool, closed chan<- struct{}) {
	if *asked {
		return
	}
	d.peer.s.log.Error("a middleware ended the goroutine of a question: runtime.Goexit", "task", d.task, "question", q.Name)
	data, _ := json.Marshal(reply{Error: errInternal, Own: true}) // no value of these types fails
	d.record(ctx, rpc.ID{}, task.Answer{Name: q.Name, Data: data})
	close(closed)
}

// awaitReader returns when somebody reads the stream, or ctx ends.
func (d *delivery) awaitReader(ctx context.Context) {
	for {
		if read, changed := d.hasReader(); read || !await(ctx, changed, nil) {
			return
		}
	}
}

// watch returns when the question is closed: answered, withdrawn, or its task over. Meanwhile it makes sure that the session gets
// questions whose stream nobody reads, and that a question whose stream was lost is asked on another stream. It returns why nobody waits for an answer to
// this delivery any more, which middleware around the question gets (CAN13).
func (d *delivery) watch(ctx context.Context, q *task.Question) error {
	name := q.Name
	for {
		t, changed, err := d.peer.s.engine.Watch(ctx, d.owner, d.task)
		switch {
		case err != nil:
			return err
		case !isOpen(&t, name):
			return whyClosed(&t, q)
		}
		read, readers := d.hasReader()
		if c := d.peer.s.claimOf(questionID{d.task, name}, d); c != nil {
			c.yieldIfUnread()
		}
		switch {
		case d.onSession():
		case read:
			d.peer.s.noteStream(d)
		default:
			d.peer.s.forgetStream(d)
		}
		if !await(ctx, changed, readers) {
			return context.Cause(ctx)
		}
	}
}

// whyClosed is why a question of the task is not open any more: what its handler sees, too, unless the answer has come another way.
func whyClosed(t *task.Task, q *task.Question) *inflight.Cause {
	switch {
	case t.Status == task.Cancelled:
		return &inflight.Cause{Source: inflight.SourcePeer, Reason: t.CancelReason}
	case !q.Deadline.IsZero() && !time.Now().Before(q.Deadline):
		return &inflight.Cause{Source: inflight.SourceTimeout, Err: task.ErrUnanswered}
	}
	return &inflight.Cause{Source: inflight.SourceParent, Err: task.ErrWithdrawn}
}

// lookThroughOutage returns the task as it is, for callers that are not called again when the store is back: it waits out an outage. It ends the
// context of Watch at once, so that the store frees what it holds for a watcher.
func (s *Server) lookThroughOutage(ctx context.Context, owner, id string) (task.Task, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t, _, err := s.engine.Watch(ctx, owner, id)
	return t, err
}

// await waits for one of two changes; false: ctx ended.
func await(ctx context.Context, a, b <-chan struct{}) bool {
	select {
	case <-a:
	case <-b:
	case <-ctx.Done():
		return false
	}
	return true
}

func isOpen(t *task.Task, name string) bool {
	return !t.Status.Terminal() && slices.ContainsFunc(t.Questions, func(q task.Question) bool { return q.Name == name })
}

// awaitTask waits for the end of the task and puts its questions to the client meanwhile. A request that ends while it waits
// leaves nothing behind (TSK09).
func (r *request) awaitTask() (task.Task, error) {
	s, owner, id := r.p.s, r.p.owner, r.params.TaskID
	t, err := s.engine.LookForResult(r.ctx, owner, id)
	if err != nil || t.Status.Terminal() {
		return t, err
	}
	if err = r.streamTask(id); err != nil {
		return t, err
	}
	return s.engine.Wait(r.ctx, owner, id) // returns at once, and audits the retrieval (TSK23)
}

// streamTask puts the questions of the task to the client until the task is over, or waits for an answer of a client that sends no more (CAN26).
func (r *request) streamTask(id string) error {
	s, owner := r.p.s, r.p.owner
	d := &delivery{peer: r.p, owner: owner, task: id, about: r.subject()}
	d.about.task = s.taskLife(id)
	var deliveries sync.WaitGroup
	begun := map[string]func(over *task.Task){} // questions that are being delivered, or were; each ends the delivery of its question
	inputOver := r.p.inputOver
	var initialized <-chan struct{} // nil: the client can be asked already
	if !r.p.hasBegun() {
		initialized = r.p.begun.Done()
	}
	s.noteStream(d)
	defer s.forgetStream(d)
	ctx, cancel := context.WithCancel(r.ctx)
	defer deliveries.Wait()
	defer cancel()
	for {
		t, changed, err := s.engine.Watch(r.ctx, owner, id)
		if err != nil {
			return err
		}
		if t.Status.Terminal() {
			for _, end := range begun {
				end(&t)
			}
			return nil
		}
		if t.Status == task.InputRequired && r.p.inputEnded() {
			return rpc.Errorf(rpc.CodeInternalError, "the task waits for an answer: %s", errInputEnded.Reason)
		}
		for _, q := range t.Questions {
			if r.p.delivers(&q) && begun[q.Name] == nil {
				ctx, end := context.WithCancelCause(ctx)
				begun[q.Name] = func(over *task.Task) { end(whyClosed(over, &q)) }
				deliveries.Go(func() { d.put(ctx, q) })
			}
		}
		select {
		case <-changed:
		case <-inputOver:
			inputOver = nil // a task that waits for no answer goes on without input
		case <-initialized:
			initialized = nil
		case <-r.ctx.Done():
			return context.Cause(r.ctx)
		case <-s.engine.Done():
			return task.ErrClosed
		}
	}
}

// delivers reports whether the client of the session can be asked q now: it is initialized (LET09), and has declared what q requires.
func (p *peer) delivers(q *task.Question) bool {
	return p.hasBegun() && p.revision.unsupported(p.can, q) == nil
}

// noteTime is how long a client has to take note of a new task before it gets the task's questions. Some clients handle a question before the answer
// to the call, even if that came first, and then do not know the task that asks.
const noteTime = 100 * time.Millisecond

// offer puts the open questions of a task to the client on its session's stream, except those that go on the stream of a request for the result.
func (p *peer) offer(owner, id string) {
	if !p.live.add() {
		return
	}
	p.writing.Add(1)
	go func() {
		defer p.endWriter()
		t, err := p.s.lookThroughOutage(p.ctx, owner, id)
		if err != nil || !p.awaitNoted(&t) {
			return
		}
		d := &delivery{peer: p, owner: owner, task: id, about: subject{peer: p, task: p.s.taskLife(id)}}
		var deliveries sync.WaitGroup
		for _, q := range t.Questions {
			if name := (questionID{id, q.Name}); p.delivers(&q) && p.s.beginOffer(d, &q) {
				deliveries.Go(func() {
					defer p.s.endOffer(name, d)
					d.put(p.ctx, q)
				})
			}
		}
		deliveries.Wait()
	}()
}

// awaitNoted waits until the client has had noteTime; false: the peer has ended.
func (p *peer) awaitNoted(t *task.Task) bool {
	left := min(noteTime, time.Until(t.CreatedAt.Add(noteTime))) // no more than noteTime, whatever the clock of another replica says
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
