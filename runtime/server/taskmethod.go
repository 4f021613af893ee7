package server

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// taskMethod serves the requests about tasks. A task's owner is the peer's identity, so a foreign task is an unknown one
// (TSK21). Only results of tasks, and lists, wait until they fit into the budget of unread answers: a cancellation is served at once (TSK18).
func (r *request) taskMethod(b []byte) ([]byte, error) {
	switch r.method.Op {
	case wire.OpGetTask:
		return r.getTask(b)
	case wire.OpTaskResult:
		return r.taskResult(b)
	case wire.OpListTasks:
		return r.listTasks(b)
	case wire.OpCancelTask:
		return r.cancelTask(b)
	case wire.OpUpdateTask:
		return r.updateTask(b)
	}
	return b, rpc.Errorf(rpc.CodeMethodNotFound, "unknown method %q", r.method.Name)
}

func (r *request) getTask(b []byte) ([]byte, error) {
	r.lockTaskState()
	t, err := r.p.s.engine.Get(r.ctx, r.p.owner, r.params.TaskID)
	if err != nil {
		return b, r.taskError(err)
	}
	r.noteToolForMiddleware(&t)
	if t.Status.Terminal() {
		r.unlockTaskState()
	}
	if r.revision.AppendTaskDetail == nil {
		r.p.s.silenceIfOver(&t)
		r.view = r.revision.view(&t)
		return r.revision.AppendTask(b, &r.view), nil
	}
	if t.Status.Terminal() { // the answer contains its result
		if err := r.reservation.reserve(r.ctx, int64(len(t.Result))); err != nil {
			return b, err
		}
	}
	r.p.s.silenceIfOver(&t)
	r.view = r.p.s.detail(r.revision, &t, r.can)
	return r.revision.AppendTaskDetail(b, &r.view), nil
}

// noteToolForMiddleware notes which tool's result the answer has: middleware may replace it.
func (r *request) noteToolForMiddleware(t *task.Task) {
	if r.p.s.middleware != nil {
		r.taskTool, _ = r.p.s.toolOf(t)
	}
}

func (r *request) listTasks(b []byte) ([]byte, error) {
	if err := r.reservation.list(r.ctx, &r.p.s.taskLists); err != nil {
		return b, err
	}
	r.lockTaskState()
	if r.params.HasCursor && r.params.Cursor == "" { // the engine would return the first page
		return b, taskError(task.ErrCursor)
	}
	page, err := r.p.s.engine.List(r.ctx, r.p.owner, r.params.Cursor, 0)
	if err != nil {
		return b, r.taskError(err)
	}
	tasks := append(r.scratch[:0], '[')
	for i := range page.Tasks {
		r.p.s.silenceIfOver(&page.Tasks[i])
		if i > 0 {
			tasks = append(tasks, ',')
		}
		r.view = r.revision.view(&page.Tasks[i])
		tasks = r.revision.AppendTask(tasks, &r.view)
	}
	r.scratch = append(tasks, ']')
	return r.revision.AppendTaskList(b, &wire.TaskList{Tasks: r.scratch, NextCursor: page.Next}), nil
}

// cancelTask cancels the task; when it answers, nothing of the task is still to be written (TSK18, PRO01).
func (r *request) cancelTask(b []byte) ([]byte, error) {
	s := r.p.s
	r.lockTaskState()
	t, err := s.engine.Cancel(r.ctx, r.p.owner, r.params.TaskID, task.Cancel{Force: r.revision.Task.CancelForces})
	if over := (*task.TerminalError)(nil); errors.As(err, &over) && !r.revision.Task.CancelTerminalRefused {
		err = nil
	}
	if err != nil {
		return b, r.taskError(err)
	}
	if t.Status.Terminal() {
		r.unlockTaskState()
	}
	s.silenceIfOver(&t)
	r.view = r.revision.view(&t)
	r.view.ServerInfo = r.revision.resultInfo
	if r.revision.AppendTaskCancelled != nil {
		return r.revision.AppendTaskCancelled(b, &r.view), nil
	}
	return r.revision.AppendTask(b, &r.view), nil
}

// createTask makes a task of the call. Arguments are validated before (TSK24). A client that asked for a task could not read
// a result, so it gets a JSON-RPC error for invalid arguments.
func (r *request) createTask(b []byte) ([]byte, error) {
	s, t := r.p.s, r.tool
	args := append([]byte(nil), r.params.Arguments...)
	err := r.takeInput(func() error { return t.Handler.check(args, s.cfg.limits, r) })
	if err != nil {
		if own, ok := errors.AsType[*rpc.Error](err); ok {
			return b, own
		}
		if r.revision.Task.ServerDecides {
			r.outcome = ToolFailed
			result := wire.CallResult{IsError: true, Content: appendText(nil, (&inputError{err}).Error()), ServerInfo: r.revision.resultInfo}
			return r.revision.AppendCallResult(b, &result), nil
		}
		return b, invalidParams(r.method.Name, below(atArguments, err))
	}
	earlier, b, asks, err := r.asksBefore(b)
	if err != nil || asks {
		r.outcome = HasAsked // if there is no error
		return b, err
	}
	// From here on the task is cancelled by its own method only (CAN11), unless the client does not get its id: see where Unprotect is called.
	if !r.entry.Protect() {
		return b, r.entry.Err()
	}
	local := &taskLocal{tool: t, revision: r.revision, can: r.can, token: r.params.ProgressToken, who: r.p.who, earlier: earlier}
	local.ctx.values = r.ownValues()
	if r.header.size() <= smallMessage {
		local.header = r.header
	}
	created, err := s.engine.Create(context.WithoutCancel(r.ctx), task.Spec{
		Owner: r.p.owner, QuotaKey: r.p.taskQuota(), Tool: t.Name, Args: args, Meta: r.taskMeta(&local.earlier),
		TTL: r.askedTTL(), DefaultTTL: t.Task.TTL, MaxTTL: t.Task.MaxTTL,
		PollInterval: t.Task.PollInterval, Timeout: t.Task.Timeout, Reruns: t.Task.reruns(), Uncancellable: t.Cancel.Uncancellable,
		Local: local,
	})
	if err != nil {
		r.entry.Unprotect()
		return b, r.taskError(err)
	}
	r.p.warnUnreachable()
	if r.revision.Handshake {
		local.life.peer, local.life.local = r.p, local
		local.life.expires, _ = created.Task.ExpiresAt()
		s.addTaskLife(created.Task.ID, &local.life)
		if local.life.ended() {
			s.endTaskLife(created.Task.ID) // the task expired before its life was known here
		}
	}
	// Nothing of the task may be on the wire before the answer that contains its id.
	r.created, r.outcome = created.Beginning, BecameTask
	if s.observed {
		s.observeTask(TaskCreated, &created.Task)
	}
	r.view = r.revision.view(&created.Task)
	r.view.ServerInfo = r.revision.resultInfo
	return r.revision.AppendTaskCreated(b, &r.view), nil
}

// askedTTL is the ttl that the request asks for, nil for none. One that does not fit a Duration becomes the largest.
func (r *request) askedTTL() *time.Duration {
	if !r.params.HasTTL {
		return nil
	}
	ttl := time.Duration(math.MaxInt64 - 1)
	if ms := r.params.TTL; ms <= int64(ttl/time.Millisecond) {
		ttl = time.Duration(ms) * time.Millisecond
	}
	return &ttl
}

// taskError returns the answer to a request about tasks that the engine refused, or for which the store is unavailable or has lost its tasks: then only
// the engine's log has the cause (DUR06). Of a task that is gone, nothing more is written.
func (r *request) taskError(err error) error {
	switch {
	case errors.As(err, new(*rpc.Error)) || task.Outage(err) && r.ctx.Err() != nil: // the request ended before the store could answer
		return err
	case task.Outage(err):
		return errTasksAway
	case errors.Is(err, task.ErrLost):
		return errTasksLost
	case !errors.Is(err, task.ErrNotFound):
		return taskError(err)
	}
	if l := r.p.s.taskLife(r.params.TaskID); l != nil && l.peer.owner == r.p.owner {
		l.end()
	}
	if refused := r.p.s.rates.take(r.p, ratedUnknownTasks, 1); refused != nil {
		return refused
	}
	return taskError(err)
}

// errTasksAway is no fault of the caller, who may try again when the store is back.
var errTasksAway = &rpc.Error{
	Code: rpc.CodeInternalError, Message: "tasks are not available now; try again later", Data: []byte(`{"retryAfterMs":1000}`), Wait: time.Second, Busy: true,
}

// errTasksLost is for a store that does not come back.
var errTasksLost = &rpc.Error{Code: rpc.CodeInternalError, Message: "tasks are not available until the server is restarted"}

// taskError gives the engine's errors their codes (TSK17).
func taskError(err error) error {
	var limit *task.LimitError
	switch code := task.Code(err); {
	case errors.As(err, &limit) && limit.Wait > 0:
		return tooOften(limit.Wait, "limit reached: at most %d %s", limit.Max, limit.What)
	case code == rpc.CodeInvalidParams:
		return refusedParam(taskParam(err), "%v", err)
	case code != rpc.CodeInternalError:
		return rpc.Errorf(code, "%v", err)
	}
	return err
}

// taskParam is the param that an error of the engine is about.
func taskParam(err error) string {
	switch {
	case errors.Is(err, task.ErrCursor):
		return atCursor
	case errors.Is(err, task.ErrTTL):
		return atTTL
	}
	return atTaskID
}

// addTaskLife notes the life of a new task of a session.
func (s *Server) addTaskLife(task string, l *taskLife) {
	if l.peer.takesTasksAlong() {
		l.peer.ownTasks.Add(1)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taskLives[task] = l
}

// endTaskLife ends the life of a task that is over or gone, and removes it, or leaves that to what is being written about the task (taskLife.leave).
func (s *Server) endTaskLife(task string) {
	s.taskLife(task).markOver()
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.taskLives[task]; l != nil && l.leave(task) {
		delete(s.taskLives, task)
	}
	delete(s.waitingForSlot, task)
}

// forgetTaskLife removes the life, if it is still there.
func (s *Server) forgetTaskLife(task string, l *taskLife) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taskLives[task] == l {
		delete(s.taskLives, task)
	}
}

// detail is a task with what belongs to its status: the result, the error, or the open questions (EXT07) that a client with
// these abilities can be asked.
func (s *Server) detail(rev *revision, t *task.Task, can ability) wire.TaskView {
	v := rev.view(t)
	v.ServerInfo = rev.resultInfo
	switch t.Status {
	case task.Completed, task.Failed:
		if result, err := rev.ending(t, can); err != nil {
			v.Status, v.Error = string(task.Failed), rpc.AppendErrorObject(nil, asRPC(err))
		} else {
			result.ServerInfo = v.ServerInfo
			v.Result = rev.AppendCallResult(nil, &result)
		}
	case task.InputRequired:
		requests, err := rev.inputRequests(rev.askable(t.Questions, can))
		if err != nil {
			s.log.Error("questions can not be shown", "task", t.ID, "error", err)
			requests = []byte("{}")
		}
		v.InputRequests = requests
	}
	return v
}

// askable are the questions that a client with these abilities can be asked (EXT18).
func (rev *revision) askable(all []task.Question, can ability) (some []task.Question) {
	for i := range all {
		if rev.unsupported(can, &all[i]) == nil {
			some = append(some, all[i])
		}
	}
	return some
}
