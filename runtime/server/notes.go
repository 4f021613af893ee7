package server

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// notes is the journal of an inline call. It lives as long as the call, and in stateless revisions as long as its retries; it
// is there so that authors see one model inline and as a task: names are unique, and what has a name happens once.
type notes struct {
	ask  func(ctx context.Context, q task.Question, check answerCheck) ([]byte, error)
	mu   sync.Mutex
	made map[string]*note // what is recorded
}

type note struct {
	question string // hash of the question; "": a step
	data     []byte
}

// answerCheck holds an answer, given as a reply, against the question's schema.
type answerCheck func(data []byte) error

func newNotes(ask func(ctx context.Context, q task.Question, check answerCheck) ([]byte, error)) *notes {
	return &notes{ask: ask, made: map[string]*note{}}
}

// Do implements journal.
func (n *notes) Do(ctx context.Context, name string, fn func(ctx context.Context) ([]byte, error)) ([]byte, error) {
	return n.once(name, nil, func() ([]byte, error) { return fn(ctx) })
}

// Ask implements journal.
func (n *notes) Ask(ctx context.Context, q task.Question, check answerCheck) ([]byte, error) {
	return n.once(q.Name, &q, func() ([]byte, error) { return n.ask(ctx, q, check) })
}

// once runs fn for name, unless an earlier try recorded something. It runs without the lock; Call sees to it that one name is
// used once at a time.
func (n *notes) once(name string, q *task.Question, fn func() ([]byte, error)) ([]byte, error) {
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
		n.made[name] = &note{question, data}
		n.mu.Unlock()
	}
	return data, err
}

// sealed is what is recorded, in the order of names.
func (n *notes) sealed() (all []sealedNote) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for name, made := range n.made {
		all = append(all, sealedNote{name, []byte(made.question), made.data})
	}
	slices.SortFunc(all, func(a, b sealedNote) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// recall takes over what an earlier try has done.
func (n *notes) recall(all []sealedNote) {
	for _, s := range all {
		n.made[s.Name] = &note{string(s.Question), s.Data}
	}
}

// carried is what inline tries have left to the task that the call became (EXT17).
type carried struct {
	Notes []sealedNote               `json:"notes,omitempty"`
	Given map[string]json.RawMessage `json:"given,omitempty"` // answers that no try got to
}

func (c *carried) empty() bool { return len(c.Notes)+len(c.Given) == 0 }

func (c *carried) note(name string) *sealedNote {
	for i := range c.Notes {
		if c.Notes[i].Name == name {
			return &c.Notes[i]
		}
	}
	return nil
}

// step is what the note says of a step.
func (n *sealedNote) step() ([]byte, error) {
	if len(n.Question) > 0 {
		return nil, &task.NameError{Name: n.Name, Why: otherBefore}
	}
	return n.Data, nil
}

// answer is the answer to q, nil for none. One to the same name in other words is an answer to something else (TSK29).
func (c *carried) answer(call *Call, q *task.Question, check answerCheck) ([]byte, error) {
	if n := c.note(q.Name); n != nil {
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

// hashOf tells one question from another; "" for none.
func hashOf(q *task.Question) string {
	if q == nil {
		return ""
	}
	h := sha256.Sum256(append(append([]byte(q.Method), 0), q.Payload...))
	return string(h[:16])
}
