package client

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client/internal/address"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// Cause is why a request ended without an answer: it was given up (CancelRequest, the caller's context), timed out, or the session ended.
type Cause = inflight.Cause

// Error is an error that a server answered instead of a result.
type Error = rpc.Error

// Errors of sessions and requests.
var (
	// ErrClosed is returned by calls after Close, unless the session had ended before.
	ErrClosed = errors.New("client: the session is closed")
	// ErrUncancellable is returned for a request that must not be cancelled, such as initialize (CAN07).
	ErrUncancellable = errors.New("client: the request can not be cancelled")
)

// TransportError says that a server could not be reached, or has ended the connection. Addresses are shown without user, query and fragment, which may
// be secret.
type TransportError struct {
	Err error // wraps an *rpc.BrokenOffError if a connection or a process has ended within a message
	// Stderr has the last lines that a child process wrote to its standard error, Noise the first lines of its standard output that were
	// no messages.
	Stderr, Noise string
	cause         *Cause
}

// Error implements error.
func (e *TransportError) Error() string {
	text := "client: " + address.InText(e.Err.Error())
	if e.Noise != "" {
		text += "; not a message on its standard output: " + rpc.Printable(e.Noise)
	}
	if e.Stderr != "" {
		text += "; its standard error: " + rpc.Printable(e.Stderr)
	}
	return rpc.Printable(text)
}

// Unwrap returns Err and, for a request, the *Cause of its end.
func (e *TransportError) Unwrap() []error {
	if e.cause == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.cause}
}

// StatusError says that an HTTP server answered with a status instead of a message.
type StatusError struct {
	Status int
	// Body is the beginning of the response's body, Challenge its WWW-Authenticate header.
	Body, Challenge string
	// RetryAfter is how long to wait before another request; 0: unknown.
	RetryAfter time.Duration
	// Location is where a redirect leads, without user, query and fragment; "" if the server does not say it.
	Location  string
	means     string // for the message that was sent, as far as that is known; begins with "; "
	noSession bool   // a 404 with which the server does not take a message of a session that it does not know
}

// Error implements error.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("client: HTTP status %d %s", e.Status, http.StatusText(e.Status))
	if e.Challenge != "" {
		text += " (" + address.InText(e.Challenge) + ")"
	}
	if e.Body != "" {
		text += ": " + rpc.Printable(e.Body)
	}
	return rpc.Printable(text + e.means)
}

// UnknownSession reports whether the server does not know the session of the message any more, or not at this replica.
func (e *StatusError) UnknownSession() bool { return e.noSession }

// Is implements errors.Is for errNoSession.
func (e *StatusError) Is(target error) bool { return target == errNoSession && e.noSession }

// legacy reports whether a server of older revisions may answer with this status to a request that it does not know.
func (e *StatusError) legacy() bool {
	switch e.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return false
	}
	return e.Status >= 400 && e.Status < 500 && !e.transient()
}

// transient reports whether the same request may be answered the next time.
func (e *StatusError) transient() bool {
	return e.Status == http.StatusRequestTimeout || e.Status == http.StatusTooManyRequests || e.Status >= 500
}

// ProtocolError says that the server broke the protocol, or that its answer is larger than this side reads (RaiseMaxFrame).
type ProtocolError struct {
	Method string // of the request whose answer is wrong; "" for none
	Err    error
	large  bool
}

// Error implements error.
func (e *ProtocolError) Error() string {
	switch {
	case e.large:
		return "client: the server's answer to " + e.Method + " is more than this side reads: " + rpc.Printable(e.Err.Error())
	case e.Method == "":
		return "client: the server broke the protocol: " + rpc.Printable(e.Err.Error())
	}
	return "client: the server broke the protocol in its answer to " + e.Method + ": " + rpc.Printable(e.Err.Error())
}

// Unwrap returns Err.
func (e *ProtocolError) Unwrap() error { return e.Err }

// RemedyError is an error with what can be done about it. The remedy is in words of this package: a program that shows errors to people shows Err, and says
// what they can do in its own words.
type RemedyError struct {
	Err    error
	Remedy Remedy
}

// Remedy says what the host of a session can do about an error.
type Remedy string

// The remedies.
const (
	ResumeTask            Remedy = "the task may go on: Resume follows it again by its Ref"
	ResumeResult          Remedy = "Resume asks for its result again by its Ref"
	ResumeUnlessCancelled Remedy = "the server is asked to cancel the task, and if it does not, the task goes on: Resume follows it by its Ref"
	RaiseMaximum          Remedy = "the server is asked to cancel the task: Timeout and WithTimeout set how long a call may take in all, and Start follows a task without a maximum"
	NameRevision          Remedy = "nor was server/discover answered: if the server starts slowly, give it more time (WithProbe), or name its revision (WithRevision)"
	MendDefinition        Remedy = "its server has to mend the definition of the tool; until then, it can be called in an older revision (WithRevision), or over the standard streams, as far as the server has these"
	RaiseMaxFrame         Remedy = "WithMaxFrame sets how large it may be, or, of a Conn, its own options"
)

// Error implements error.
func (e *RemedyError) Error() string { return e.Err.Error() + "; " + string(e.Remedy) }

// Unwrap returns Err.
func (e *RemedyError) Unwrap() error { return e.Err }

// UnconfirmedError says that an answer to a question was sent, and that it is not known whether the server has taken it. Err is why.
type UnconfirmedError struct{ Err error }

// Error implements error.
func (e *UnconfirmedError) Error() string {
	return e.Err.Error() + "; whether the server has taken the answer is not known"
}

// Unwrap returns Err.
func (e *UnconfirmedError) Unwrap() error { return e.Err }

// unconfirmed returns err as an *UnconfirmedError if doubt is true.
func unconfirmed(err error, doubt bool) error {
	if err == nil || !doubt || errors.As(err, new(*UnconfirmedError)) {
		return err
	}
	return &UnconfirmedError{err}
}

// broken returns a *ProtocolError.
func broken(method, format string, args ...any) error {
	return &ProtocolError{Method: method, Err: fmt.Errorf(format, args...)}
}

// moreThanRead returns the error of a request whose answer is larger than this side reads, as err says.
func moreThanRead(method string, err error) error {
	return &RemedyError{&ProtocolError{Method: method, Err: err, large: true}, RaiseMaxFrame}
}

// VersionError says that client and server have no revision of the protocol in common.
type VersionError struct {
	Client []string
	Server []string // as far as the server said
	Asked  string   // the revision of WithRevision, which this side does not know; "" for none
	Used   string   // the revision of a session that has ended because the server does not speak it any more; "" for none
}

// Error implements error.
func (e *VersionError) Error() string {
	if e.Asked != "" {
		return fmt.Sprintf("client: protocol revision %q is not known: there are %s", e.Asked, strings.Join(e.Client, ", "))
	}
	server := "another one"
	if len(e.Server) > 0 {
		server = rpc.Printable(strings.Join(e.Server, ", "))
	}
	knows := func(v string) bool { return slices.Contains(e.Client, v) }
	switch {
	case e.Used == "" && slices.ContainsFunc(e.Server, knows), slices.Contains(e.Server, e.Used):
		return "client: no common protocol revision: the server refuses what it says it speaks: " + server
	case e.Used != "":
		text := fmt.Sprintf("client: the session has ended: the server does not speak its protocol revision %s any more; this side speaks %s, the server %s",
			e.Used, strings.Join(e.Client, ", "), server)
		if slices.ContainsFunc(e.Server, knows) {
			text += ": connect again"
		}
		return text
	}
	return fmt.Sprintf("client: no common protocol revision: this side speaks %s, the server %s", strings.Join(e.Client, ", "), server)
}

// NotOfferedError says that the server has not declared the capability of a request, or that its revision has no such request.
type NotOfferedError struct {
	What, Revision string
}

// Error implements error.
func (e *NotOfferedError) Error() string {
	what := strings.ReplaceAll(e.What, "~1", "/") // it may be a path in the capabilities
	return fmt.Sprintf("client: the server does not offer %s (revision %s)", what, e.Revision)
}
