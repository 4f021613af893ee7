package client

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/url"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/client/internal/address"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Ref names a task for another session, also in another process: see Execution.Ref and Session.Resume. It has no secrets, so of a command
// it names only the program (Session.Endpoint).
type Ref struct {
	Version  int    `json:"version"` // of the format of Refs: 1
	Endpoint string `json:"endpoint,omitempty"`
	Revision string `json:"revision"`
	Tool     string `json:"tool"`
	ID       string `json:"id"`
	// Schema is the SchemaHash of the tool, set by generated clients; it may be "" from other callers.
	Schema string `json:"schema,omitempty"`
}

// Endpoint returns how a Ref names the server of this session: its address, or the program of a child process, without parts that may be secret; ""
// for a connection.
func (s *Session) Endpoint() string { return s.endpoint }

// refVersion is the only Ref.Version so far.
const refVersion = 1

// Resume follows a task that another session has started, perhaps in another process.
func (s *Session) Resume(_ context.Context, ref Ref, opts ...CallOption) (*Execution[ToolResult], error) {
	x, err := s.resume(ref, opts)
	if err != nil {
		return nil, err
	}
	return untyped(x), nil
}

func (s *Session) resume(ref Ref, opts []CallOption) (*execution, error) {
	if err := s.checkRef(ref); err != nil {
		return nil, err
	}
	var c callConfig
	for _, o := range opts {
		o(&c)
	}
	x := newExecution(s.followerOf(ref), rpc.ID{})
	return x, x.begin()
}

func (s *Session) followerOf(ref Ref) *follower {
	return s.newFollower(s.dialect.Load(), ref.Tool, TaskState{ID: ref.ID, Status: task.Working, TTL: -1})
}

// RefError says that a session can not follow a task, and why: the task is of another server or revision.
type RefError struct {
	Ref Ref
	Why string
}

// Error implements error.
func (e *RefError) Error() string { return "client: this is no task of the session: " + e.Why }

// checkRef returns an error for a Ref that this session can not follow.
func (s *Session) checkRef(ref Ref) error {
	if err := s.usable(); err != nil {
		return err
	}
	switch d := s.dialect.Load(); {
	case ref.Version != refVersion:
		return &RefError{ref, fmt.Sprintf("version %d of references is not known", ref.Version)}
	case ref.ID == "":
		return &RefError{ref, "it has no id"}
	case ref.Revision != d.Version:
		return &RefError{ref, fmt.Sprintf("it is of revision %s, the session of %s", ref.Revision, d.Version)}
	case ref.Endpoint != s.endpoint && programOf(ref.Endpoint) == programOf(s.endpoint):
		return &RefError{ref, "it is at " + programOf(ref.Endpoint) + " started with other arguments"}
	case ref.Endpoint != s.endpoint:
		return &RefError{ref, fmt.Sprintf("it is at %q, the session at %q", ref.Endpoint, s.endpoint)}
	case !d.HasTasks, !s.server.has[wire.OpGetTask]:
		return &NotOfferedError{What: opNames[wire.OpGetTask], Revision: d.Version}
	}
	return nil
}

// GetTask reads the state of a task once. It does not answer the task's questions. The errors are those of requests, and *Error for a task that
// the server does not know, or that belongs to another caller.
func (s *Session) GetTask(ctx context.Context, ref Ref, opts ...CallOption) (TaskState, error) {
	if err := s.checkRef(ref); err != nil {
		return TaskState{}, err
	}
	f := s.followerOf(ref)
	state, _, err := f.read(ctx, opts...)
	return state, err
}

// ref returns the Ref of the task; zero: the call is no task.
func (x *execution) ref() Ref {
	if x.task == "" {
		return Ref{}
	}
	return Ref{Version: refVersion, Endpoint: x.s.endpoint, Revision: x.dialect.Version, Tool: x.tool, ID: x.task}
}

// endpointOf names a server without parts that may be secret: user, query and fragment of an address, and the arguments of a command, which
// may have a token or a password. A few bits of a hash tell two commands apart, and reveal nothing about a secret in them.
func endpointOf(t Transport) string {
	switch t := t.(type) {
	case *Endpoint:
		u, err := url.Parse(t.URL)
		if err != nil {
			return ""
		}
		return address.Of(u)
	case *Process:
		if len(t.Args) == 0 {
			return t.Path
		}
		sum := sha256.Sum256([]byte(strings.Join(t.Args, "\x00")))
		return fmt.Sprintf("%s"+withArguments+"%x)", t.Path, sum[:3])
	}
	return ""
}

// withArguments is the text between the program and the hash of its arguments.
const withArguments = " and its arguments ("

// programOf returns the program of a command that an endpoint names.
func programOf(endpoint string) string {
	path, _, _ := strings.Cut(endpoint, withArguments)
	return path
}
