package client

import (
	"errors"
	"strconv"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// limit returns how long a round may take without progress: its own timeout, or what is left of the call's maximum if that is less.
func (c *call) limit() (time.Duration, error) {
	if c.maxTime <= 0 {
		return c.timeout, nil
	}
	left := c.maxTime - c.spent
	switch {
	case left <= 0:
		return 0, c.timedOut()
	case c.timeout <= 0 || c.timeout > left:
		return left, nil
	}
	return c.timeout, nil
}

// timedOut returns the cause of a call whose maximum has passed after several requests.
func (c *call) timedOut() *Cause {
	return notDone(c.maxTime, "in "+strconv.Itoa(c.requests)+" requests")
}

// asTimeout returns err, or timedOut if err is the timeout of a round whose limit was what was left of maxTime. A timeout tells why the server lacks an answer.
func (c *call) asTimeout(err error) error {
	var cause *Cause
	if !errors.As(err, &cause) || cause.Source != inflight.SourceTimeout {
		return err
	}
	c.mu.Lock()
	missing := c.undeliveredAnswer
	c.mu.Unlock()
	if c.requests > 1 && c.maxTime > 0 && c.spent >= c.maxTime {
		cause, err = c.timedOut(), nil
	}
	if err == nil || missing != nil {
		err = lacksAnswer(cause, missing)
	}
	return err
}

// lacksAnswer returns a timeout that tells why the server has no answer to what it has asked; missing is nil if that is no reason.
func lacksAnswer(timeout *Cause, missing error) *Cause {
	if missing == nil {
		return timeout
	}
	told := *timeout
	told.Reason += "; the answer to what it has asked was not delivered: " + missing.Error()
	return &told
}
