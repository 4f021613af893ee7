package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// asking is a peer that asks questions in the form of tasks, of handlers that answer when they are told to.
type asking struct {
	*peer
	s        *client.Session
	question chan context.Context // of a question that is open
	release  chan error           // what the handler returns
	gone     chan error
	answered chan error
}

func askTasks(t *testing.T, opts ...client.Option) *asking {
	a := &asking{question: make(chan context.Context, 8), release: make(chan error, 8), gone: make(chan error, 100), answered: make(chan error, 1000)}
	wait := func(ctx context.Context) error {
		a.question <- ctx
		return <-a.release
	}
	opts = append(opts, client.WithHandlers(client.Handlers{
		Elicit: func(ctx context.Context, _ *client.Question) (*client.Answer, error) {
			return &client.Answer{Action: client.Accepted, Content: map[string]bool{"yes": true}}, wait(ctx)
		},
		Sample: func(ctx context.Context, _ *client.Question) (json.RawMessage, error) {
			return json.RawMessage(`{"role":"assistant","content":{"type":"text","text":"hi"},"model":"m","_meta":{"own":1}}`), wait(ctx)
		},
		QuestionGone: func(_ *client.Question, cause error) { a.gone <- cause },
		Answered:     func(_ *client.Question, err error) { a.answered <- err },
	}))
	a.s, a.peer = meet(t, "2025-11-25", opts...)
	return a
}

// state is a task as the client writes it.
type state struct {
	TaskID, Status, StatusMessage, CreatedAt, LastUpdatedAt string
	TTL, PollInterval                                       *int64
}

// request sends a request and returns the answer.
func (a *asking) request(id, method, params string) message {
	a.t.Helper()
	a.send(`{"jsonrpc":"2.0","id":%q,"method":%q,"params":%s}`, id, method, params)
	m := a.next()
	if string(m.ID) != fmt.Sprintf("%q", id) {
		a.t.Fatalf("got %s in answer to %s", m.raw, method)
	}
	return m
}

// read reads a task of an answer.
func (a *asking) read(m message) (s state) {
	a.t.Helper()
	if err := json.Unmarshal(m.Result, &s); err != nil {
		a.t.Fatalf("%s: %v", m.raw, err)
	}
	return s
}

const (
	sampleParams = `{"messages":[{"role":"user","content":{"type":"text","text":"?"}}],"maxTokens":1,"task":{"ttl":60000}}`
	elicitParams = `{"message":"?","requestedSchema":{"type":"object","properties":{"yes":{"type":"boolean"}}},"task":{}}`
)

// create asks, and returns the id of the task that answers.
func (a *asking) create(method, params string) (id string, question context.Context) {
	a.t.Helper()
	return a.createAs("create", method, params)
}

// createAs is create for a request with that id.
func (a *asking) createAs(request, method, params string) (id string, question context.Context) {
	a.t.Helper()
	var created struct{ Task state }
	m := a.request(request, method, params)
	if err := json.Unmarshal(m.Result, &created); err != nil || len(created.Task.TaskID) < 22 || created.Task.Status != "working" {
		a.t.Fatalf("%s: %v", m.raw, err)
	}
	return created.Task.TaskID, <-a.question
}

func ref(id string) string { return fmt.Sprintf(`{"taskId":%q}`, id) }

func TestTSK26AQuestionIsAnsweredAsATask(t *testing.T) {
	for method, c := range map[string]struct {
		params, result string
		ttl            int64
	}{
		"sampling/createMessage": {sampleParams, `"content":{"type":"text","text":"hi"},"model":"m"`, 60_000},
		"elicitation/create":     {elicitParams, `"action":"accept","content":{"yes":true}`, 3_600_000},
	} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := askTasks(t)
				id, _ := a.create(method, c.params)
				time.Sleep(time.Second) // of the bubble's clock
				s := a.read(a.request("get", "tasks/get", ref(id)))
				if s.TaskID != id || s.Status != "working" || s.CreatedAt == "" || s.LastUpdatedAt == "" || s.TTL == nil || *s.TTL != c.ttl || s.PollInterval == nil {
					t.Errorf("%+v", s)
				}
				has(t, a.request("list", "tasks/list", `{}`).raw, `"tasks":[{`, id)
				a.send(`{"jsonrpc":"2.0","id":"result","method":"tasks/result","params":%s}`, ref(id))
				synctest.Wait()
				a.release <- nil
				m := a.next()
				has(t, m.raw, `"id":"result"`, c.result, `"io.modelcontextprotocol/related-task":{"taskId":"`+id+`"}`)
				if method == "sampling/createMessage" {
					has(t, m.raw, `"own":1`)
				}
				if s := a.read(a.request("get", "tasks/get", ref(id))); s.Status != "completed" {
					t.Errorf("%+v", s)
				}
				has(t, a.request("result", "tasks/result", ref(id)).raw, c.result)
				time.Sleep(time.Duration(c.ttl) * time.Millisecond)
				has(t, a.request("get", "tasks/get", ref(id)).raw, "-32602", "unknown task")
			})
		})
	}
}

func TestTSK26ATaskIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := askTasks(t)
		id, question := a.create("elicitation/create", elicitParams)
		a.send(`{"jsonrpc":"2.0","id":"result","method":"tasks/result","params":%s}`, ref(id))
		synctest.Wait()
		a.send(`{"jsonrpc":"2.0","id":"cancel","method":"tasks/cancel","params":%s}`, ref(id))
		for range 2 {
			switch m := a.next(); string(m.ID) {
			case `"cancel"`:
				if s := a.read(m); s.Status != "cancelled" || s.TaskID != id {
					t.Errorf("%s", m.raw)
				}
			case `"result"`:
				has(t, m.raw, "-32800")
			default:
				t.Errorf("%s", m.raw)
			}
		}
		for _, err := range []error{context.Cause(question), <-a.gone} {
			var cause *client.Cause
			if !errors.As(err, &cause) || cause.Source != inflight.SourcePeer {
				t.Errorf("%v", err)
			}
		}
		a.release <- nil // it is too late
		synctest.Wait()
		has(t, a.request("again", "tasks/cancel", ref(id)).raw, "-32602", "already cancelled")
		if s := a.read(a.request("get", "tasks/get", ref(id))); s.Status != "cancelled" {
			t.Errorf("%+v", s)
		}
	})
}

func TestTSK26ATaskFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := askTasks(t)
		id, _ := a.create("sampling/createMessage", sampleParams)
		a.release <- client.ErrRejected
		has(t, a.request("result", "tasks/result", ref(id)).raw, `"code":-1`)
		if s := a.read(a.request("get", "tasks/get", ref(id))); s.Status != "failed" || s.StatusMessage == "" {
			t.Errorf("%+v", s)
		}
	})
}

// Who waits for a result may stop to, and hears nothing more; the question goes on.
func TestTSK26WaitingForAResultCanBeTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := askTasks(t)
		id, question := a.create("elicitation/create", elicitParams)
		a.send(`{"jsonrpc":"2.0","id":"result","method":"tasks/result","params":%s}`, ref(id))
		synctest.Wait()
		a.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"result"}}`)
		synctest.Wait()
		if question.Err() != nil {
			t.Error("the question ended")
		}
		a.release <- nil
		synctest.Wait()
		has(t, a.request("ping", "ping", `{}`).raw, `"result":{}`)
	})
}

func TestTSK26WhatIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := askTasks(t)
		for _, c := range [][3]string{
			{"tasks/get", ref("unknown"), "-32602"},
			{"tasks/result", ref("unknown"), "-32602"},
			{"tasks/cancel", ref("unknown"), "-32602"},
			{"tasks/get", `{}`, "-32602"},
			{"tasks/list", `{"cursor":"x"}`, "-32602"},
			{"tasks/list", `{"cursor":""}`, "-32602"},
			{"elicitation/create", strings.Replace(elicitParams, `"task":{}`, `"task":{"ttl":-5}`, 1), "-32602"},
			{"elicitation/create", strings.Replace(elicitParams, `"task":{}`, `"task":{"ttl":"long"}`, 1), "-32602"},
			{"elicitation/create", strings.Replace(elicitParams, `"task":{}`, `"task":7`, 1), "-32602"},
		} {
			has(t, a.request("x", c[0], c[1]).raw, c[2])
		}
		if len(a.question) > 0 {
			t.Error("a user was asked")
		}
	})
	synctest.Test(t, func(t *testing.T) {
		_, p := meet(t, "2025-11-25")
		a := &asking{peer: p}
		has(t, a.request("x", "tasks/get", ref("y")).raw, "-32601", "has not declared tasks")
	})
}

// A server that asks without end is refused, and can still ask what has become of its tasks.
func TestTSK26TasksAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := askTasks(t)
		first, question := a.create("elicitation/create", elicitParams)
		for range 99 {
			a.request("more", "elicitation/create", elicitParams)
			<-a.question
		}
		has(t, a.request("one too many", "elicitation/create", elicitParams).raw, `"error"`)
		if s := a.read(a.request("get", "tasks/get", ref(first))); s.Status != "working" {
			t.Errorf("%+v", s)
		}
		for i := range 100 {
			a.send(`{"jsonrpc":"2.0","id":"r%d","method":"tasks/result","params":%s}`, i, ref(first))
		}
		has(t, a.request("one too many", "tasks/result", ref(first)).raw, "wait for results")
		ended := context.AfterFunc(question, func() { close(a.release) })
		defer ended()
		go func() {
			for {
				if _, err := a.conn.ReadFrame(nil); err != nil {
					return
				}
			}
		}()
		if err := a.s.Close(); err != nil {
			t.Error(err)
		}
		var cause *client.Cause
		if err := context.Cause(question); !errors.As(err, &cause) || cause.Source != inflight.SourceShutdown {
			t.Errorf("%v", err)
		}
	})
}

// The clock of the call stands while a person thinks, also where the question is a task; and the person has a time of their own.
func TestCAN28TheTimeOfAQuestionThatIsATaskCountsInNoCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := askTasks(t, client.WithTimeout(time.Minute, 2*time.Minute), client.WithQuestionTimeout(5*time.Minute))
		done := start(t.Context(), a.s, "x")
		call := a.expect("tools/call")
		id, question := a.create("elicitation/create", elicitParams)
		begun := time.Now()
		<-question.Done()
		var cause *client.Cause
		if err := context.Cause(question); !errors.As(err, &cause) || cause.Source != inflight.SourceTimeout || time.Since(begun) != 5*time.Minute {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		a.release <- nil
		has(t, a.request("result", "tasks/result", ref(id)).raw, `"action":"cancel"`)
		time.Sleep(30 * time.Second) // of the bubble's clock: the call has time left
		a.answer(call, `{"content":[]}`)
		if r := <-done; r.err != nil {
			t.Error(r.err)
		}
	})
}

func TestTSK26TheEndOfTheConnectionEndsTheQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := askTasks(t)
		_, question := a.create("sampling/createMessage", sampleParams)
		_ = a.conn.Close()
		<-question.Done()
		a.release <- nil
		var cause *client.Cause
		if err := <-a.gone; !errors.As(err, &cause) || cause.Source != inflight.SourceDisconnect {
			t.Errorf("%v", err)
		}
	})
}
