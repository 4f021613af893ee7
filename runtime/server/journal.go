package server

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// journal is what a call has asked and done. A handler that runs again finds it there.
type journal interface {
	Do(ctx context.Context, name string, fn func(ctx context.Context) ([]byte, error)) ([]byte, error)
	Ask(ctx context.Context, q task.Question, check answerCheck) ([]byte, error)
}

// openJournal returns the journal of the call, which is made when it is first needed.
func (c *Call) openJournal() journal {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.openJournalLocked()
}

// openJournalLocked is called with mu.
func (c *Call) openJournalLocked() journal {
	if c.journal != nil {
		return c.journal
	}
	switch {
	case c.run != nil:
		c.journal = taskJournal{c}
	case c.r == nil:
		return closedJournal{}
	case c.revision.Handshake:
		c.journal = newCallJournal(c.put, nil)
	default:
		// Without state there is nothing that could be wrong with it.
		c.stateless, _ = newStatelessJournal(c, c.r)
		c.journal = c.stateless.journal
	}
	return c.journal
}

// ask records the question and waits for its answer, encoded as a reply.
func (c *Call) ask(ctx context.Context, q task.Question, check answerCheck) ([]byte, error) {
	name, timeout := q.Name, time.Until(q.Deadline).Round(time.Millisecond)
	data, err := c.reserve(name, func() ([]byte, error) {
		q.Name = c.keyFor(name)
		data, err := c.openJournal().Ask(ctx, q, check)
		if errors.Is(err, task.ErrUnanswered) || errors.Is(err, task.ErrWithdrawn) {
			c.countUnanswered(name)
		}
		return data, err
	})
	if errors.Is(err, task.ErrUnanswered) {
		return nil, fmt.Errorf("%w: %q after %v", ErrQuestionTimeout, name, timeout)
	}
	return data, err
}

// callJournal is the journal of an inline call. It lives as long as the call, in stateless revisions as long as the client runs it again. With it,
// handlers see one model inline and as a task: names are unique, and what has a name happens once.
type callJournal struct {
	ask  func(ctx context.Context, q task.Question, check answerCheck) ([]byte, error)
	mu   sync.Mutex
	made map[string]*journalEntry // by name
}

type journalEntry struct {
	question string // hash of the question; "": a step
	data     []byte
}

// answerCheck validates an answer, encoded as a reply, against the question's schema. The account pays for what it decodes.
type answerCheck func(data []byte, account check.Account) error

// newCallJournal makes a journal of what an earlier run recorded.
func newCallJournal(ask func(ctx context.Context, q task.Question, check answerCheck) ([]byte, error), earlier []recordedEntry) *callJournal {
	j := &callJournal{ask: ask, made: map[string]*journalEntry{}}
	for _, e := range earlier {
		j.made[e.Name] = &journalEntry{string(e.Question), e.Data}
	}
	return j
}

// Do implements journal.
func (j *callJournal) Do(ctx context.Context, name string, fn func(ctx context.Context) ([]byte, error)) ([]byte, error) {
	return j.replay(name, nil, func() ([]byte, error) { return fn(ctx) })
}

// Ask implements journal.
func (j *callJournal) Ask(ctx context.Context, q task.Question, check answerCheck) ([]byte, error) {
	return j.replay(q.Name, &q, func() ([]byte, error) { return j.ask(ctx, q, check) })
}

// replay returns what an earlier run recorded under name, else runs fn and records what it gives. fn runs without the lock: Call.reserve
// lets a name be used once at a time.
func (j *callJournal) replay(name string, q *task.Question, fn func() ([]byte, error)) ([]byte, error) {
	question := hashOf(q)
	j.mu.Lock()
	old := j.made[name]
	j.mu.Unlock()
	switch {
	case old != nil && old.question != question:
		return nil, &task.NameError{Name: name, Why: otherBefore}
	case old != nil:
		return old.data, nil
	}
	data, err := fn()
	if err == nil {
		j.mu.Lock()
		j.made[name] = &journalEntry{question, data}
		j.mu.Unlock()
	}
	return data, err
}

// entries are what is recorded, in the order of names.
func (j *callJournal) entries() (all []recordedEntry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for name, made := range j.made {
		all = append(all, recordedEntry{name, []byte(made.question), made.data})
	}
	slices.SortFunc(all, func(a, b recordedEntry) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// taskJournal is the journal of a call that runs as a task: what an inline run recorded before there was a task, then the task's
// own.
type taskJournal struct{ call *Call }

// Do implements journal.
func (j taskJournal) Do(ctx context.Context, name string, fn func(ctx context.Context) ([]byte, error)) ([]byte, error) {
	if e := j.call.local.earlier.entry(name); e != nil {
		return e.step()
	}
	return j.call.run.Do(ctx, name, fn)
}

// Ask implements journal. While the question is open, answers that come with a request are validated by check.
func (j taskJournal) Ask(ctx context.Context, q task.Question, check answerCheck) ([]byte, error) {
	data, err := j.call.local.earlier.answer(j.call, &q, check)
	if data != nil || err != nil {
		return data, err
	}
	defer j.call.s.expect(questionID{j.call.TaskID(), q.Name}, check)()
	if j.call.run.Settled(q) {
		return j.call.run.Ask(ctx, q)
	}
	began := time.Now()
	j.call.observeQuestion(QuestionAsked, q.Name, began, nil)
	data, err = j.call.lendSlot(ctx, func() ([]byte, error) { return j.call.run.Ask(ctx, q) })
	j.call.observeQuestion(QuestionEnded, q.Name, began, err)
	return data, err
}

// earlierJournal is what inline runs recorded before the call became a task (EXT17).
type earlierJournal struct {
	Entries []recordedEntry            `json:"notes,omitempty"`
	Given   map[string]json.RawMessage `json:"given,omitempty"` // answers that no run got to
}

func (j *earlierJournal) empty() bool { return len(j.Entries)+len(j.Given) == 0 }

func (j *earlierJournal) entry(name string) *recordedEntry {
	for i := range j.Entries {
		if j.Entries[i].Name == name {
			return &j.Entries[i]
		}
	}
	return nil
}

// step returns what the step gave.
func (e *recordedEntry) step() ([]byte, error) {
	if len(e.Question) > 0 {
		return nil, &task.NameError{Name: e.Name, Why: otherBefore}
	}
	return e.Data, nil
}

// answer returns the answer to q, nil for none. The answer to a question of the same name in other words is none (TSK29).
func (j *earlierJournal) answer(call *Call, q *task.Question, check answerCheck) ([]byte, error) {
	if e := j.entry(q.Name); e != nil {
		switch string(e.Question) {
		case hashOf(q):
			return e.Data, nil
		case "":
			return nil, &task.NameError{Name: q.Name, Why: otherBefore}
		}
	}
	if raw, ok := j.Given[q.Name]; ok {
		if data, ok := call.accept(q, raw, check); ok {
			return data, nil
		}
	}
	return nil, nil
}

const otherBefore = "stands for something else in an earlier run"

// hashOf is the same for the same question only; "" for none.
func hashOf(q *task.Question) string {
	if q == nil {
		return ""
	}
	h := sha256.Sum256(append(append([]byte(q.Method), 0), q.Payload...))
	return string(h[:16])
}

// closedJournal is for calls whose handler has returned.
type closedJournal struct{}

var errCallOver = errors.New("server: the handler has returned")

// Do implements journal.
func (closedJournal) Do(context.Context, string, func(context.Context) ([]byte, error)) ([]byte, error) {
	return nil, errCallOver
}

// Ask implements journal.
func (closedJournal) Ask(context.Context, task.Question, answerCheck) ([]byte, error) {
	return nil, errCallOver
}
