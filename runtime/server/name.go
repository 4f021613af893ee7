package server

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// AskOption says more about one asking of a question.
type AskOption func(name string) string

// Named asks for one of several things of a kind, such as the file to delete: instance tells this asking from others of the same
// question. It has to be the same when the handler runs again, since the recorded answer is found by it.
func Named(instance string) AskOption {
	return func(name string) string { return name + instanceMark + keyOf(instance) }
}

func named(name string, opts []AskOption) string {
	for _, o := range opts {
		name = o(name)
	}
	return name
}

// instanceMark stands between the name of a question and its instance, and nowhere else in a name.
const instanceMark = "#"

// keyOf is instance in a form that is short and safe as a key of an object: as it is if it can be, else its hash behind a
// mark that it can not begin with itself.
func keyOf(instance string) string {
	if len(instance) <= 64 && strings.Trim(instance, keyLetters) == "" {
		return instance
	}
	h := sha256.Sum256([]byte(instance))
	return "~" + base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(h[:16])
}

const keyLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

// maxName bounds the names that handlers choose for their requests, in bytes.
const maxName = 128

func checkName(name string) error {
	if len(name) > maxName || strings.Contains(name, instanceMark) {
		return &task.NameError{Name: name, Why: "has more than 128 bytes, or a #: say what it is about with server.Named"}
	}
	return nil
}

// againMark stands before the number of an asking that is not the first of its question. No instance begins so.
const againMark = instanceMark + "!"

// use is what this run has done with a name.
type use struct {
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
	c.use(name, u)
	return true
}

// lose notes that an asking of the question ended without an answer.
func (c *Call) noteUnanswered(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.names[name]
	u.unanswered++
	c.use(name, u)
}

// use is called with mu.
func (c *Call) use(name string, u use) {
	if c.names == nil {
		c.names = map[string]use{}
	}
	c.names[name] = u
}

// keyFor is the key of the next asking of a question. Each has one of its own, since clients take one key for one asking (EXT09), and
// the n-th asking of a run is the n-th of every other, so that a handler that runs again meets its own history (TSK29).
func (c *Call) keyFor(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if lost := c.names[name].unanswered; lost > 0 {
		return fmt.Sprint(name, againMark, lost+1)
	}
	return name
}
