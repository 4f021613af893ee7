package client

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// receiver runs questions that the server asks as tasks (TSK26), on the engine that also runs the tasks of servers. Each session has its
// own, so that no server sees the tasks of another one (TSK21); over HTTP the tasks are owned by the server's session, whose id is "" elsewhere. The zero
// value has no engine until the first such question.
type receiver struct {
	mu      sync.Mutex
	engine  *task.Engine
	closed  bool
	waiting int        // how many requests for results are blocked
	untaken []*untaken // the latest last
}

// Limits of the tasks that a server may create on a client. Questions are open for as long as WithQuestionTimeout says.
const (
	keptTasks     = 1024
	keptTaskBytes = 16 << 20
	answerPoll    = time.Second // the poll interval: a person is not faster
)

// taskEngine returns the engine, which is made for the first question; nil: the session is over.
func (s *Session) taskEngine() *task.Engine {
	r := &s.receiver
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.engine != nil || r.closed {
		return r.engine
	}
	// A question never needs input itself, so these transitions, which every revision has, are enough.
	machine, err := task.NewMachine([]task.Edge{{From: task.Working, To: task.Completed}, {From: task.Working, To: task.Failed}, {From: task.Working, To: task.Cancelled}})
	if err != nil {
		panic(err)
	}
	engine := task.New(task.Config{
		Machine: machine, Runner: s.answerTask, TimedOut: s.taskLate, OnRemove: s.taskRemoved, Logger: s.cfg.logger,
		Limits: task.Limits{Running: maxQuestions, AllRunning: maxQuestions, Kept: keptTasks, Bytes: keptTaskBytes, AllBytes: keptTaskBytes},
	})
	context.AfterFunc(s.ctx, func() {
		if !errors.Is(s.Err(), ErrClosed) { // the connection is gone, and nobody can ask for them any more
			s.spawn(func() { engine.Discard(context.Background(), s.link.sessionID()) })
		}
	})
	r.engine = engine
	return engine
}

// endSession ends the questions of an HTTP session that the server has ended, and forgets their tasks: the server can not ask for them any more.
func (r *receiver) endSession(id string) {
	r.mu.Lock()
	engine := r.engine
	r.mu.Unlock()
	if engine != nil {
		engine.Discard(context.Background(), id)
	}
}

// close ends the questions, waits for their handlers, and returns the results that were not taken.
func (r *receiver) close() []*untaken {
	r.mu.Lock()
	r.closed = true
	engine := r.engine
	r.mu.Unlock()
	if engine == nil {
		return nil
	}
	_ = engine.Close(context.Background()) // its errors are those of a ctx that ends
	r.mu.Lock()
	defer r.mu.Unlock()
	over := r.untaken
	r.untaken = nil
	return over
}

// taskParamsOf returns the member of a question's params that asks for a task; nil: there is none, or the client has not declared that it supports it.
func (s *Session) taskParamsOf(d *wire.Dialect, h *wire.Incoming, params []byte) []byte {
	if h.Task == "" || !s.declares(d, h.Task) {
		return nil
	}
	return memberOf(params, d.Call(wire.OpCallTool).Params.NameOf(wire.SlotTask))
}

// createTask answers a question with a task, which starts after the answer was sent (TSK04), also if it is in doubt whether the server has the answer. If the
// server does not have it, the task is cancelled, and the user is not asked.
func (s *Session) createTask(q *question, own *dialog, from *round) {
	created, answer, err := s.newTask(q)
	q.pauseAskers(from)
	given, send := own.give(nil, answer, taskRefused(err))
	switch {
	case err == nil && given:
		s.startTask(q, created, own.answer, send[0])
	case err == nil:
		s.dropTask(q, created)
		created.Start()
	case given:
		own.answer.sendAll(send)
	}
}

// startTask sends the answer that names a task, and starts the task.
func (s *Session) startTask(q *question, created task.Created, a *answer, first *recipient) {
	s.countActive(1)
	begun := s.spawn(func() {
		if !a.send(first) {
			s.dropTask(q, created)
		}
		created.Start()
		_, _ = s.taskEngine().Wait(s.ctx, q.session, created.Task.ID)
		if q.handled.CompareAndSwap(false, true) { // it was over before the handler was called
			q.resumeAskers()
			s.countActive(-1)
		}
	})
	if !begun {
		a.sent(first, s.endCause())
		q.resumeAskers()
		s.countActive(-1)
	}
}

// dropTask cancels a task that no server knows. The caller starts it all the same, so that the engine forgets it.
func (s *Session) dropTask(q *question, created task.Created) {
	_, _ = s.taskEngine().Cancel(context.Background(), q.session, created.Task.ID, task.Cancel{Force: true, Reason: "the answer that names the task has not arrived"})
}

// newTask returns a task for a question, and the answer that names it.
func (s *Session) newTask(q *question) (created task.Created, answer []byte, err error) {
	engine := s.taskEngine()
	if engine == nil {
		return created, nil, task.ErrClosed
	}
	var v wire.Values
	if err := q.dialect.TaskParams.Read(q.taskParams, &v); err != nil {
		return created, nil, rpc.Errorf(rpc.CodeInvalidParams, "%v", err)
	}
	spec := task.Spec{Owner: q.session, Tool: q.Method, PollInterval: answerPoll, Timeout: s.cfg.questionTimeout, Local: q}
	if v.Has(wire.SlotTTL) {
		ttl, ok := v.Millis(wire.SlotTTL)
		if !ok {
			return created, nil, task.ErrTTL
		}
		spec.TTL = &ttl
	}
	if created, err = engine.Create(s.ctx, spec); err == nil {
		answer, err = q.dialect.TaskCreated.Append(nil, valuesOf(&created.Task), nil)
	}
	return created, answer, err
}

// answerTask calls the handler. If the task is over when it returns, the engine drops the answer (CAN31).
func (s *Session) answerTask(ctx context.Context, r *task.Run) task.Outcome {
	q := r.Local().(*question)
	if !q.handled.CompareAndSwap(false, true) {
		return task.Outcome{Status: task.Cancelled}
	}
	defer s.countActive(-1)
	defer q.resumeAskers()
	asked := q.copyForHost()
	defer s.tellEnd(ctx, asked, q.resumeAskers)()
	result, bad, failure := s.answer(ctx, q.dialect, q.op, asked)
	switch {
	case ctx.Err() != nil:
		s.tellAnswered(asked, causeOf(ctx))
	case failure != nil:
		s.tellAnswered(asked, failure)
	default:
		s.keepUntaken(&untaken{task: r.Task().ID, session: q.session, asked: asked})
	}
	if bad != nil {
		return task.Outcome{Status: task.Failed, Error: bad, Message: bad.Message}
	}
	return task.Outcome{Status: task.Completed, Result: result}
}

// taskLate returns the outcome of a question that was not answered in time.
func (s *Session) taskLate(t task.Task) task.Outcome {
	d := s.dialect.Load()
	result, bad := unanswered(d, d.IncomingOf(t.Tool).Op)
	if bad != nil {
		return task.Outcome{Status: task.Failed, Error: bad, Message: bad.Message}
	}
	return task.Outcome{Status: task.Completed, Result: result}
}

// resultAsked is the Values of the entry of a request for the result of a task.
type resultAsked struct {
	context.Context // of the session
	params          []byte
	answered        atomic.Bool // the answer is being sent
}

// receiveTaskRequest handles a request of the server about a task of this client. The one that waits for a result can be cancelled like any
// request (CAN23).
func (s *Session) receiveTaskRequest(d *wire.Dialect, h *wire.Incoming, m *rpc.Message, to origin) {
	var v wire.Values
	if err := s.readAboutTask(d, h, m, &v); err != nil {
		s.link.reply(to, rpc.AppendError(nil, m.ID, err))
		return
	}
	if h.Op != wire.OpTaskResult {
		result, err := s.aboutTask(d, h.Op, &v, to.session)
		s.link.reply(to, answerFrame(m.ID, result, taskRefused(err)))
		return
	}
	if !s.receiver.countWaiting(1) {
		s.link.reply(to, rpc.AppendError(nil, m.ID, rpc.Errorf(rpc.CodeInvalidRequest, "%d requests wait for results", maxQuestions)))
		return
	}
	id := v.Text(wire.SlotTaskID)
	asked := &resultAsked{Context: s.ctx, params: m.Params}
	e, err := s.tracker.RegisterIn(new(inflight.Room), s.ctx, s.key(m.ID, inflight.Incoming), inflight.Info{Kind: inflight.Kind{Method: h.Name}}, asked)
	if err != nil {
		s.receiver.countWaiting(-1)
		s.link.reply(to, rpc.AppendError(nil, m.ID, rpc.Errorf(rpc.CodeInvalidRequest, "%v", err)))
		return
	}
	begun := s.spawn(func() {
		defer s.receiver.countWaiting(-1)
		result, err := s.taskResult(e, d, to.session, id)
		asked.answered.Store(true)
		if e.Err() == nil {
			err := s.insist(e, s.ctx, to, answerFrame(m.ID, result, taskRefused(err)), func(send func() error) error { return send() })
			if err != nil && e.Err() == nil {
				s.notTaken(to, err, mayHaveArrived(err))
			}
			if !withdrawn(e.Cause()) { // else it may be dropped
				s.resultSent(id, to.session, err)
			}
		}
		e.Retire()
	})
	if !begun {
		e.Cancel(&Cause{Source: inflight.SourceShutdown})
	}
}

func (s *Session) readAboutTask(d *wire.Dialect, h *wire.Incoming, m *rpc.Message, v *wire.Values) *Error {
	if !s.declares(d, h.Capability) {
		return undeclared(h)
	}
	if m.Params == nil {
		return nil
	}
	if err := h.Params.Read(m.Params, v); err != nil {
		return rpc.Errorf(rpc.CodeInvalidParams, "%v", err)
	}
	return nil
}

// countWaiting counts requests that wait for results; false: there are too many.
func (r *receiver) countWaiting(by int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if by > 0 && r.waiting >= maxQuestions {
		return false
	}
	r.waiting += by
	return true
}

// aboutTask returns the result of a request that need not wait: for the state of a task, a list of them, a cancellation.
func (s *Session) aboutTask(d *wire.Dialect, op wire.Op, v *wire.Values, session string) ([]byte, error) {
	engine, id := s.taskEngine(), v.Text(wire.SlotTaskID)
	if engine == nil {
		return nil, task.ErrClosed
	}
	var t task.Task
	var err error
	switch op {
	case wire.OpListTasks:
		cursor := v.Text(wire.SlotCursor)
		if cursor == "" && v.Has(wire.SlotCursor) {
			return nil, task.ErrCursor
		}
		return listTasks(s.ctx, engine, d, session, cursor)
	case wire.OpCancelTask:
		t, err = engine.Cancel(s.ctx, session, id, task.Cancel{Force: d.Task.CancelForces})
	default:
		t, err = engine.Get(s.ctx, session, id)
	}
	if err != nil {
		return nil, err
	}
	return d.Call(op).Result.Append(nil, valuesOf(&t), nil) // the server's answer has the same layout
}

func listTasks(ctx context.Context, engine *task.Engine, d *wire.Dialect, session, cursor string) ([]byte, error) {
	page, err := engine.List(ctx, session, cursor, 0)
	if err != nil {
		return nil, err
	}
	items := make([]json.RawMessage, len(page.Tasks))
	for i := range page.Tasks {
		if items[i], err = d.Call(wire.OpGetTask).Result.Append(nil, valuesOf(&page.Tasks[i]), nil); err != nil {
			return nil, err
		}
	}
	var v wire.Values
	if v[wire.SlotItems], err = json.Marshal(items); err != nil {
		return nil, err
	}
	if page.Next != "" {
		v.SetText(wire.SlotNextCursor, page.Next)
	}
	return d.Call(wire.OpListTasks).Result.Append(nil, &v, nil)
}

// taskResult waits for the end of a task and returns the answer to its question, with the task's id (TSK09, TSK10).
func (s *Session) taskResult(ctx context.Context, d *wire.Dialect, session, id string) ([]byte, error) {
	engine := s.taskEngine()
	if engine == nil {
		return nil, task.ErrClosed
	}
	t, err := engine.Wait(ctx, session, id)
	switch {
	case err != nil:
		return nil, err
	case t.Error != nil:
		return nil, t.Error
	}
	var v wire.Values
	v.SetText(wire.SlotRelatedTask, t.ID)
	return d.Call(wire.OpTaskResult).Result.Append(nil, &v, t.Result)
}

// valuesOf returns the values of a task in messages.
func valuesOf(t *task.Task) *wire.Values {
	var v wire.Values
	v.SetText(wire.SlotTaskID, t.ID)
	v.SetText(wire.SlotStatus, string(t.Status))
	if t.StatusMessage != "" {
		v.SetText(wire.SlotStatusMessage, t.StatusMessage)
	}
	v[wire.SlotCreatedAt], v[wire.SlotLastUpdatedAt] = wire.Time(t.CreatedAt).AppendJSON(nil), wire.Time(t.UpdatedAt).AppendJSON(nil)
	ttl := t.TTL
	if ttl == task.Unlimited {
		ttl = -1
	}
	v[wire.SlotTTL], v[wire.SlotPollInterval] = wire.MillisOf(ttl).AppendJSON(nil), wire.MillisOf(t.PollInterval).AppendJSON(nil)
	return &v
}

// taskRefused returns the error with which a request about a task is answered (TSK17); nil: there is none.
func taskRefused(err error) *Error {
	if err == nil {
		return nil
	}
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	return rpc.Errorf(task.Code(err), "%v", err)
}
