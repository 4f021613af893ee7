package server

import (
	"bytes"
	"context"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// notes is the journal of an inline call. It lives as long as the call; it is there so that authors see one model
// inline and as a task: names are unique, and what has a name happens once.
type notes struct {
	call *Call
	mu   sync.Mutex
	made map[string]*note
}

type note struct {
	question *task.Question // nil: a step
	done     bool
	data     []byte
}

func newNotes(c *Call) *notes { return &notes{call: c, made: map[string]*note{}} }

// Do implements journal.
func (n *notes) Do(ctx context.Context, name string, fn func(ctx context.Context) ([]byte, error)) ([]byte, error) {
	return n.once(name, nil, func() ([]byte, error) { return fn(ctx) })
}

// Ask implements journal.
func (n *notes) Ask(ctx context.Context, q task.Question) ([]byte, error) {
	return n.once(q.Name, &q, func() ([]byte, error) {
		n.call.peer.settle(n.call.since)
		return n.call.peer.elicit(n.call.entry, ctx, q, "")
	})
}

// once runs fn for name, unless it gave something before. fn runs without the lock; when it fails or panics the name
// is free again.
func (n *notes) once(name string, q *task.Question, fn func() ([]byte, error)) ([]byte, error) {
	data, found, err := n.begin(name, q)
	if found || err != nil {
		return data, err
	}
	done := false
	defer func() { n.end(name, data, done) }()
	data, err = fn()
	done = err == nil
	return data, err
}

func (n *notes) begin(name string, q *task.Question) (data []byte, found bool, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	old := n.made[name]
	switch {
	case old == nil:
		n.made[name] = &note{question: q}
		return nil, false, nil
	case (old.question == nil) != (q == nil), q != nil && !bytes.Equal(old.question.Payload, q.Payload):
		return nil, false, &task.NameError{Name: name, Why: "it stands for something else already"}
	case !old.done:
		return nil, false, &task.NameError{Name: name, Why: "it is in use at this moment"}
	}
	return old.data, true, nil
}

func (n *notes) end(name string, data []byte, done bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !done {
		delete(n.made, name)
		return
	}
	n.made[name].data, n.made[name].done = data, true
}
