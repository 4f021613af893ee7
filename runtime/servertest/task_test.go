package servertest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/servertest"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

func TestTaskIsFollowed(t *testing.T) {
	eachTaskRevision(t, func(t *testing.T, revision string) {
		c := servertest.Start(t, newServer(t, tool("count", count, asTask(server.TaskRequired))), servertest.WithRevision(revision))
		job, err := c.Task("count", text("pages"), servertest.WithTTL(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if s, err := job.State(); err != nil || s.Status != task.Working || s.ID != job.ID || job.Created().Status != task.Working {
			t.Errorf("at first: %+v, %v", s, err)
		}
		if out, err := servertest.Output[output](job.Result()); err != nil || out.Text != "pages" {
			t.Errorf("got %v, %v", out, err)
		}
		if s, err := job.Await(task.Completed); err != nil {
			t.Errorf("in the end: %+v, %v", s, err)
		}
		if told := len(job.Progress()) == 3; told != (revision == "2025-11-25") { // PRO03, PRO04
			t.Errorf("progress: %v", job.Progress())
		}
	})
}

func TestTSK18CancelledTaskStaysSilent(t *testing.T) {
	eachTaskRevision(t, func(t *testing.T, revision string) {
		c := servertest.Start(t, newServer(t, tool("hang", hang, asTask(server.TaskRequired))), servertest.WithRevision(revision))
		job, err := c.Task("hang", text("x"))
		if err != nil {
			t.Fatal(err)
		}
		if err := job.Cancel(); err != nil {
			t.Fatal(err)
		}
		if _, err := job.Result(); !errors.Is(err, servertest.ErrCancelled) {
			t.Errorf("got %v", err)
		}
		if _, err := job.Await(task.Completed); err == nil {
			t.Error("a cancelled task was completed")
		}
	})
}

func TestTaskThatAsksCanBeAwaited(t *testing.T) {
	eachTaskRevision(t, func(t *testing.T, revision string) {
		c := servertest.Start(t, newServer(t, tool("ask", ask, asTask(server.TaskRequired))), servertest.WithRevision(revision))
		release := make(chan servertest.Answer)
		c.AnswerFunc("confirm", func(_ context.Context, q *servertest.Question) servertest.Answer {
			if revision == "2025-11-25" && q.Task == "" {
				t.Error("the question does not say its task")
			}
			return <-release
		})
		job, err := c.Task("ask", text("x"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := job.Await(task.InputRequired); err != nil {
			t.Fatal(err)
		}
		go func() { release <- servertest.Accept(confirmation{true}) }()
		if out, err := servertest.Output[output](job.Result()); err != nil || out.Text != "yes" {
			t.Errorf("got %v, %v", out, err)
		}
	})
}

// TestTSK21TasksBelongToTheirPrincipal has three clients of one server.
func TestTSK21TasksBelongToTheirPrincipal(t *testing.T) {
	eachTaskRevision(t, func(t *testing.T, revision string) {
		as := func(name string) []servertest.Option {
			return []servertest.Option{servertest.WithPrincipal(name), servertest.WithRevision(revision)}
		}
		alice := servertest.Start(t, newServer(t, tool("count", count, asTask(server.TaskRequired))), as("alice")...)
		job, err := alice.Task("count", text("x"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := alice.Join(as("bob")...).OpenTask(job.ID).State(); err == nil {
			t.Error("bob sees it")
		}
		alice.Close()
		if _, err := alice.Join(as("alice")...).OpenTask(job.ID).Await(task.Completed); err != nil {
			t.Error(err)
		}
	})
}

func TestClientWithoutTasks(t *testing.T) {
	eachTaskRevision(t, func(t *testing.T, revision string) {
		srv := newServer(t, tool("always", count, asTask(server.TaskRequired)), tool("either", count, asTask(server.TaskOptional)))
		c := servertest.Start(t, srv, servertest.WithRevision(revision), servertest.WithoutTasks())
		if _, err := c.Call("always", text("x")); err == nil {
			t.Error("a client without tasks made one")
		}
		if _, err := c.Begin("either", text("x")).Task(); err == nil || !strings.Contains(err.Error(), "inline") {
			t.Errorf("got %v", err)
		}
	})
}
