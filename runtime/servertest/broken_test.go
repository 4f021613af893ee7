package servertest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// recorder is a test whose failures are looked at.
type recorder struct {
	testing.TB
	mu     sync.Mutex
	errors []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func (r *recorder) Failed() bool { return len(r.errors) > 0 }

// said are the failures so far.
func (r *recorder) said() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.errors, "\n")
}

// script is a server that a test plays.
type script struct {
	*Client
	r    *recorder
	conn rpc.Conn
}

var scripted = wire.Revision{
	Version: "2025-11-25", Handshake: true,
	Methods: []wire.Method{
		{Name: "initialize", Op: wire.OpInitialize}, {Name: "notifications/initialized", Op: wire.OpInitialized, Notification: true},
		{Name: "ping", Op: wire.OpPing}, {Name: "tools/call", Op: wire.OpCallTool, Task: true}, {Name: "tasks/get", Op: wire.OpGetTask},
		{Name: "notifications/cancelled", Op: wire.OpCancelled, Notification: true},
	},
	Outgoing: []wire.Outgoing{
		{Op: wire.OpProgress, Name: "notifications/progress"}, {Op: wire.OpCancelled, Name: "notifications/cancelled"},
		{Op: wire.OpTaskStatus, Name: "notifications/tasks/status"},
		{Op: wire.OpElicit, Name: "elicitation/create", Capability: "elicitation"}, {Op: wire.OpListRoots, Name: "roots/list", Capability: "roots"},
	},
	Task: wire.TaskRules{ClientDecides: true, Progress: true},
}

// play runs a test against a script: pings are answered, and the handshake, all else is the test's.
func play(t *testing.T, test func(s *script)) string {
	r := &recorder{TB: t}
	synctest.Test(t, func(t *testing.T) {
		r.TB = t
		near, far := rpc.Pipe()
		s := &script{newClient(r, near, &scripted, []Option{WithCapabilities(map[string]any{"elicitation": map[string]any{}})}), r, far}
		go s.serve()
		s.begin()
		test(s)
		synctest.Wait()
	})
	return r.said()
}

func (s *script) serve() {
	for {
		frame, err := s.conn.ReadFrame(nil)
		if err != nil {
			return
		}
		text := string(frame)
		id, _, _ := strings.Cut(strings.TrimPrefix(text, `{"jsonrpc":"2.0","id":`), ",")
		switch {
		case strings.Contains(text, `"ping"`):
			s.say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
		case strings.Contains(text, `"initialize"`):
			s.say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"protocolVersion":"2025-11-25"}}`)
		}
	}
}

func (s *script) say(frame string) {
	if err := s.conn.WriteFrame([]byte(frame)); err != nil {
		s.r.Errorf("script: %v", err)
	}
}

// The first call has the id 2: the handshake had 1.
const (
	result   = `{"jsonrpc":"2.0","id":2,"result":{"content":[]}}`
	progress = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"progress of 2","progress":%d}}`
	made     = `{"jsonrpc":"2.0","id":2,"result":{"task":{"taskId":"t","status":"working","ttl":null}}}`
	ended    = `{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t","status":"cancelled","ttl":null}}`
	question = `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"?"}}`
)

// TestWhatBreaksTheProtocolFailsTheTest has a server say what it may not say, each in an otherwise well-behaved conversation.
func TestWhatBreaksTheProtocolFailsTheTest(t *testing.T) {
	call := func(s *script) *Pending { return s.Begin("tool", nil) }
	for name, c := range map[string]struct {
		want string
		play func(s *script)
	}{
		"CAN02 answer after cancel": {"after it read the cancellation", func(s *script) {
			call(s).Cancel("")
			s.say(result)
		}},
		"PRO01 progress after cancel": {"whose request is over", func(s *script) {
			call(s).Cancel("")
			s.say(fmt.Sprintf(progress, 1))
		}},
		"two answers": {"a second answer to the request 2", func(s *script) {
			call(s)
			s.say(result)
			s.say(result)
		}},
		"answer to nothing":        {"which no request has", func(s *script) { s.say(result) }},
		"error to nothing":         {"an error that answers no request", func(s *script) { s.say(`{"jsonrpc":"2.0","error":{"code":-32700,"message":"?"}}`) }},
		"progress for no token":    {"which no request has", func(s *script) { s.say(fmt.Sprintf(progress, 1)) }},
		"PRO02 progress goes back": {"goes from 2 to 1", func(s *script) { call(s); s.say(fmt.Sprintf(progress, 2)); s.say(fmt.Sprintf(progress, 1)) }},
		"PRO01 progress after end": {"whose request is over", func(s *script) { call(s); s.say(result); s.say(fmt.Sprintf(progress, 1)) }},
		"PRO03 progress of task":   {"", func(s *script) { s.Begin("tool", nil, AsTask()); s.say(made); s.say(fmt.Sprintf(progress, 1)) }},
		"PRO01 progress after task": {"whose request is over", func(s *script) {
			s.Begin("tool", nil, AsTask())
			s.say(made)
			s.say(ended)
			s.say(fmt.Sprintf(progress, 1))
		}},
		"SRV08 undeclared question": {"did not declare", func(s *script) { s.say(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`) }},
		"unknown request":           {"does not have", func(s *script) { s.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`) }},
		"unknown notification":      {"does not have", func(s *script) { s.say(`{"jsonrpc":"2.0","method":"notifications/none"}`) }},
		"not a message":             {"breaks the protocol", func(s *script) { s.say(`{"jsonrpc":"2.0"}`) }},
		"CAN19 cancels nothing": {"neither its question nor a subscription", func(s *script) {
			s.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}`)
		}},
		"question without an answer": {"nobody answers the question", func(s *script) { s.say(question) }},
		"question id used twice": {"a second request with the id 1", func(s *script) {
			s.Answer("", Ignore())
			s.say(question)
			s.say(question)
		}},
		"answer before the cancellation was read": {"", func(s *script) {
			p := call(s)
			s.say(result)
			p.Cancel("")
			if _, err := p.Result(); err != nil {
				s.r.Errorf("got %v", err)
			}
		}},
		"withdrawn question": {"", func(s *script) {
			s.Answer("", Ignore())
			s.say(question)
			s.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got := play(t, c.play)
			if c.want == "" && got != "" || c.want != "" && (strings.Count(got, "\n") > 0 || !strings.Contains(got, c.want)) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestPatienceEnds waits for an answer that does not come.
func TestPatienceEnds(t *testing.T) {
	got := play(t, func(s *script) {
		s.cfg.patience = 1
		if _, err := s.Begin("tool", nil).Result(); err != ErrPatience {
			s.r.Errorf("got %v", err)
		}
		s.cfg.patience = 0
	})
	if !strings.Contains(got, "nothing came within 1ns") || strings.Contains(got, "\n") {
		t.Errorf("got %q", got)
	}
}

// TestFailedTestShowsTheConversation holds what a person looks at first.
func TestFailedTestShowsTheConversation(t *testing.T) {
	var shown string
	play(t, func(s *script) {
		s.Begin("tool", map[string]any{"a": strings.Repeat("x", 1000)})
		synctest.Wait()
		shown = s.conversation()
	})
	for _, part := range []string{"2025-11-25", `→ {"jsonrpc":"2.0","id":1,"method":"initialize"`, `← {"jsonrpc":"2.0","id":1,"result"`, " …"} {
		if !strings.Contains(shown, part) {
			t.Errorf("lacks %q:\n%s", part, shown)
		}
	}
}

// TestTaskStatesAreRead reads what is not said as what it stands for.
func TestTaskStatesAreRead(t *testing.T) {
	c := &Client{revision: &scripted, dialect: &stateless}
	s := c.readTask([]byte(`{"taskId":"t","status":"completed","ttlMs":1500,"pollIntervalMs":20,"statusMessage":"done","createdAt":"2026-01-02T03:04:05Z"}`))
	if s.Status != task.Completed || s.TTL.Seconds() != 1.5 || s.PollInterval.Milliseconds() != 20 || s.Message != "done" || s.CreatedAt.Year() != 2026 {
		t.Errorf("got %+v", s)
	}
	if s := c.readTask([]byte(`{"taskId":"t","status":"working"}`)); s.TTL >= 0 || s.PollInterval != 0 || terminal(s) {
		t.Errorf("got %+v", s)
	}
	if c.readTask([]byte(`{"content":[]}`)) != nil {
		t.Error("a result was read as a task")
	}
}
