package server

import (
	"context"
	"crypto/sha256"
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
	made map[string]*note
}

type note struct {
	question string // hash of the question; "": a step
	done     bool
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

// once runs fn for name, unless it gave something before. fn runs without the lock; when it fails or panics the name
// is free again.
func (n *notes) once(name string, q *task.Question, fn func() ([]byte, error)) ([]byte, error) {
	data, found, err := n.begin(name, hashOf(q))
	if found || err != nil {
		return data, err
	}
	done := false
	defer func() { n.end(name, data, done) }()
	data, err = fn()
	done = err == nil
	return data, err
}

func (n *notes) begin(name, question string) (data []byte, found bool, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	old := n.made[name]
	switch {
	case old == nil:
		n.made[name] = &note{question: question}
		return nil, false, nil
	case old.question != question:
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

// sealed is what is done, in the order of names.
func (n *notes) sealed() (all []sealedNote) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for name, made := range n.made {
		if made.done {
			all = append(all, sealedNote{name, []byte(made.question), made.data})
		}
	}
	slices.SortFunc(all, func(a, b sealedNote) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// recall takes over what an earlier try has done.
func (n *notes) recall(all []sealedNote) {
	for _, s := range all {
		n.made[s.Name] = &note{question: string(s.Question), done: true, data: s.Data}
	}
}

// hashOf tells one question from another; "" for none.
func hashOf(q *task.Question) string {
	if q == nil {
		return ""
	}
	h := sha256.Sum256(append(append([]byte(q.Method), 0), q.Payload...))
	return string(h[:16])
}
