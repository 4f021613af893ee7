package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// noticing is an address that leads to another, and tells of each request for the result of a task.
func noticing(t *testing.T, to string) (address string, results <-chan struct{}) {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan struct{}, 100)
	proxy := httputil.NewSingleHostReverseProxy(target)
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if bytes.Contains(body, []byte(`"tasks/result"`)) {
			asked <- struct{}{}
		}
		r.Host = target.Host
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(ts.Close)
	return ts.URL, asked
}

// TestCAN31AnswerEndsWhenAnotherHasAnswered: in 2025-11-25 a question is put to one session at a time. A command that wants to answer what
// another one shows does not wait for a question that never comes.
func TestCAN31AnswerEndsWhenAnotherHasAnswered(t *testing.T) {
	shop, _ := openShop(t)
	address, results := noticing(t, shop)
	shown, goOn := make(chan struct{}), make(chan struct{})
	endpoint := client.HTTP(address)
	endpoint.Header = http.Header{"Authorization": {"Bearer ann"}}
	s, err := client.Connect(t.Context(), endpoint, client.WithRevision("2025-11-25"), client.WithHandlers(client.Handlers{
		Elicit: func(context.Context, *client.Question) (*client.Answer, error) {
			close(shown)
			<-goOn
			return &client.Answer{Action: client.Accepted, Content: json.RawMessage(`{"confirm":true}`)}, nil
		},
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	x, err := s.Start(t.Context(), "confirm_delete", json.RawMessage(`{"filename":"f"}`))
	if err != nil {
		t.Fatal(err)
	}
	<-shown
	<-results // of this session
	ref, _ := x.Ref()
	text, _ := json.Marshal(ref)
	type ended struct {
		status int
		stderr string
	}
	done := make(chan ended, 1)
	go func() {
		status, _, stderr := runs(t, "task", "answer", "-H", "Authorization: Bearer ann", string(text), "confirm=true")
		done <- ended{status, stderr}
	}()
	<-results // of the command, which waits from now on
	close(goOn)
	if e := <-done; e.status != exitRefused || !strings.Contains(e.stderr, "the task asks nothing any more: it is ") {
		t.Errorf("exit status %d: %s", e.status, e.stderr)
	}
}

// TestCAN31AnswerSaysWhatBecameOfTheQuestion: after the time that a question may take to come, what is said of it is what is so then.
func TestCAN31AnswerSaysWhatBecameOfTheQuestion(t *testing.T) {
	shop, _ := openShop(t)
	shown, goOn := make(chan struct{}), make(chan struct{})
	connect := func(handlers client.Handlers) *client.Session {
		endpoint := client.HTTP(shop)
		endpoint.Header = http.Header{"Authorization": {"Bearer ann"}}
		s, err := client.Connect(t.Context(), endpoint, client.WithRevision("2025-11-25"), client.WithHandlers(handlers))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	other := connect(client.Handlers{Elicit: func(context.Context, *client.Question) (*client.Answer, error) {
		close(shown)
		<-goOn
		return &client.Answer{Action: client.Accepted, Content: json.RawMessage(`{"confirm":true}`)}, nil
	}})
	x, err := other.Start(t.Context(), "confirm_delete", json.RawMessage(`{"filename":"f"}`))
	if err != nil {
		t.Fatal(err)
	}
	ref, _ := x.Ref()
	<-shown
	v := &visit{remote: &remote{}, ctx: t.Context(), session: connect(client.Handlers{})}
	late := make(chan time.Time)
	close(late)
	given := &reply{done: make(chan error, 1)}
	for range 50 { // both are there: what was given counts
		given.done <- nil
		if err := v.awaitGiven(ref, given, nil, late); err != nil {
			t.Fatalf("it was given: %v", err)
		}
	}
	if err := v.awaitGiven(ref, given, nil, late); err == nil || !strings.Contains(err.Error(), "another one or a host shows it") {
		t.Errorf("another one shows it: %v", err)
	}
	close(goOn)
	if _, err := x.Result(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := v.awaitGiven(ref, &reply{done: make(chan error, 1)}, nil, late); err == nil || !strings.Contains(err.Error(), "the task asks nothing any more: it is completed") {
		t.Errorf("another one has answered: %v", err)
	}
}

// TestEXT22AnAnswerWaitsForItsQuestion: a task that is at work may be about to ask. One that asks nothing meanwhile is not answered.
func TestEXT22AnAnswerWaitsForItsQuestion(t *testing.T) {
	a, ref := ask(t, 0, sureForm)
	a.change(func() { a.stale = slices.Repeat([]string{`"status":"working"`}, 4) })
	if status, stdout, stderr := runs(t, "task", "answer", ref, "yes=true"); status != 0 || len(a.open()) > 0 {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
	s, err := client.Connect(t.Context(), client.HTTP(endpointOf(t, ref)))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var read client.Ref
	if err := json.Unmarshal([]byte(ref), &read); err != nil {
		t.Fatal(err)
	}
	a.change(func() { a.stale = []string{`"status":"working"`} })
	late := make(chan time.Time)
	close(late)
	v := &visit{remote: &remote{}, ctx: t.Context(), session: s}
	if err := v.awaitGiven(read, &reply{early: true, done: make(chan error, 1)}, nil, late); err == nil || !strings.Contains(err.Error(), "the task asks nothing: it is working\n  its result, when it is over") {
		t.Errorf("%v", err)
	}
}
