package server

import (
	"context"
	"crypto/sha256"
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

// callRecord is what a run has asked and done, by Ask and Do. Most runs do neither. It is guarded by Call.mu.
type callRecord struct {
	journal   *callJournal       // the outcomes, in an inline call
	names     map[string]nameUse // that this run has used
	stateless *statelessJournal  // the journal, in a stateless revision
}

// openRecord returns the record of the call, which is made when it is first needed. The caller holds mu.
func (c *Call) openRecord() *callRecord {
	if c.record == nil {
		c.record = &callRecord{names: map[string]nameUse{}}
	}
	return c.record
}

// openJournal returns the journal of the call, which is made when it is first needed.
func (c *Call) openJournal() journal {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.openJournalLocked()
}

// openJournalLocked is openJournal for a caller that holds mu.
func (c *Call) openJournalLocked() journal {
	if c.taskRun != nil {
		return taskJournal{c}
	}
	switch x := c.openRecord(); {
	case x.journal != nil:
	case c.r == nil:
		return closedJournal{}
	case c.revision.Handshake:
		x.journal = newCallJournal(c.put, nil)
	default:
		// There is no error: the request is no retry, so it has no answers or state that could be wrong.
		x.stateless, _ = newStatelessJournal(c, c.r)
		x.journal = x.stateless.journal
	}
	return c.record.journal
}

// ask records the question and waits for its answer, encoded as a reply.
func (c *Call) ask(ctx context.Context, q task.Question, check answerCheck) ([]byte, error) {
	name, timeout := q.Name, time.Until(q.Deadline).Round(time.Millisecond)
	data, err := c.reserve(name, func() ([]byte, error) {
		q.Name = c.keyFor(name)
		c.lendProbe()
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

// lendProbe gives this run's slot for a probe back early, so that others may begin (probe.go).
func (c *Call) lendProbe() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.r != nil {
		c.r.reservation.lendProbe()
	}
}

// nameUse is what this run has done with a name.
type nameUse struct {
	taken      bool
	unanswered int // how many askings ended without an answer
}

// reserve runs fn under a name that nothing else of this run has. The name is free again when fn fails or panics. What is recorded
// under a name is for the same question or step of a later run, never for another one of this run (TSK29).
func (c *Call) reserve(name string, fn func() ([]byte, error)) (data []byte, err error) {
	if !c.takeName(name) {
		return nil, &task.NameError{Name: name, Why: "is taken in this run; give each question and step a name of its own, and a " +
			"question that is asked about several things one for each of them, with server.Named"}
	}
	recorded := false
	defer func() {
		if !recorded {
			c.releaseName(name)
		}
	}()
	data, err = fn()
	recorded = err == nil
	return data, err
}

// takeName takes a name, and reports whether it was free.
func (c *Call) takeName(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.openRecord().names[name]
	if u.taken {
		return false
	}
	u.taken = true
	c.setUse(name, u)
	return true
}

func (c *Call) releaseName(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.openRecord().names[name]
	u.taken = false
	c.setUse(name, u)
}

// countUnanswered counts an asking of the question that ended without an answer.
func (c *Call) countUnanswered(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.openRecord().names[name]
	u.unanswered++
	c.setUse(name, u)
}

// setUse records what the run has done with a name. The caller holds mu.
func (c *Call) setUse(name string, u nameUse) {
	c.openRecord().names[name] = u
}

// keyFor is the key of the next asking of a question. Each asking has its own, because clients take one key for one asking (EXT09). The
// n-th asking has the same key in every run, so that a handler that runs again finds its entry (TSK29).
func (c *Call) keyFor(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.openRecord().names[name].unanswered; n > 0 {
		return fmt.Sprint(name, againMark, n+1)
	}
	return name
}

// againMark precedes the number of a question's second and later askings. The key of an instance never begins with its "!" (keyOf).
const againMark = instanceMark + "!"

// callJournal is the journal of an inline call. It lives as long as the call, in stateless revisions as long as the client retries the call. It gives
// handlers the same model inline as in a task: names are unique, and what has a name happens once.
type callJournal struct {
	ask      func(ctx context.Context, q task.Question, check answerCheck) ([]byte, error)
	mu       sync.Mutex
	recorded map[string]*journalEntry // by name
	endsRuns bool                     // a question ends the run
	doing    map[*stepRun]bool        // the steps under way that endSteps waits for
	idle     chan struct{}            // closed when there are none; nil: endSteps does not wait
	over     error                    // why no step begins; nil: steps begin
	sealed   bool                     // nothing is recorded any more
}

type journalEntry struct {
	question string // hash of the question; "": a step
	data     []byte
}

// answerCheck validates an answer, encoded as a reply, against the question's schema. What it decodes counts in the account.
type answerCheck func(data []byte, account check.Account) error

// newCallJournal makes a journal of what an earlier run recorded.
func newCallJournal(ask func(ctx context.Context, q task.Question, check answerCheck) ([]byte, error), earlier []recordedEntry) *callJournal {
	j := &callJournal{ask: ask, recorded: map[string]*journalEntry{}}
	for _, e := range earlier {
		j.recorded[e.Name] = &journalEntry{string(e.Question), e.Data}
	}
	return j
}

// Do implements journal.
func (j *callJournal) Do(ctx context.Context, name string, fn func(ctx context.Context) ([]byte, error)) ([]byte, error) {
	step, err := j.beginStep(ctx, name)
	if err != nil {
		return nil, err
	}
	defer j.leaveStep(step)
	return j.replay(name, nil, func() ([]byte, error) { return fn(context.WithValue(ctx, stepRunKey{}, step)) })
}

// Ask implements journal.
func (j *callJournal) Ask(ctx context.Context, q task.Question, check answerCheck) ([]byte, error) {
	return j.replay(q.Name, &q, func() ([]byte, error) { return j.ask(ctx, q, check) })
}

// replay returns what an earlier run recorded under name, else runs fn and records what it returns. fn runs without the lock: Call.reserve
// lets a name be used once at a time.
func (j *callJournal) replay(name string, q *task.Question, fn func() ([]byte, error)) ([]byte, error) {
	question := hashOf(q)
	j.mu.Lock()
	old := j.recorded[name]
	j.mu.Unlock()
	switch {
	case old != nil && old.question != question:
		return nil, (&recordedEntry{Name: name, Question: []byte(old.question)}).changed()
	case old != nil:
		return old.data, nil
	}
	data, err := fn()
	if err != nil {
		return data, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.sealed {
		return nil, j.over
	}
	j.recorded[name] = &journalEntry{question, data}
	return data, nil
}

// has reports whether something is recorded under the name.
func (j *callJournal) has(name string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.recorded[name] != nil
}

// entries are what is recorded, in the order of names.
func (j *callJournal) entries() (all []recordedEntry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for name, e := range j.recorded {
		all = append(all, recordedEntry{name, []byte(e.question), e.data})
	}
	slices.SortFunc(all, func(a, b recordedEntry) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// otherBefore is why a name is refused under which an earlier run recorded something else.
const otherBefore = "stands for something else in an earlier run; ask a question in the same words in every run, and give what has changed another name"

// hashOf returns a hash of the question, "" for none.
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
