package servertest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// roundTrip sends a ping, or server/discover, and waits for the answer: then the server has read all earlier messages of the client, and the client all
// messages that the server sent before the answer.
func (c *Client) roundTrip() {
	method := c.method(wire.OpPing)
	if method == "" {
		method = c.method(wire.OpDiscover)
	}
	select {
	case <-c.gone:
	default:
		_, _ = c.await(c.send(method, nil, new(callConfig), false))
	}
}

// patience returns a channel that is ready when something has been waited for too long, and the function that stops its timer.
func (c *Client) patience() (<-chan time.Time, func() bool) {
	if c.cfg.patience <= 0 {
		return nil, func() bool { return true }
	}
	timer := time.NewTimer(c.cfg.patience)
	return timer.C, timer.Stop
}

// finish waits for the goroutines that the client started: functions that do not return when their context has ended fail the test.
func (c *Client) finish() {
	c.t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.work.Wait()
	}()
	late, stop := c.patience()
	defer stop()
	select {
	case <-done:
	case <-late:
		c.t.Errorf("servertest: a function of AnswerFunc does not return, although its context has ended")
	}
}

// wait returns when done is closed, with an error if it is not in time.
func (c *Client) wait(done <-chan struct{}, what string) error {
	c.t.Helper()
	late, stop := c.patience()
	defer stop()
	select {
	case <-done:
		return nil
	case <-c.gone:
	case <-late:
		c.t.Errorf("servertest: %s: nothing came within %v", what, c.cfg.patience)
		return ErrPatience
	}
	select {
	case <-done: // it came before the end
		return nil
	default:
		return ErrClosed
	}
}

// broken fails the test: the server has broken the protocol.
func (c *Client) broken(format string, args ...any) {
	c.t.Errorf("servertest: the server breaks the protocol: "+format, args...)
}

const (
	keptFrames = 200
	shownBytes = 600
)

// record keeps a frame of the conversation, which is printed after a failure.
func (c *Client) record(arrow string, frame []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.transcript) == keptFrames {
		c.transcript = slices.Delete(c.transcript, 0, 1)
	}
	line := string(frame[:min(len(frame), shownBytes)])
	if len(line) < len(frame) {
		line += " …"
	}
	c.transcript = append(c.transcript, arrow+" "+line)
}

// conversation returns the last messages, to be printed for a test that failed.
func (c *Client) conversation() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	who := c.cfg.principal
	if who == "" {
		who = "a client"
	}
	return fmt.Sprintf("servertest: %s (%s) and the server said:\n%s", who, c.revision.Version, strings.Join(c.transcript, "\n"))
}
