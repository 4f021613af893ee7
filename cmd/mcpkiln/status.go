package main

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/target"
	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// The exit statuses of commands that talk to a server, besides 0.
const (
	exitTool          = 1 // the tool failed, or the server refused the call
	exitRefused       = 2 // nothing was sent
	exitNetwork       = 3
	exitAuth          = 4
	exitProtocol      = 5 // the server violated the protocol, or its own schema
	exitInputRequired = 6
	exitTimeout       = 7
	exitCancelled     = 8 // by the other side
	exitInterrupted   = 130
)

// statusError ends a command with an exit status.
type statusError struct {
	status int
	err    error // nil: the message has been printed
}

// Error implements error.
func (e *statusError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

// Unwrap returns the error that is printed.
func (e *statusError) Unwrap() error { return e.err }

// refused gives an error that was found before anything was sent its exit status.
func refused(err error) error {
	if err == nil {
		return nil
	}
	return &statusError{exitRefused, err}
}

// errInterrupted is the cause of a context that the user's interrupt has cancelled.
var errInterrupted = errors.New("interrupted")

// refusedSession gives its exit status to the error of a server that refuses a session.
func (v *visit) refusedSession(err error) error {
	var answered *client.Error
	if status, _ := statusOf(err); status != exitTool || !errors.As(err, &answered) {
		return err
	}
	text := "the server refuses to begin: " + describe(err)
	if with := (*client.RemedyError)(nil); errors.As(err, &with) {
		text += "\n  " + v.remedy(with.Remedy)
	}
	return &statusError{exitProtocol, errors.New(text)}
}

// timeoutHelp is the help for a timeout.
const timeoutHelp = "--timeout sets how long it may take"

// statusOf returns the exit status of an error, and what would help; "" if that is not known.
func statusOf(err error) (status int, help string) {
	var (
		status0    *client.StatusError
		protocol   *client.ProtocolError
		version    *client.VersionError
		none       *client.NotOfferedError
		resumable  *client.NotResumableError
		ref        *client.RefError
		cause      *client.Cause
		transport  *client.TransportError
		taskFailed *client.TaskError
		answered   *client.Error
	)
	switch {
	case errors.Is(err, errInterrupted):
		return exitInterrupted, ""
	case errors.As(err, &ref):
		return exitRefused, helpWithRef(ref)
	case errors.As(err, &resumable), errors.As(err, &none), errors.As(err, &version) && version.Asked != "":
		return exitRefused, ""
	case errors.As(err, &status0):
		return statusOfHTTP(status0)
	case errors.As(err, &protocol):
		return exitProtocol, helpWithProtocol(protocol)
	case errors.As(err, &version):
		return exitProtocol, ""
	case errors.As(err, &taskFailed):
		return statusOfTask(taskFailed)
	case errors.As(err, &transport):
		return statusOfTransport(transport)
	case errors.As(err, &cause):
		return statusOfCause(cause)
	case errors.Is(err, context.DeadlineExceeded):
		return exitTimeout, ""
	case errors.As(err, &answered) && answered.Busy:
		return exitNetwork, "its HTTP status, 408, 429 or 5xx, says that the server is busy, or has a fault of its own: try again " + when(answered.Wait)
	case errors.As(err, &answered):
		return exitTool, pagesFirst(answered)
	}
	return exitNetwork, ""
}

// pagesFirst names the pages that an error of a server wants visited before the call comes again (URLElicitationRequiredError of 2025-11-25).
func pagesFirst(e *client.Error) string {
	var data struct {
		Elicitations []struct{ URL, Message string }
	}
	if json.Unmarshal(e.Data, &data) != nil || len(data.Elicitations) == 0 {
		return ""
	}
	text := "visit first, and then call again:"
	for _, page := range data.Elicitations {
		text += "\n" + plain.Quote(page.URL+"\n"+page.Message)
	}
	return text
}

// refVersion is the Ref.Version that this version of mcpkiln prints and reads.
const refVersion = 1

// helpWithRef says what to do about a reference that is of no task of the session.
func helpWithRef(e *client.RefError) string {
	if e.Ref.Version != refVersion {
		return "another version of mcpkiln has printed it: follow the task with that one"
	}
	return "the reference says which server has the task, and in which revision: name no other"
}

// whichPath is the help for an address that is probably of something else.
const whichPath = "is the path of the address right? Many servers have their endpoint at /mcp"

// addressIsRight is the help in place of whichPath once a session has begun.
const addressIsRight = "the session has begun at this address, so it is right: the server, or a proxy before it, does not take this request now. Try again later"

// isItAServer is the help for a command that ends without an answer, and goesOn the one in its place once a session has begun.
const (
	isItAServer = "is that a server? One on a pipe reads messages from its standard input, and ends when that does"
	goesOn      = "a server on a pipe ends when its standard input does, and no sooner"
)

// statusOf is like the function statusOf, but does not doubt the address or the command with which the session has begun.
func (v *visit) statusOf(err error) (status int, help string) {
	status, help = statusOf(err)
	switch {
	case v.session == nil:
	case strings.HasPrefix(help, whichPath):
		help = addressIsRight
	case help == isItAServer:
		help = goesOn
	}
	return status, help
}

func helpWithProtocol(e *client.ProtocolError) string {
	switch text := e.Err.Error(); {
	case strings.HasPrefix(text, "the server answers with text/html"):
		return whichPath
	case errors.As(e.Err, new(*rpc.FrameError)):
		return "no larger message is read: ask the tool for less, or for a part at a time"
	}
	return ""
}

func statusOfHTTP(e *client.StatusError) (status int, help string) {
	const how = ": put one into " + target.TokenVariable + " in the environment, or use --header 'Authorization: …'"
	switch e.Status {
	case http.StatusProxyAuthRequired:
		return exitAuth, "the proxy wants a user and a password. " + whichProxy
	case http.StatusUnauthorized:
		return exitAuth, "the server wants to know who asks, by a token that it accepts" + how
	case http.StatusForbidden:
		return exitAuth, "the server wants a token that allows this" + how
	case http.StatusMethodNotAllowed:
		return exitNetwork, whichPath + ". " + target.NoSSE
	case http.StatusNotFound:
		if e.UnknownSession() {
			return exitNetwork, "the server has ended the session, or passes its messages on to another that does not know it: call again"
		}
		return exitNetwork, whichPath
	case http.StatusBadRequest:
		if strings.Contains(e.Body, "HTTPS") && strings.Contains(e.Body, "HTTP request") { // as net/http and nginx say it
			return exitNetwork, useHTTPS
		}
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		if e.Location == "" {
			return exitNetwork, whichPath
		}
		return exitNetwork, "write that address in place of this one if you trust it: arguments and tokens go there"
	}
	if e.Status == http.StatusTooManyRequests || e.Status >= http.StatusInternalServerError {
		return exitNetwork, "the server is busy, or has a fault of its own: try again " + when(e.RetryAfter)
	}
	return exitNetwork, ""
}

// when says when to try again; wait is 0 if the server does not say that.
func when(wait time.Duration) string {
	if wait > 0 {
		return "in " + wait.String()
	}
	return "later"
}

// whichProxy is the help for a proxy.
const whichProxy = "HTTP_PROXY or HTTPS_PROXY in the environment names it, as http://USER:PASSWORD@HOST:PORT if it wants them; NO_PROXY names the hosts that are reached without it"

// statusOfTask returns the exit status for a task that was cancelled, failed, or is unknown, and what would help.
func statusOfTask(e *client.TaskError) (status int, help string) {
	var answered *client.Error
	var expired *client.ExpiredError
	switch {
	case e.State.Status == task.Cancelled:
		return exitCancelled, ""
	case errors.As(e.Err, &expired):
		return exitTool, whyUnknown
	case errors.As(e.Err, &answered) && over(e.State):
		return exitTool, ""
	case e.Err != nil:
		return statusOf(e.Err)
	}
	return exitTool, ""
}

// whyUnknown explains why a server may not know a task.
const whyUnknown = "a server keeps a task for a while, and for the one who made it: it has expired, belongs to somebody else, or has ended with its session, where the server knows nobody by a token"

func statusOfTransport(e *client.TransportError) (status int, help string) {
	asked := (*url.Error)(nil)
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch text := e.Err.Error(); {
	case errors.As(e.Err, &asked) && refusingProxy(asked) != "":
		if asked.Err.Error() == http.StatusText(http.StatusProxyAuthRequired) {
			return exitAuth, whichProxy
		}
		return exitNetwork, whichProxy
	case e.Noise != "":
		return exitProtocol, "a server on a pipe writes messages to its standard output, and everything else to its standard error"
	case errors.Is(e.Err, context.DeadlineExceeded):
		return exitTimeout, timeoutHelp
	case strings.Contains(text, `malformed HTTP response "\x15\x03`): // an alert of TLS
		return exitProtocol, useHTTPS
	case strings.Contains(text, "malformed HTTP"), strings.Contains(text, "readLoopPeekFailLocked"): // the server sends before it gets a request
		return exitProtocol, "the server speaks another protocol: is the address right?"
	case strings.Contains(text, "server gave HTTP response to HTTPS client"):
		return exitProtocol, "the server does not speak TLS there, but HTTP: write http:// in place of https://"
	case strings.Contains(text, "does not look like a TLS handshake"):
		return exitProtocol, "the server does not speak TLS: does its address begin with http://?"
	case strings.HasSuffix(text, "the server has ended: exit status 0"):
		return exitNetwork, isItAServer
	case strings.Contains(text, "connection refused"), strings.Contains(text, "no such host"):
		return exitNetwork, "is the address right, and does the server run?"
	case errors.As(e.Err, &name):
		return exitNetwork, "is the address right? " + namesOf(name.Certificate)
	case errors.As(e.Err, &invalid) && invalid.Reason == x509.Expired:
		return exitNetwork, "the server has to renew its certificate, unless the clock of this machine is wrong"
	case strings.Contains(text, "certificate"):
		return exitNetwork, "SSL_CERT_FILE in the environment names a file with the authorities to trust"
	}
	return exitNetwork, ""
}

// useHTTPS is the help for an address of http:// at which a server wants TLS.
const useHTTPS = "the server speaks TLS there: write https:// in place of http://"

// namesOf says which hosts a certificate is for.
func namesOf(c *x509.Certificate) string {
	var names []string
	for _, name := range c.DNSNames {
		names = append(names, plain.Line(name))
	}
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return "The certificate names no host"
	}
	return "The certificate is for " + listed(names)
}

func statusOfCause(c *client.Cause) (status int, help string) {
	switch c.Source {
	case inflight.SourceTimeout:
		return exitTimeout, timeoutHelp
	case inflight.SourcePeer:
		return exitCancelled, ""
	case inflight.SourceCaller:
		return exitInterrupted, ""
	case inflight.SourceParent:
		if c.Err != nil && errors.Is(c.Err, context.DeadlineExceeded) {
			return exitTimeout, timeoutHelp
		}
		return exitInterrupted, ""
	}
	return exitNetwork, ""
}

// describe returns the message of an error, with the last output of a server's process on marked lines of its own.
func describe(err error) string {
	err = withoutRemedy(err)
	var lost *client.TransportError
	if !errors.As(err, &lost) {
		return reason(err)
	}
	text := reason(lost.Err)
	for _, said := range []struct{ where, text string }{
		{"on its standard output, and no message", firstLines(lost.Noise)}, {"on its standard error", lost.Stderr},
	} {
		if said.text != "" {
			text += "\n  " + said.where + ":\n" + plain.Quote(strings.TrimSpace(said.text))
		}
	}
	return text
}

// maxLines is how many lines are shown of what is no message.
const maxLines = 10

// firstLines returns the first lines of a text, and a last one with … if there are more.
func firstLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) > maxLines {
		lines = append(lines[:maxLines], "…")
	}
	return strings.Join(lines, "\n")
}

// reason returns the message of an error that stands for itself, each thing said once: a request that is out of time, and an address that is not reached.
func reason(err error) string {
	switch e := err.(type) {
	case *client.Cause:
		if e.Source == inflight.SourceTimeout && e.Reason != "" {
			return "the request was " + e.Reason
		}
	case *url.Error:
		if proxy := refusingProxy(e); proxy != "" {
			return "the proxy " + proxy + " does not connect to " + e.URL + ": " + innermost(e.Err).Error()
		}
		return e.URL + ": " + innermost(e.Err).Error()
	}
	return strings.TrimPrefix(err.Error(), "client: ")
}

// refusingProxy returns the proxy that has failed in place of the server; "" if none has. What it answers in place of a connection is an error with the text
// of its HTTP status.
func refusingProxy(e *url.Error) string {
	asked, err := url.Parse(e.URL)
	if err != nil {
		return ""
	}
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: asked})
	var op *net.OpError
	connects := errors.As(e.Err, &op) && op.Op == "proxyconnect"
	for status := 300; status < 600 && !connects; status++ {
		connects = e.Err.Error() == http.StatusText(status)
	}
	if err != nil || proxy == nil || !connects {
		return ""
	}
	return proxy.Host
}

// innermost returns the error of a connection without those that name the address, the resolver and the system call.
func innermost(err error) error {
	for op := (*net.OpError)(nil); errors.As(err, &op); { // that of a proxy is around that of the connection to it
		err = op.Err
	}
	if dns := (*net.DNSError)(nil); errors.As(err, &dns) {
		err = errors.New(dns.Err)
	}
	if call := (*os.SyscallError)(nil); errors.As(err, &call) {
		err = call.Err
	}
	return err
}
