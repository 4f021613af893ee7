package server

import (
	"crypto/sha256"
	"encoding/base32"
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
