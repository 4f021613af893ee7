package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// withTasks are the revisions that have them.
var withTasks = []string{"2026-07-28", "2025-11-25"}

func asTask(t server.Tool, support server.TaskSupport) server.Tool {
	t.Task.Support, t.Task.PollInterval = support, 20*time.Millisecond
	word := map[server.TaskSupport]string{server.TaskOptional: "optional", server.TaskRequired: "required"}[support]
	t.Definition = strings.Replace(t.Definition, `{`, `{"execution":{"taskSupport":"`+word+`"},`, 1)
	return t
}

// overTasks runs a test in each revision with tasks, over each transport.
func overTasks(t *testing.T, f func(t *testing.T, dial func(opts ...client.Option) *client.Session), all ...server.Tool) {
	for _, revision := range withTasks {
		for name, dial := range transports {
			t.Run(revision+" "+name, func(t *testing.T) {
				srv := newServer(t, all)
				f(t, func(opts ...client.Option) *client.Session {
					return dial(t, srv, append(opts, client.WithRevision(revision))...)
				})
			})
		}
	}
}

// slow takes a moment.
func slow(ctx context.Context, _ *server.Call, in *input) (*output, error) {
	select {
	case <-time.After(50 * time.Millisecond):
		return &output{in.Text + "!"}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func TestTSK27ACallFollowsItsTaskToTheEnd(t *testing.T) {
	for _, support := range []server.TaskSupport{server.TaskOptional, server.TaskRequired} {
		overTasks(t, func(t *testing.T, dial func(opts ...client.Option) *client.Session) {
			s := dial()
			x, err := s.Start(t.Context(), "slow", map[string]string{"text": "a"})
			if err != nil {
				t.Fatal(err)
			}
			ref, ok := x.Ref()
			if !ok || ref.Tool != "slow" || ref.Revision != s.Revision() || ref.ID == "" {
				t.Errorf("%+v", ref)
			}
			var seen []task.Status
			for state, err := range x.Updates(t.Context()) {
				if err != nil {
					t.Error(err)
				}
				seen = append(seen, state.Status)
			}
			if seen[0] != task.Working || seen[len(seen)-1] != task.Completed {
				t.Errorf("%q", seen)
			}
			r, err := x.Result(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			has(t, string(r.StructuredContent), "a!")
			r, err = s.CallTool(t.Context(), "slow", map[string]string{"text": "b"})
			if err != nil {
				t.Fatal(err)
			}
			has(t, string(r.StructuredContent), "b!")
			if len(s.Requests()) != 0 {
				t.Errorf("%+v", s.Requests())
			}
		}, asTask(tool("slow", slow), support))
	}
}

func TestAToolThatIsNoTaskIsAnsweredAtOnce(t *testing.T) {
	overTasks(t, func(t *testing.T, dial func(opts ...client.Option) *client.Session) {
		x, err := dial().Start(t.Context(), "echo", map[string]string{"text": "a"})
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := x.Ref(); ok {
			t.Error("it has become a task")
		}
		if r, err := x.Result(t.Context()); err != nil || !strings.Contains(string(r.Raw), `"a"`) {
			t.Error(r, err)
		}
	}, tool("echo", echo), asTask(tool("slow", slow), server.TaskOptional))
}

// What a task asks is answered by the same handlers, each question once.
func TestEXT22QuestionsOfTasksAreAnsweredOnce(t *testing.T) {
	overTasks(t, func(t *testing.T, dial func(opts ...client.Option) *client.Session) {
		var asked []*client.Question
		s := dial(elicits(func(ctx context.Context, q *client.Question) (*client.Answer, error) {
			asked = append(asked, q)
			return accept(ctx, q)
		}))
		x, err := s.Start(t.Context(), "ask", nil)
		if err != nil {
			t.Fatal(err)
		}
		ref, _ := x.Ref()
		r, err := x.Result(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		has(t, string(r.StructuredContent), "accept true")
		if len(asked) != 1 || asked[0].Task != ref.ID {
			t.Errorf("asked %d times: %+v", len(asked), asked)
		}
	}, asTask(tool("ask", ask), server.TaskRequired))
}

func TestCAN11ATaskIsCancelledByItsOwnRequest(t *testing.T) {
	for name, end := range map[string]func(s *client.Session, x *client.Execution[client.ToolResult], cancel context.CancelFunc) error{
		"Cancel": func(s *client.Session, x *client.Execution[client.ToolResult], _ context.CancelFunc) error {
			return x.Cancel(context.Background(), "enough")
		},
		"CancelRequest": func(s *client.Session, _ *client.Execution[client.ToolResult], _ context.CancelFunc) error {
			return s.CancelRequest(s.Requests()[0].ID, "enough")
		},
	} {
		t.Run(name, func(t *testing.T) {
			ended := make(chan error, 2)
			overTasks(t, func(t *testing.T, dial func(opts ...client.Option) *client.Session) {
				s := dial()
				x, err := s.Start(t.Context(), "hang", nil)
				if err != nil {
					t.Fatal(err)
				}
				<-ended
				if all := s.Requests(); len(all) != 1 || all[0].Task == "" || all[0].Tool != "hang" {
					t.Errorf("%+v", all)
				}
				if err := end(s, x, nil); err != nil {
					t.Fatal(err)
				}
				<-ended
				_, err = x.Result(t.Context())
				var over *client.TaskError
				var cause *client.Cause
				if name == "Cancel" && (!errors.As(err, &over) || over.State.Status != task.Cancelled) || name != "Cancel" && (!errors.As(err, &cause) || cause.Source != inflight.SourceCaller) {
					t.Errorf("%v", err)
				}
			}, asTask(tool("hang", watch(ended)), server.TaskRequired))
		})
	}
}

func TestCAN11TheEndOfTheCallersContextCancelsTheTask(t *testing.T) {
	ended := make(chan error, 2)
	overTasks(t, func(t *testing.T, dial func(opts ...client.Option) *client.Session) {
		ctx, cancel := context.WithCancel(t.Context())
		s := dial()
		for range s.ListTools(t.Context()) { // so that it is known that the tool is a task
		}
		done := start(ctx, s, "hang")
		<-ended
		for s.Requests()[0].Task == "" {
			<-time.After(time.Millisecond)
		}
		cancel()
		if r := <-done; !errors.Is(r.err, context.Canceled) {
			t.Error(r.err)
		}
		<-ended
	}, asTask(tool("hang", watch(ended)), server.TaskRequired))
}

// Before a task has a name nothing can cancel it: as soon as it has one, it is.
func TestCAN11ATaskWhoseCallerHasGoneIsCancelledWhenItHasAName(t *testing.T) {
	s, p := meetOffering(t, "2025-11-25", taskOffers)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := s.Start(ctx, "x", nil)
		done <- err
	}()
	p.answer(p.expect("tools/list"), `{"tools":[{"name":"x","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}]}`)
	m := p.expect("tools/call")
	has(t, m.raw, `"task":{}`)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	p.answer(m, `{"task":{"taskId":"t1","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":null}}`)
	cancelled := p.expect("tasks/cancel") // and no notification before
	has(t, cancelled.raw, `"taskId":"t1"`)
	p.answer(cancelled, `{"taskId":"t1","status":"cancelled","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":null}`)
}

func TestTSK27AnotherSessionResumes(t *testing.T) {
	overTasks(t, func(t *testing.T, dial func(opts ...client.Option) *client.Session) {
		first := dial()
		x, err := first.Start(t.Context(), "slow", map[string]string{"text": "a"})
		if err != nil {
			t.Fatal(err)
		}
		ref, _ := x.Ref()
		x.Detach()
		if _, err := x.Result(t.Context()); !errors.Is(err, client.ErrDetached) {
			t.Error(err)
		}
		text, err := json.Marshal(ref)
		if err != nil {
			t.Fatal(err)
		}
		var again client.Ref
		if err := json.Unmarshal(text, &again); err != nil || again != ref {
			t.Fatal(string(text), err)
		}
		y, err := first.Resume(t.Context(), again) // on the same connection: an anonymous task belongs to it
		if err != nil {
			t.Fatal(err)
		}
		r, err := y.Result(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		has(t, string(r.StructuredContent), "a!")
		for name, change := range map[string]func(*client.Ref){
			"endpoint": func(r *client.Ref) { r.Endpoint = "https://elsewhere" }, "revision": func(r *client.Ref) { r.Revision = "x" }, "version": func(r *client.Ref) { r.Version = 2 },
		} {
			bad := ref
			change(&bad)
			if _, err := first.Resume(t.Context(), bad); err == nil {
				t.Errorf("another %s was taken", name)
			}
		}
		unknown := ref
		unknown.ID = "nobody-knows"
		z, err := first.Resume(t.Context(), unknown)
		if err == nil {
			_, err = z.Result(t.Context())
		}
		var over *client.TaskError
		if !errors.As(err, &over) {
			t.Errorf("%v", err)
		}
	}, asTask(tool("slow", slow), server.TaskRequired))
}

// The server's interval is kept, with a little more at random; a notification is a hint to look at once.
func TestEXT22TheServersIntervalIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meetOffering(t, "2026-07-28", taskOffers)
		started := make(chan *client.Execution[client.ToolResult], 1)
		go func() {
			x, err := s.Start(context.Background(), "x", nil)
			if err != nil {
				t.Error(err)
			}
			started <- x
		}()
		state := func(kind, status, more string) string {
			return fmt.Sprintf(`{"resultType":%q,"taskId":"t1","status":%q,"createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttlMs":60000,"pollIntervalMs":5000%s}`, kind, status, more)
		}
		m := p.expect("tools/call")
		has(t, m.raw, `"io.modelcontextprotocol/tasks":{}`)
		p.answer(m, state("task", "working", ""))
		x := <-started
		last := time.Now()
		for range 5 {
			m := p.expect("tasks/get")
			if waited := time.Since(last); waited < 5*time.Second || waited > 5500*time.Millisecond {
				t.Errorf("asked after %v", waited)
			}
			last = time.Now()
			p.answer(m, state("complete", "working", ""))
		}
		p.send(`{"jsonrpc":"2.0","method":"notifications/tasks","params":%s}`, state("complete", "completed", ""))
		m = p.expect("tasks/get")
		if waited := time.Since(last); waited > time.Second {
			t.Errorf("after a hint: %v", waited)
		}
		p.answer(m, state("complete", "completed", `,"result":{"content":[]}`))
		if _, err := x.Result(t.Context()); err != nil {
			t.Error(err)
		}
		<-time.After(time.Minute) // nobody asks any more
		p.send(`{"jsonrpc":"2.0","id":1,"method":"nothing"}`)
		if m := p.next(); m.Method != "" {
			t.Error(m.raw)
		}
	})
}

// An interval of a day is kept, too.
func TestEXT22ALongIntervalIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meetOffering(t, "2026-07-28", taskOffers)
		go func() {
			if _, err := s.Start(context.Background(), "x", nil); err != nil {
				t.Error(err)
			}
		}()
		const day = 24 * time.Hour
		state := `{"resultType":%q,"taskId":"t1","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttlMs":null,"pollIntervalMs":86400000}`
		p.answer(p.expect("tools/call"), fmt.Sprintf(state, "task"))
		for range 2 {
			last := time.Now()
			m := p.expect("tasks/get")
			if waited := time.Since(last); waited < day || waited > day+day/10+time.Second {
				t.Errorf("asked after %v", waited)
			}
			p.answer(m, fmt.Sprintf(state, "complete"))
		}
	})
}

func TestTSK27TasksThatFail(t *testing.T) {
	fails := func(context.Context, *server.Call, *input) (*output, error) { return nil, errors.New("no such thing") }
	overTasks(t, func(t *testing.T, dial func(opts ...client.Option) *client.Session) {
		r, err := dial().CallTool(t.Context(), "fails", nil)
		if err != nil || !r.IsError {
			t.Fatalf("%v, %v", r, err)
		}
		has(t, string(r.Content), "no such thing")
	}, asTask(tool("fails", fails), server.TaskRequired))
}

func TestPRO01ProgressOfATaskReachesItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := dial(t, newServer(t, []server.Tool{asTask(tool("count", count), server.TaskRequired)}), client.WithRevision("2025-11-25"))
		var got []float64
		x, err := s.Start(t.Context(), "count", map[string]string{"text": "x"}, client.OnProgress(func(p client.Progress) { got = append(got, p.Progress) }))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.Result(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, []float64{1, 2, 3, 4, 5}) {
			t.Errorf("%v", got)
		}
	})
}

// A server that has declared no tasks is not asked for one, and the error is that of no task.
func TestTSK27ATaskOfAServerWithoutTasks(t *testing.T) {
	for _, revision := range withTasks {
		s, _ := meet(t, revision)
		ref := client.Ref{Version: 1, Endpoint: s.Endpoint(), Revision: revision, Tool: "x", ID: "t1"}
		_, err := s.Resume(t.Context(), ref)
		_, stateErr := s.GetTask(t.Context(), ref)
		for _, err := range []error{err, stateErr} {
			var none *client.NotOfferedError
			if !errors.As(err, &none) || errors.As(err, new(*client.TaskError)) || strings.Contains(err.Error(), "~1") {
				t.Errorf("%s: %v", revision, err)
			}
		}
	}
}
