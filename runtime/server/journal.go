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
	data, err := c.once(name, func() ([]byte, error) {
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

// callJournal is the journal of an inline call. It lives as long as the call, in stateless revisions as long as its retries. With it,
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

// newCallJournal makes a journal of what an earlier try recorded.
func newCallJournal(ask func(ctx context.Context, q task.Question, check answerCheck) ([]byte, error), earlier []sealedEntry) *callJournal {
	n := &callJournal{ask: ask, made: map[string]*journalEntry{}}
	for _, e := range earlier {
		n.made[e.Name] = &journalEntry{string(e.Question), e.Data}
	}
	return n
}

// Do implements journal.
func (n *callJournal) Do(ctx context.Context, name string, fn func(ctx context.Context) ([]byte, error)) ([]byte, error) {
	return n.once(name, nil, func() ([]byte, error) { return fn(ctx) })
}

// Ask implements journal.
func (n *callJournal) Ask(ctx context.Context, q task.Question, check answerCheck) ([]byte, error) {
	return n.once(q.Name, &q, func() ([]byte, error) { return n.ask(ctx, q, check) })
}

// once runs fn for name, unless an earlier try recorded something. fn runs without the lock: Call.once uses a name once at a time.
func (n *callJournal) once(name string, q *task.Question, fn func() ([]byte, error)) ([]byte, error) {
	question := hashOf(q)
	n.mu.Lock()
	old := n.made[name]
	n.mu.Unlock()
	switch {
	case old != nil && old.question != question:
		return nil, &task.NameError{Name: name, Why: otherBefore}
	case old != nil:
		return old.data, nil
	}
	data, err := fn()
	if err == nil {
		n.mu.Lock()
		n.made[name] = &journalEntry{question, data}
		n.mu.Unlock()
	}
	return data, err
}

// entries are what is recorded, in the order of names.
func (n *callJournal) entries() (all []sealedEntry) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for name, made := range n.made {
		all = append(all, sealedEntry{name, []byte(made.question), made.data})
	}
	slices.SortFunc(all, func(a, b sealedEntry) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// taskJournal is the journal of a call that runs as a task: what an inline try recorded before there was a task, then the task's
// own.
type taskJournal struct{ call *Call }

// Do implements journal.
func (j taskJournal) Do(ctx context.Context, name string, fn func(ctx context.Context) ([]byte, error)) ([]byte, error) {
	if n := j.call.local.earlier.entry(name); n != nil {
		return n.step()
	}
	return j.call.run.Do(ctx, name, fn)
}

// Ask implements journal. While the question is open, answers that come with a request are validated by check.
func (j taskJournal) Ask(ctx context.Context, q task.Question, check answerCheck) ([]byte, error) {
	data, err := j.call.local.earlier.answer(j.call, &q, check)
	if data != nil || err != nil {
		return data, err
	}
	defer j.call.s.expect(asked{j.call.TaskID(), q.Name}, check)()
	if j.call.run.Settled(q) {
		return j.call.run.Ask(ctx, q)
	}
	began := time.Now()
	j.call.observeQuestion(QuestionAsked, q.Name, began, nil)
	data, err = j.call.lending(ctx, func() ([]byte, error) { return j.call.run.Ask(ctx, q) })
	j.call.observeQuestion(QuestionEnded, q.Name, began, err)
	return data, err
}

// earlierJournal is what inline tries recorded before the call became a task (EXT17).
type earlierJournal struct {
	Entries []sealedEntry              `json:"notes,omitempty"`
	Given   map[string]json.RawMessage `json:"given,omitempty"` // answers that no try got to
}

func (c *earlierJournal) empty() bool { return len(c.Entries)+len(c.Given) == 0 }

func (c *earlierJournal) entry(name string) *sealedEntry {
	for i := range c.Entries {
		if c.Entries[i].Name == name {
			return &c.Entries[i]
		}
	}
	return nil
}

// step returns what the step gave.
func (n *sealedEntry) step() ([]byte, error) {
	if len(n.Question) > 0 {
		return nil, &task.NameError{Name: n.Name, Why: otherBefore}
	}
	return n.Data, nil
}

// answer returns the answer to q, nil for none. The answer to a question of the same name in other words is none (TSK29).
func (c *earlierJournal) answer(call *Call, q *task.Question, check answerCheck) ([]byte, error) {
	if n := c.entry(q.Name); n != nil {
		switch string(n.Question) {
		case hashOf(q):
			return n.Data, nil
		case "":
			return nil, &task.NameError{Name: q.Name, Why: otherBefore}
		}
	}
	if raw, ok := c.Given[q.Name]; ok {
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

// nameUse is what this run has done with a name.
type nameUse struct {
	taken      bool
	unanswered int // askings that ended without an answer
}

// once runs fn under a name that nothing else of this run has; it is free again when fn fails or panics. What is recorded
// under a name is for the same question or step of a later run, never for another one of this run (TSK29).
func (c *Call) once(name string, fn func() ([]byte, error)) (data []byte, err error) {
	if !c.take(name, true) {
		return nil, &task.NameError{Name: name, Why: "is taken in this run; give each question and step a name of its own, and a " +
			"question that is asked about several things one for each of them, with server.Named"}
	}
	recorded := false
	defer func() {
		if !recorded {
			c.take(name, false)
		}
	}()
	data, err = fn()
	recorded = err == nil
	return data, err
}

// take takes a name, or releases it, and reports whether that changed anything.
func (c *Call) take(name string, on bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.names[name]
	if u.taken == on {
		return false
	}
	u.taken = on
	c.setUse(name, u)
	return true
}

// countUnanswered counts an asking of the question that ended without an answer.
func (c *Call) countUnanswered(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.names[name]
	u.unanswered++
	c.setUse(name, u)
}

// setUse is called with mu.
func (c *Call) setUse(name string, u nameUse) {
	if c.names == nil {
		c.names = map[string]nameUse{}
	}
	c.names[name] = u
}

// keyFor is the key of the next asking of a question. Each asking has its own, because clients take one key for one asking (EXT09). The
// n-th asking has the same key in every run, so that a handler that runs again finds its entry (TSK29).
func (c *Call) keyFor(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.names[name].unanswered; n > 0 {
		return fmt.Sprint(name, againMark, n+1)
	}
	return name
}

// againMark precedes the number of a question's second and later askings. No instance begins so.
const againMark = instanceMark + "!"
