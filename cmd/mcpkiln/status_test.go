package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// TestEveryErrorHasItsExitStatus: also those that are the reason of others.
func TestEveryErrorHasItsExitStatus(t *testing.T) {
	gone := &client.TransportError{Err: errors.New("gone")}
	for _, c := range []struct {
		err  error
		want int
	}{
		{&client.Error{Code: -32603}, exitTool},
		{&client.Error{Code: -32603, Busy: true}, exitNetwork},
		{&client.TaskError{State: client.TaskState{Status: task.Working}, Err: &client.Error{Code: -32603, Busy: true}}, exitNetwork},
		{&client.TaskError{State: client.TaskState{Status: task.Failed}}, exitTool},
		{&client.TaskError{Err: &client.ExpiredError{}}, exitTool},
		{&client.TaskError{State: client.TaskState{Status: task.Cancelled}}, exitCancelled},
		{&client.TaskError{State: client.TaskState{Status: task.Working}, Err: gone}, exitNetwork},
		{&client.TaskError{State: client.TaskState{Status: task.Working}, Err: &client.StatusError{Status: 401}}, exitAuth},
		{&client.NotOfferedError{}, exitRefused},
		{&client.NotResumableError{}, exitRefused},
		{&client.RefError{}, exitRefused},
		{gone, exitNetwork},
		{&client.TransportError{Err: errors.New("gone"), Noise: "hello"}, exitProtocol},
		{&client.StatusError{Status: 403}, exitAuth},
		{&client.StatusError{Status: 407}, exitAuth},
		{&client.StatusError{Status: 503}, exitNetwork},
		{&client.ProtocolError{Err: errors.New("x")}, exitProtocol},
		{&client.VersionError{}, exitProtocol},
		{&client.Cause{Source: inflight.SourceTimeout}, exitTimeout},
		{&client.Cause{Source: inflight.SourceParent, Err: context.DeadlineExceeded}, exitTimeout},
		{&client.Cause{Source: inflight.SourcePeer}, exitCancelled},
		{&client.Cause{Source: inflight.SourceCaller}, exitInterrupted},
		{&client.Cause{Source: inflight.SourceDisconnect}, exitNetwork},
		{errInterrupted, exitInterrupted},
	} {
		var got *statusError
		if err := new(visit).withRemedy(c.err); !errors.As(err, &got) || got.status != c.want {
			t.Errorf("%T %v: %+v, want status %d", c.err, c.err, got, c.want)
		}
	}
	if err := new(visit).withRemedy(nil); err != nil {
		t.Error(err)
	}
}

// TestATaskWhoseServerHasGoneIsNamed: in a way that a shell takes for one word, whatever the server calls it.
func TestATaskWhoseServerHasGoneIsNamed(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	v := &visit{remote: &remote{}, ctx: t.Context(), ref: &client.Ref{Version: 1, ID: "a'; rm -rf /; '"}}
	gone := &client.TaskError{Err: &client.TransportError{Err: errors.New("gone")}}
	var own *statusError
	err := v.withRef(gone)
	if !errors.As(err, &own) || own.status != exitNetwork || !strings.HasSuffix(err.Error(), `: mcpkiln task wait '{"version":1,"revision":"","tool":"","id":"a'\''; rm -rf /; '\''"}' -- COMMAND`) {
		t.Error(err)
	}
	refused := &client.TaskError{State: client.TaskState{Status: task.InputRequired}, Err: &client.StatusError{Status: http.StatusUnauthorized}}
	if err := v.withRef(refused); !errors.As(err, &own) || own.status != exitAuth || !strings.Contains(err.Error(), "the task may go on: mcpkiln task wait") {
		t.Error(err)
	}
	for _, ended := range []*client.TaskError{
		{State: client.TaskState{Status: task.Failed}},
		{State: client.TaskState{Status: task.Failed}, Err: &client.Error{Code: 1}},
		{State: client.TaskState{Status: task.Working}, Err: &client.ExpiredError{}},
	} {
		if err := v.withRef(ended); err != ended {
			t.Errorf("a task that is over: %v", err)
		}
	}
}

// TestAReferenceOfAnotherVersionNamesNoServer as the remedy: the server that it names may be right.
func TestAReferenceOfAnotherVersionNamesNoServer(t *testing.T) {
	_, ref := ask(t, 0)
	_, other := ask(t, 0)
	for want, args := range map[string][]string{
		"another version of mcpkiln has printed it":    {strings.Replace(ref, `"version":1`, `"version":9`, 1)},
		"the reference says which server has the task": {ref, endpointOf(t, other)},
	} {
		status, _, stderr := runs(t, append([]string{"task", "get"}, args...)...)
		if status != exitRefused || !strings.Contains(stderr, want) {
			t.Errorf("%v: status %d: %s", args, status, stderr)
		}
	}
}

// TestAReferenceOfAnotherVersionIsKnownByItsVersion and not by the words of an error.
func TestAReferenceOfAnotherVersionIsKnownByItsVersion(t *testing.T) {
	for version, want := range map[int]string{1: "name no other", 2: "another version of mcpkiln"} {
		if err := new(visit).withRemedy(&client.RefError{Ref: client.Ref{Version: version}, Why: "in other words"}); !strings.Contains(err.Error(), want) {
			t.Errorf("version %d: %v", version, err)
		}
	}
}

// TestAnErrorInTheBodyHidesNoHTTPStatus: the exit status is that of a response without one, at any moment of a session.
func TestAnErrorInTheBodyHidesNoHTTPStatus(t *testing.T) {
	for status, says := range map[int]string{
		http.StatusTooManyRequests: "try again in 1m0s", http.StatusInternalServerError: "try again in 1m0s", http.StatusServiceUnavailable: "try again in 1m0s",
		http.StatusNotFound: whichPath, http.StatusMethodNotAllowed: whichPath,
	} {
		for _, fails := range []string{"initialize", "tools/list", "tools/call"} {
			ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var m struct {
					ID     json.RawMessage
					Method string
				}
				_ = json.NewDecoder(r.Body).Decode(&m)
				result := map[string]string{
					"initialize": `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`,
					"tools/list": `{"tools":[` + plainTool + `]}`,
				}[m.Method]
				w.Header().Set("Content-Type", "application/json")
				switch {
				case m.Method == fails:
					w.Header().Set("Retry-After", "60")
					w.WriteHeader(status)
					fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"words"}}`, m.ID)
				case result != "":
					fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
				default:
					w.WriteHeader(http.StatusAccepted)
				}
			}))
			says := says
			if says == whichPath && fails != "initialize" { // the requests before were answered there
				says = addressIsRight
			}
			exit, stdout, stderr := runs(t, "call", "--revision", "2025-11-25", ts.URL, "t")
			if exit != exitNetwork || !strings.Contains(stderr, "words") || !strings.Contains(stderr, says) {
				t.Errorf("%d for %s: status %d: %s%s", status, fails, exit, stdout, stderr)
			}
			ts.Close()
		}
	}
}

// TestAServerThatEndsWithinASessionIsOne: nobody is asked whether what has begun a session is a server.
func TestAServerThatEndsWithinASessionIsOne(t *testing.T) {
	const said = "  on its standard error:\n  | server/discover\n  | tools/list\n  | tools/call\n"
	for way, want := range map[string]string{
		"ends":       "mcpkiln: the server has ended: exit status 0\n" + said + "  a server on a pipe ends when its standard input does, and no sooner\n",
		"breaks off": "mcpkiln: the server has ended: exit status 0; its last message was broken off after 34 bytes\n" + said,
	} {
		status, stdout, stderr := runs(t, "call", "t", "--", "odd", way)
		if status != exitNetwork || stderr != want {
			t.Errorf("%s: status %d: %s%s", way, status, stdout, stderr)
		}
	}
}

// TestAProxyThatFailsIsNamed, and not the server.
func TestAProxyThatFailsIsNamed(t *testing.T) {
	for refusal, want := range map[int]int{http.StatusForbidden: exitNetwork, http.StatusProxyAuthRequired: exitAuth, 0: exitNetwork} {
		proxy := closed(t)
		if refusal != 0 {
			proxy = bad(t, refusal, "", "text/plain", "")
		}
		host := strings.TrimPrefix(proxy, "http://")
		t.Setenv("HTTPS_PROXY", "http://user:secret@"+host)
		t.Setenv("HTTP_PROXY", "http://user:secret@"+host)
		for _, url := range []string{"https://server.example/mcp", "http://server.example/mcp"} {
			status, _, stderr := runs(t, "call", url, "t")
			says := "mcpkiln: the proxy " + host + " does not connect to " + url + ": "
			switch {
			case strings.HasPrefix(url, "http:") && refusal == http.StatusForbidden:
				continue // it may as well be the server's
			case strings.HasPrefix(url, "http:") && refusal != 0:
				says = "the proxy wants a user and a password"
			}
			if status != want || !strings.Contains(stderr, says) || !strings.Contains(stderr, "HTTPS_PROXY") || strings.Contains(stderr, "secret") {
				t.Errorf("%d, %s: status %d: %s", refusal, url, status, stderr)
			}
		}
	}
}
