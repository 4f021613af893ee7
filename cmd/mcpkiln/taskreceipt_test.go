package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

const refuses = `"error":{"code":-32602,"message":"yes: must be an odd boolean"}`

// saying answers a request with the members of a message.
func saying(members string) func(http.ResponseWriter, json.RawMessage) {
	return func(w http.ResponseWriter, id json.RawMessage) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, id, members)
	}
}

// TestEXT22AnAnswerIsReportedByItsReceipt: a task that ends meanwhile says nothing of whether the server has taken the answer. What does not come is not
// waited for long.
func TestEXT22AnAnswerIsReportedByItsReceipt(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for _, c := range []struct {
		receipt error // nil: there is none
		status  int
		says    string
	}{
		{&client.Error{Code: -32602, Message: "unknown task"}, exitTool, "the server has refused the answer: unknown task (code -32602)\n  what the task asks now: mcpkiln task get t1"},
		{&client.Cause{Source: inflight.SourceParent, Reason: "the task that asked is over"}, exitRefused, "the answer came too late: the task that asked is over\n  what the task does now: mcpkiln task get t1"},
		{&client.UnconfirmedError{Err: &client.Cause{Source: inflight.SourceParent, Reason: "the task that asked is over"}}, exitTimeout, "the task that asked is over\n  whether the server has taken the answer is not known: mcpkiln task get t1"},
		{&client.UnconfirmedError{Err: &client.StatusError{Status: 404}}, exitNetwork, "HTTP status 404 Not Found\n  whether the server has taken the answer is not known: mcpkiln task get t1\n  " + whichPath},
		{nil, exitTimeout, "the task can not be followed any more, and whether the server has taken the answer is not known: mcpkiln task get t1"},
	} {
		synctest.Test(t, func(t *testing.T) {
			ref := client.Ref{Endpoint: "https://shop.example/mcp", ID: "t1"}
			v := &visit{remote: &remote{}, ctx: t.Context(), ref: &ref}
			r := &reply{received: make(chan error, 1)}
			ended, done := make(chan error, 1), make(chan error, 1)
			ended <- nil // the task is over
			go func() { done <- v.received(ref, r, ended) }()
			synctest.Wait()
			if len(done) > 0 {
				t.Fatal("the receipt was not waited for")
			}
			if c.receipt != nil {
				r.received <- c.receipt
			}
			err := <-done
			var own *statusError
			if !errors.As(err, &own) || own.status != c.status || err.Error() != c.says {
				t.Errorf("%v: %#v %v", c.receipt, own, err)
			}
		})
	}
}

// TestEXT22WhatBecomesOfAnAnswerIsSaid, with a remedy, and only what is known.
func TestEXT22WhatBecomesOfAnAnswerIsSaid(t *testing.T) {
	drop := func(http.ResponseWriter, json.RawMessage) { panic(http.ErrAbortHandler) }
	failing := func(status int) func(http.ResponseWriter, json.RawMessage) {
		return func(w http.ResponseWriter, _ json.RawMessage) { w.WriteHeader(status) }
	}
	for name, c := range map[string]struct {
		change func(a *asking)
		fields string
		status int
		says   string
	}{
		"taken":           {func(a *asking) {}, "yes=true", 0, "completed\n"},
		"breaks the form": {func(a *asking) {}, "yes=maybe", exitRefused, "mcpkiln: yes: "},
		"no such field":   {func(a *asking) {}, "no=true", exitRefused, "mcpkiln: the question has no field \"no\""},
		"refused":         {func(a *asking) { a.receipt = saying(refuses) }, "yes=true", exitTool, "mcpkiln: the server has refused the answer: yes: must be an odd boolean (code -32602)\n  what the task asks now: mcpkiln task get t1\n"},
		"over":            {func(a *asking) { clear(a.questions) }, "yes=true", exitRefused, "mcpkiln: the task asks nothing: it is completed\n  its result: mcpkiln task result t1\n"},
		"unknown":         {func(a *asking) { a.expired = true }, "yes=true", exitTool, "mcpkiln: unknown task\n  " + whyUnknown + "\n"},
		"lost":            {func(a *asking) { a.receipt = drop }, "yes=true", exitTimeout, "\n  whether the server has taken the answer is not known: mcpkiln task get t1\n"},
		"not allowed":     {func(a *asking) { a.receipt = failing(403) }, "yes=true", exitAuth, "HTTP status 403 Forbidden\n  the server has not taken the answer\n  the server wants a token that allows this: "},
	} {
		a, ref := ask(t, 0, sureForm)
		a.change(func() { c.change(a) })
		status, stdout, stderr := runs(t, "task", "answer", "--timeout=3s", ref, c.fields)
		if all := stdout + stderr; status != c.status || !strings.Contains(all, c.says) || strings.HasPrefix(c.says, "mcpkiln") && !strings.HasPrefix(all, c.says) {
			t.Errorf("%s: status %d: %s", name, status, all)
		}
		if !slices.Equal(a.open(), []string{"q0"}) && c.status != 0 && name != "over" {
			t.Errorf("%s: %q are open", name, a.open())
		}
	}
}

// TestEXT10WhichOfTwoAnswersCountsIsNotKnown: the server ignores the second one, and its receipt is the same.
func TestEXT10WhichOfTwoAnswersCountsIsNotKnown(t *testing.T) {
	_, ref := ask(t, 0, sureForm)
	status, stdout, stderr := runs(t, "task", "answer", ref, "yes=true")
	if status != 0 || !strings.HasPrefix(stdout, "completed") || !strings.Contains(stderr, "the answer was sent; if another one was sent at the same time, the first counts, and which that was is not known") {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
}
