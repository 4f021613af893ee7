package servertest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Task is a task, as its client follows it.
type Task struct {
	ID string

	c    *Client
	made *TaskState // in the answer to the call
	call *Pending   // the call that created the task; nil: the task is from elsewhere (OpenTask)

	mu       sync.Mutex
	answered map[string]bool // by name of a question
}

// TaskState is the state of a task, as the server sent it.
type TaskState struct {
	ID                   string
	Status               task.Status
	Message              string
	CreatedAt, UpdatedAt time.Time
	TTL                  time.Duration // negative: for ever
	PollInterval         time.Duration // 0: none

	result    json.RawMessage
	err       *rpc.Error
	questions map[string]inputRequest
}

func terminal(s *TaskState) bool { return s != nil && s.Status.Terminal() }

// Task calls a tool and returns the task that it is answered with.
func (c *Client) Task(tool string, in any, opts ...CallOption) (*Task, error) {
	c.t.Helper()
	return c.Begin(tool, in, append(opts, AsTask())...).Task()
}

// Task waits for the answer to a call, and returns the task that it is answered with.
func (p *Pending) Task() (*Task, error) {
	p.c.t.Helper()
	raw, err := p.Raw()
	if err != nil {
		return nil, err
	}
	if made := p.c.madeTask(raw); made != nil {
		return p.c.newTask(made, p), nil
	}
	if _, err = readResult(raw); err == nil {
		err = errors.New("servertest: the call ran inline")
	}
	return nil, err
}

func (c *Client) newTask(made *TaskState, call *Pending) *Task {
	return &Task{ID: made.ID, c: c, made: made, call: call, answered: map[string]bool{}}
}

// OpenTask returns a task whose id is known from elsewhere, such as another client.
func (c *Client) OpenTask(id string) *Task { return c.newTask(&TaskState{ID: id}, nil) }

// Created is the task's state in the answer to the call. After OpenTask it has only the id.
func (t *Task) Created() *TaskState { return t.made }

// Progress is the task's progress so far.
func (t *Task) Progress() []Progress {
	if t.call == nil {
		return nil
	}
	return t.call.Progress()
}

// State asks the server for the task's state.
func (t *Task) State() (*TaskState, error) {
	t.c.t.Helper()
	raw, err := t.request(wire.OpGetTask, nil)
	if err != nil {
		return nil, err
	}
	s := t.c.readTask(raw)
	if s == nil {
		return nil, fmt.Errorf("servertest: %s is no task", raw)
	}
	return s, nil
}

// Cancel cancels the task. In revisions where the server need not obey (2026-07-28), Result has the outcome.
func (t *Task) Cancel() error {
	t.c.t.Helper()
	_, err := t.request(wire.OpCancelTask, nil)
	return err
}

func (t *Task) request(op wire.Op, more object) (json.RawMessage, error) {
	t.c.t.Helper()
	params := object{"taskId": t.ID}
	for name, value := range more {
		params[name] = value
	}
	return t.c.request(t.c.method(op), params)
}

// Await waits until the task has the status. If the task ends with another one, that is an error. In the revision where a client reads a task's questions
// in its state (2026-07-28), they are not answered meanwhile.
func (t *Task) Await(status task.Status) (*TaskState, error) {
	t.c.t.Helper()
	s, err := t.watch(func(s *TaskState) bool { return s.Status == status || s.Status.Terminal() })
	if err == nil && s.Status != status {
		err = fmt.Errorf("servertest: the task is %s (%s), not %s", s.Status, s.Message, status)
	}
	return s, err
}

// Result waits for the end of the task, answers its questions meanwhile, and returns what the call would have returned inline. The
// result of a cancelled task is ErrCancelled.
func (t *Task) Result() (*Result, error) {
	t.c.t.Helper()
	if t.c.method(wire.OpTaskResult) != "" {
		raw, err := t.request(wire.OpTaskResult, nil)
		if err != nil {
			return nil, t.ended(err)
		}
		return readResult(raw)
	}
	s, err := t.watch(func(s *TaskState) bool {
		t.answer(s)
		return s.Status.Terminal()
	})
	switch {
	case err != nil:
		return nil, err
	case s.Status == task.Cancelled:
		return nil, ErrCancelled
	case s.err != nil:
		return nil, s.err
	}
	return readResult(s.result)
}

// ended returns ErrCancelled, with err, if err is an error of the server and the task is cancelled, else err.
func (t *Task) ended(err error) error {
	var refused *rpc.Error
	if !errors.As(err, &refused) {
		return err
	}
	if s, gone := t.State(); gone == nil && s.Status == task.Cancelled {
		return fmt.Errorf("%w: %w", ErrCancelled, err)
	}
	return err
}

// answer answers those questions of a state of the task that it has not answered yet.
func (t *Task) answer(s *TaskState) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, asked := range s.questions {
		if t.answered[name] {
			continue
		}
		t.answered[name] = true
		t.c.work.Go(func() {
			given, missing := t.c.answerAll(t.c.ctx, map[string]inputRequest{name: asked}, t.ID)
			if missing {
				return
			}
			_, err := t.request(wire.OpUpdateTask, object{"inputResponses": given})
			if err != nil && !errors.Is(err, ErrClosed) {
				t.c.t.Errorf("servertest: the answer to the question %q: %v", name, err)
			}
		})
	}
}

// firstPoll is how soon a task is polled again where the revision has no subscriptions; the pauses grow, up to the task's poll interval.
const firstPoll = 20 * time.Millisecond

// watch reads the task's state whenever it may have changed, and returns the first one for which until is true.
func (t *Task) watch(until func(*TaskState) bool) (*TaskState, error) {
	t.c.t.Helper()
	subscribed, stop := t.subscribe()
	defer stop()
	for pause := firstPoll; ; pause *= 2 {
		changed := t.c.nextNotice()
		s, err := t.State()
		if err != nil || until(s) {
			return s, err
		}
		if !subscribed {
			pause = min(pause, cmp.Or(s.PollInterval, time.Second))
			changed = t.c.earlier(changed, pause)
		}
		if err := t.c.wait(changed, "task "+t.ID); err != nil {
			return s, err
		}
	}
}

// subscribe subscribes to the task's changes, if the revision has subscriptions.
func (t *Task) subscribe() (subscribed bool, stop func()) {
	listen := t.c.method(wire.OpListen)
	if listen == "" {
		return false, func() {}
	}
	p := t.c.BeginRequest(listen, object{"notifications": object{"taskIds": []string{t.ID}}})
	return true, func() { p.Cancel("") }
}

// earlier returns a channel that is closed with changed, or after the pause.
func (c *Client) earlier(changed <-chan struct{}, pause time.Duration) <-chan struct{} {
	either := make(chan struct{})
	c.work.Go(func() {
		defer close(either)
		timer := time.NewTimer(pause)
		defer timer.Stop()
		select {
		case <-changed:
		case <-timer.C:
		case <-c.gone:
		}
	})
	return either
}
