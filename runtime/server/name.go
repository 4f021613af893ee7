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

// instanceMark separates the name of a question from its instance. Names do not have it elsewhere.
const instanceMark = "#"

// keyOf makes a short and safe object key of instance: instance itself if it is one, else ~ and its hash.
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

// nameUse is what this run has done with a name.
type nameUse struct {
	taken      bool
	unanswered int // askings that ended without an answer
}

// reserve runs fn under a name that nothing else of this run has; it is free again when fn fails or panics. What is recorded
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
	u := c.names[name]
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
	u := c.names[name]
	u.taken = false
	c.setUse(name, u)
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
