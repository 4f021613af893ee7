package task

import "sync"

// claims keeps two streams from delivering one question.
type claims struct {
	mu   sync.Mutex
	busy map[claim]chan struct{}
}

type claim struct{ id, question string }

// Claim reserves the delivery of a question in this process, so that of several tasks/result streams only one sends it
// (TSK19). If another one has it, release is nil and busy is closed when that one gives it up: read the task again then.
// Call release when the question is answered or the stream ends.
func (e *Engine) Claim(id, question string) (release func(), busy <-chan struct{}) {
	c := &e.claims
	key := claim{id, question}
	c.mu.Lock()
	defer c.mu.Unlock()
	if taken, ok := c.busy[key]; ok {
		return nil, taken
	}
	if c.busy == nil {
		c.busy = map[claim]chan struct{}{}
	}
	mine := make(chan struct{})
	c.busy[key] = mine
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.busy, key)
		close(mine)
	}), nil
}
