//go:build unix

package server

import (
	"context"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

// Where no file can be opened, the client reads that, and not which file it was.
func TestTSK28NoDescriptorIsLeft(t *testing.T) {
	f := newFixture(t, []Tool{tool("file", plain(func(_ context.Context, call *Call) (*echoOutput, error) {
		call.Content(ImageFrom("image/png", func() (io.ReadCloser, error) {
			return nil, &fs.PathError{Op: "open", Path: "/secret/of/alice", Err: syscall.EMFILE}
		}))
		return &echoOutput{"out"}, nil
	}))})
	c := f.dial(t.Context())
	c.initialize(nothing)
	c.call("1", "file", `{}`)
	m, _ := c.answer("1")
	if m.Error == nil || !strings.Contains(m.Error.Message, "busy: too many files are open; try again in 1s") || strings.Contains(m.raw, "alice") {
		t.Error(m.raw)
	}
}
