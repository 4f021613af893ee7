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

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// record is what a call has asked and done. A handler that runs again finds it there.
type record interface {
	Do(ctx context.Context, name string, fn func(ctx context.Context) ([]byte, error)) ([]byte, error)
	Ask(ctx context.Context, q task.Question, check answerCheck) ([]byte, error)
}

// recorded returns the record of the call, which is made when it is first needed.
func (c *Call) recorded() record {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.record != nil {
		return c.record
	}
	switch {
	case c.run != nil:
		c.record = taskRecord{c}
	case c.r == nil:
		return closedRecord{}
	case c.wire.Handshake:
		c.record = newCallRecord(c.put, nil)
	default:
		// Without state there is nothing that could be wrong with it.
		c.stateless, _ = newStatelessRecord(c, c.r)
		c.record = c.stateless.record
	}
	return c.record
}

// callRecord is the record of an inline call. It lives as long as the call, in stateless revisions as long as its retries. With it,
// handlers see one model inline and as a task: names are unique, and what has a name happens once.
type callRecord struct {
	ask  func(ctx context.Context, q task.Question, check answerCheck) ([]byte, error)
	mu   sync.Mutex
	made map[string]*recordEntry // by name
}

type recordEntry struct {
	question string // hash of the question; "": a step
	data     []byte
}

// answerCheck validates an answer, encoded as a reply, against the question's schema.
type answerCheck func(data []byte) error

// newCallRecord makes a record of what an earlier try recorded.
func newCallRecord(ask func(ctx context.Context, q task.Question, check answerCheck) ([]byte, error), earlier []sealedEntry) *callRecord {
	n := &callRecord{ask: ask, made: map[string]*recordEntry{}}
	for _, e := range earlier {
		n.made[e.Name] = &recordEntry{string(e.Question), e.Data}
	}
	return n
}

// Do implements record.
func (n *callRecord) Do(ctx context.Context, name string, fn func(ctx context.Context) ([]byte, error)) ([]byte, error) {
	return n.once(name, nil, func() ([]byte, error) { return fn(ctx) })
}

// Ask implements record.
func (n *callRecord) Ask(ctx context.Context, q task.Question, check answerCheck) ([]byte, error) {
	return n.once(q.Name, &q, func() ([]byte, error) { return n.ask(ctx, q, check) })
}

// once runs fn for name, unless an earlier try recorded something. fn runs without the lock: Call.once uses a name once at a time.
func (n *callRecord) once(name string, q *task.Question, fn func() ([]byte, error)) ([]byte, error) {
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
		n.made[name] = &recordEntry{question, data}
		n.mu.Unlock()
	}
	return data, err
}

// entries are what is recorded, in the order of names.
func (n *callRecord) entries() (all []sealedEntry) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for name, made := range n.made {
		all = append(all, sealedEntry{name, []byte(made.question), made.data})
	}
	slices.SortFunc(all, func(a, b sealedEntry) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// taskRecord is the record of a call that runs as a task: what an inline try recorded before there was a task, then the engine's
// journal.
type taskRecord struct{ call *Call }

// Do implements record.
func (j taskRecord) Do(ctx context.Context, name string, fn func(ctx context.Context) ([]byte, error)) ([]byte, error) {
	if n := j.call.local.earlier.entry(name); n != nil {
		return n.step()
	}
	return j.call.run.Do(ctx, name, fn)
}

// Ask implements record. While the question is open, answers that come with a request are validated by check.
func (j taskRecord) Ask(ctx context.Context, q task.Question, check answerCheck) ([]byte, error) {
	data, err := j.call.local.earlier.answer(j.call, &q, check)
	if data != nil || err != nil {
		return data, err
	}
	defer j.call.s.expect(asked{j.call.TaskID(), q.Name}, check)()
	return j.call.run.Ask(ctx, q)
}

// earlierRecord is what inline tries recorded before the call became a task (EXT17).
type earlierRecord struct {
	Entries []sealedEntry              `json:"notes,omitempty"`
	Given   map[string]json.RawMessage `json:"given,omitempty"` // answers that no try got to
}

func (c *earlierRecord) empty() bool { return len(c.Entries)+len(c.Given) == 0 }

func (c *earlierRecord) entry(name string) *sealedEntry {
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
func (c *earlierRecord) answer(call *Call, q *task.Question, check answerCheck) ([]byte, error) {
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

// closedRecord is for calls whose handler has returned.
type closedRecord struct{}

var errCallOver = errors.New("server: the handler has returned")

// Do implements record.
func (closedRecord) Do(context.Context, string, func(context.Context) ([]byte, error)) ([]byte, error) {
	return nil, errCallOver
}

// Ask implements record.
func (closedRecord) Ask(context.Context, task.Question, answerCheck) ([]byte, error) {
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

// take takes a name, or gives it back, and tells whether that changed anything.
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

// noteUnanswered notes that an asking of the question ended without an answer.
func (c *Call) noteUnanswered(name string) {
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
// n-th asking has the same key in every run, so that a handler that runs again finds its record (TSK29).
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
