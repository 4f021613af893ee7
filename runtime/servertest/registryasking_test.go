package servertest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/servertest"
	"github.com/mcpkiln/mcpkiln/testdata/library/library"
)

// inquirer is a library whose handlers ask, and take as long as work does, before and after.
type inquirer struct {
	librarian
	work func(ctx context.Context) error
}

func (q inquirer) ReportBug(ctx context.Context, call *library.ReportBugCall, in *library.ReportBugArgs) (*server.PromptResult, error) {
	answer, err := call.WhatHappened(ctx, "")
	if err != nil {
		return nil, err
	}
	if err := q.work(ctx); err != nil {
		return nil, err
	}
	return server.PromptOf(server.UserMessage(server.Text(fmt.Sprintf("%s: %s %s %d", in.Area, answer.Action, answer.Value.Text, answer.Value.Times)))), nil
}

func (q inquirer) ReadDraft(ctx context.Context, call *library.ReadDraftCall) (*server.ResourceContents, error) {
	answer, err := call.WithNotes(ctx, "")
	if err != nil {
		return nil, err
	}
	return server.TextContents(fmt.Sprintf("notes: %s %t", answer.Action, answer.Value.Notes)), q.work(ctx)
}

func (q inquirer) ReadPage(ctx context.Context, call *library.ReadPageCall, in *library.PageVariables) (*server.ResourceContents, error) {
	if err := q.work(ctx); err != nil {
		return nil, err
	}
	answer, err := call.Language(ctx, "")
	if err != nil {
		return nil, err
	}
	return server.TextContents(fmt.Sprintf("page %d: %s %s", in.Number, answer.Action, answer.Value.Code)), nil
}

func atOnce(context.Context) error { return nil }

// forEver ends with the request.
func forEver(ctx context.Context) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// inquire runs test in every revision, with a clock of its own.
func inquire(t *testing.T, work func(ctx context.Context) error, test func(t *testing.T, c *servertest.Client), opts ...servertest.Option) {
	t.Helper()
	srv, err := library.New(inquirer{work: work})
	if err != nil {
		t.Fatal(err)
	}
	for _, revision := range servertest.Revisions(srv) {
		t.Run(revision, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, err := library.New(inquirer{work: work})
				if err != nil {
					t.Fatal(err)
				}
				test(t, servertest.Start(t, srv, append(opts, servertest.WithRevision(revision))...))
			})
		})
	}
}

// messageOf is the text of a prompt of one message.
func messageOf(p *servertest.Prompt, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return p.Messages[0].Content.Text, nil
}

func textOf(contents []servertest.Contents, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return contents[0].Text, nil
}

// SRV05: handlers of prompts and resources ask as those of tools do: by a request of the server, or by a result that asks.
func TestSRV05PromptsAndResourcesAsk(t *testing.T) {
	inquire(t, atOnce, func(t *testing.T, c *servertest.Client) {
		area := map[string]string{"area": "login"}
		if !c.HasElicitation() {
			_, err := c.Prompt("report_bug", area)
			refused(t, err, rpc.CodeInternalError)
			if text, err := textOf(c.Read("docs://draft")); err != nil || text != "notes: accept true" {
				t.Errorf("%s %v", text, err)
			}
			if text, err := textOf(c.Read("pages://7")); err != nil || text != "page 7: decline " {
				t.Errorf("%s %v", text, err)
			}
			return
		}
		c.Answer("what_happened", servertest.Accept(map[string]any{"text": "it broke", "times": 3}))
		c.Answer("with_notes", servertest.Decline())
		c.Answer("language", servertest.Accept(map[string]any{"code": "de"}))
		for want, got := range map[string]func() (string, error){
			"login: accept it broke 3": func() (string, error) { return messageOf(c.Prompt("report_bug", area)) },
			"notes: decline false":     func() (string, error) { return textOf(c.Read("docs://draft")) },
			"page 7: accept de":        func() (string, error) { return textOf(c.Read("pages://7")) },
		} {
			if text, err := got(); err != nil || text != want {
				t.Errorf("%q %v, want %q", text, err, want)
			}
		}
		c.Answer("language", servertest.Accept(map[string]any{"code": "xx"}))
		if c.Revision() < "2026" { // else it is asked again
			_, err := c.Read("pages://7")
			refused(t, err, rpc.CodeInvalidParams, "language", "/code")
		}
	})
}

// SRV05: a client that can not ask its user is refused by the revision's code, or gets what onUnsupported says.
func TestSRV05EntriesOfClientsThatCannotAsk(t *testing.T) {
	inquire(t, atOnce, func(t *testing.T, c *servertest.Client) {
		_, err := c.Prompt("report_bug", map[string]string{"area": "x"})
		code := rpc.CodeInternalError
		if c.Revision() >= "2026" {
			code = -32021
		}
		refused(t, err, code)
		if text, err := textOf(c.Read("docs://draft")); err != nil || text != "notes: accept true" {
			t.Errorf("%s %v", text, err)
		}
	}, servertest.WithCapabilities(nil))
}

// CAN20: the timeout of an entry ends its request with an error that says so; the time of an open question does not count (CAN28).
func TestCAN20RequestsForEntriesTimeOut(t *testing.T) {
	inquire(t, forEver, func(t *testing.T, c *servertest.Client) {
		for uri, after := range map[string]time.Duration{"docs://draft": 5 * time.Second, "pages://1": 2 * time.Second} {
			began := time.Now()
			c.Answer("with_notes", servertest.Decline())
			_, err := c.Read(uri)
			refused(t, err, rpc.CodeInternalError, "resources/read timed out after "+after.String())
			if took := time.Since(began); took < after || took > after+time.Second {
				t.Errorf("%s took %v", uri, took)
			}
		}
		if !c.HasElicitation() {
			return
		}
		began := time.Now()
		c.AnswerFunc("what_happened", func(context.Context, *servertest.Question) servertest.Answer {
			time.Sleep(50 * time.Second) // the user thinks
			return servertest.Accept(map[string]any{"text": "x"})
		})
		_, err := c.Prompt("report_bug", map[string]string{"area": "x"})
		refused(t, err, rpc.CodeInternalError, "prompts/get timed out after 5s")
		if took := time.Since(began); took < 55*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

// CAN20: one question has a timeout of its own.
func TestCAN20QuestionsOfEntriesTimeOut(t *testing.T) {
	inquire(t, atOnce, func(t *testing.T, c *servertest.Client) {
		if !c.HasElicitation() || c.Revision() >= "2026" { // where nobody waits
			return
		}
		c.Answer("what_happened", servertest.Ignore())
		began := time.Now()
		_, err := c.Prompt("report_bug", map[string]string{"area": "x"})
		refused(t, err, rpc.CodeInternalError)
		if took := time.Since(began); took != time.Minute {
			t.Errorf("took %v", took)
		}
	})
}

// CAN02: a request for an entry that is cancelled is not answered, and its handler learns why.
func TestCAN02RequestsForEntriesAreCancelled(t *testing.T) {
	causes := make(chan error, 1)
	wait := func(ctx context.Context) error {
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return context.Cause(ctx)
	}
	inquire(t, wait, func(t *testing.T, c *servertest.Client) {
		p := c.BeginRequest("resources/read", map[string]string{"uri": "pages://1"})
		synctest.Wait()
		p.Cancel("not needed")
		cause := new(inflight.Cause)
		if err := <-causes; !errors.As(err, &cause) || cause.Source != inflight.SourcePeer || !strings.Contains(cause.Reason, "not needed") {
			t.Errorf("%v", err)
		}
		if _, err := p.Raw(); err == nil {
			t.Error("a cancelled request was answered")
		}
	})
}
