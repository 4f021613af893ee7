package client

import (
	"context"
	"fmt"
)

// NotResumableError says why a call of a tool could not be followed by another process, and what would help.
type NotResumableError struct {
	Tool, Why, Remedy string
	// Store: a durable store would help. Identity: an identity of the caller would.
	Store, Identity bool
}

// Error implements error.
func (e *NotResumableError) Error() string {
	return fmt.Sprintf("client: a call of %s can not be followed by another process: %s; %s", e.Tool, e.Why, e.Remedy)
}

// Resumable returns a *NotResumableError if it is known before a tool is called that no other process could follow the call: it will be no task,
// or a task that ends with this session, or that no other session may see. durable says that a server which ends with its session keeps its tasks
// in a store that outlives it. Other errors are those of ListTools.
func (s *Session) Resumable(ctx context.Context, tool string, durable bool) error {
	d := s.dialect.Load()
	no := func(why, remedy string) error { return &NotResumableError{Tool: tool, Why: why, Remedy: remedy} }
	switch {
	case !d.HasTasks:
		return no("revision "+d.Version+" has no tasks", "speak a revision that has them")
	case !s.server.tasks && !s.server.taskCalls:
		return no("the server has no tasks", "call it and wait")
	case s.link.shared() && !durable:
		return &NotResumableError{Tool: tool, Store: true, Why: "a server on a pipe ends with its session, and its tasks end with it",
			Remedy: "reach it over HTTP, or say that it keeps its tasks in a durable store"}
	case d.Handshake && s.anonymous():
		return &NotResumableError{Tool: tool, Identity: true, Why: "the tasks of a session without an identity are seen by that session alone",
			Remedy: "send a token that the server knows the caller by"}
	case !d.Task.ClientDecides:
		return nil // the server decides
	}
	support, err := s.taskSupport(ctx, tool)
	if err == nil && support != supportRequired && support != supportOptional {
		return no("the tool does not run as a task", "call it and wait")
	}
	return err
}

// anonymous reports whether the session's requests have nothing that can identify the caller.
func (s *Session) anonymous() bool {
	l, ok := s.link.(*httpLink)
	return ok && len(l.endpoint.Header) == 0 && l.endpoint.Client == nil
}

// taskSupport returns the tool's taskSupport.
func (s *Session) taskSupport(ctx context.Context, tool string) (string, error) {
	known, ok := s.tools.get(tool)
	if !ok {
		if err := s.learnAgain(ctx); err != nil {
			return "", err
		}
		known, _ = s.tools.get(tool)
	}
	return known.support, nil
}
