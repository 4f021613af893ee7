package inflight

import (
	"context"
	"strconv"
)

// Source says who or what ended a request.
type Source uint8

// The sources of an end.
const (
	SourcePeer       Source = iota + 1 // the peer cancelled it: notifications/cancelled
	SourceTimeout                      // its own timeout passed (CAN20)
	SourceDisconnect                   // the connection ended
	SourceShutdown                     // the server stops (CAN21)
	SourceParent                       // the context it was registered under ended
	SourceCompleted                    // it was answered, not cancelled: the cause for work that its handler left running
	SourceCaller                       // this side, which sent it, has given it up
)

var sourceNames = [...]string{
	SourcePeer: "peer", SourceTimeout: "timeout", SourceDisconnect: "disconnect",
	SourceShutdown: "shutdown", SourceParent: "parent", SourceCompleted: "completed",
	SourceCaller: "caller",
}

// String returns the source's name, for logs.
func (s Source) String() string {
	if int(s) < len(sourceNames) && sourceNames[s] != "" {
		return sourceNames[s]
	}
	return "source " + strconv.Itoa(int(s))
}

// Cause is why a request ended; context.Cause of its context returns a *Cause (CAN13). It always matches context.Canceled,
// and context.DeadlineExceeded too when a deadline was the reason.
type Cause struct {
	Source Source
	Reason string // in the words of the peer or operator; may be empty
	Err    error  // SourceParent: the cause of the parent's end
	Force  bool   // ends protected requests too
}

// Error implements error.
func (c *Cause) Error() string {
	text := "request ended by " + c.Source.String()
	if c.Reason != "" {
		text += ": " + c.Reason
	}
	if c.Err != nil {
		text += ": " + c.Err.Error()
	}
	return text
}

// Is matches context.Canceled always and context.DeadlineExceeded for timeouts.
func (c *Cause) Is(target error) bool {
	return target == context.Canceled || target == context.DeadlineExceeded && c.Source == SourceTimeout
}

// Unwrap returns Err.
func (c *Cause) Unwrap() error { return c.Err }

// contextErr returns the Err of the request's context.
func (c *Cause) contextErr() error {
	if c.Source == SourceTimeout {
		return context.DeadlineExceeded
	}
	return context.Canceled
}

// endsProtected reports whether the cause ends protected requests: the author's own timeout does, others only by force.
func (c *Cause) endsProtected() bool { return c.Force || c.Source == SourceTimeout }
