package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// oldServer is a server of 2025-11-25 with one tool, until the test ends. answer may answer a message in place of it.
func oldServer(t *testing.T, tool string, answer func(w http.ResponseWriter, r *http.Request, method string, id json.RawMessage) bool) *httptest.Server {
	t.Helper()
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.NewDecoder(r.Body).Decode(&m)
		result := map[string]string{
			"initialize": `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"s","version":"1"}}`,
			"tools/list": `{"tools":[` + tool + `]}`,
		}[m.Method]
		switch {
		case answer(w, r, cmp.Or(m.Method, r.Method), m.ID):
		case r.Method == http.MethodGet:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case result != "":
			w.Header().Set("Mcp-Session-Id", "s1")
			respond(w, m.ID, result)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	t.Cleanup(func() {
		ts.CloseClientConnections()
		ts.Close()
	})
	return ts
}

// respond answers a request over HTTP.
func respond(w http.ResponseWriter, id json.RawMessage, result string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

// TestAnInterruptAfterTheResultChangesNothing: the result is printed, and a server that does not answer the end of its session holds the
// command up. Ctrl-C ends that, and the status stays that of the result.
func TestAnInterruptAfterTheResultChangesNothing(t *testing.T) {
	for _, c := range []struct {
		result string
		status int
	}{{`{"content":[{"type":"text","text":"ok"}]}`, exitClean}, {`{"content":[{"type":"text","text":"no luck"}],"isError":true}`, exitTool}} {
		ending := make(chan struct{}, 1)
		ts := oldServer(t, plainTool, func(w http.ResponseWriter, r *http.Request, method string, id json.RawMessage) bool {
			switch method {
			case http.MethodDelete:
				ending <- struct{}{}
				<-r.Context().Done()
			case "tools/call":
				respond(w, id, c.result)
			default:
				return false
			}
			return true
		})
		if got, out := interrupted(t, ending, "--revision", "2025-11-25", ts.URL, "t"); got != c.status {
			t.Errorf("status %d, not %d: %s", got, c.status, out)
		}
	}
}

// TestCAN17AnInterruptedCallIsCancelledBeforeTheSessionEnds, each time: the end of the call does not overtake the notification.
func TestCAN17AnInterruptedCallIsCancelledBeforeTheSessionEnds(t *testing.T) {
	for _, revision := range []string{"2025-11-25", "2025-06-18"} {
		for range 10 {
			called, seen := make(chan struct{}, 1), make(chan string, 9)
			ts := oldServer(t, plainTool, func(w http.ResponseWriter, r *http.Request, method string, id json.RawMessage) bool {
				switch method {
				case "initialize":
					w.Header().Set("Mcp-Session-Id", "s1")
					respond(w, id, `{"protocolVersion":"`+revision+`","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`)
				case "tools/call":
					called <- struct{}{}
					<-r.Context().Done()
				case "notifications/cancelled", http.MethodDelete:
					seen <- method
					w.WriteHeader(http.StatusAccepted)
				default:
					return false
				}
				return true
			})
			status, out := interrupted(t, called, "--revision", revision, ts.URL, "t")
			close(seen)
			var all []string
			for method := range seen {
				all = append(all, method)
			}
			if status != exitInterrupted || !slices.Equal(all, []string{"notifications/cancelled", http.MethodDelete}) {
				t.Errorf("%s: status %d, the server saw %q: %s", revision, status, all, out)
			}
		}
	}
}

// taskTool always runs as a task, and taskMembersOld are the members of its task's state that stay the same.
const (
	taskTool       = `{"name":"t","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}`
	taskMembersOld = `"taskId":"t1","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":60000,"pollInterval":20,`
)

// TestCAN11ATaskThatIsNamedAfterTheInterruptIsCancelled: the command waits for the name, and says what became of the task.
func TestCAN11ATaskThatIsNamedAfterTheInterruptIsCancelled(t *testing.T) {
	for name, do := range map[string]func(v *visit, one *tool) error{
		"call":     func(v *visit, one *tool) error { return v.call(one, json.RawMessage(`{}`)) },
		"--detach": func(v *visit, one *tool) error { return v.detach(one, json.RawMessage(`{}`)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("XDG_CONFIG_HOME", t.TempDir())
			ctx, interrupt := context.WithCancel(t.Context())
			var state atomic.Value
			state.Store(`{` + taskMembersOld + `"status":"working"}`)
			ts := oldServer(t, taskTool, func(w http.ResponseWriter, _ *http.Request, method string, id json.RawMessage) bool {
				switch method {
				case "tools/call":
					interrupt()
					respond(w, id, `{"task":`+state.Load().(string)+`}`)
				case "tasks/get", "tasks/result":
					respond(w, id, state.Load().(string))
				case "tasks/cancel":
					state.Store(`{` + taskMembersOld + `"status":"cancelled"}`)
					respond(w, id, state.Load().(string))
				default:
					return false
				}
				return true
			})
			s, err := client.Connect(t.Context(), &client.Endpoint{URL: ts.URL, Header: http.Header{"X-User": {"ann"}}}, client.WithRevision("2025-11-25"))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			var out strings.Builder
			cmd := &cobra.Command{}
			cmd.SetOut(&out)
			cmd.SetErr(&out)
			v := &visit{remote: &remote{}, cmd: cmd, ctx: ctx, interrupts: ctx, session: s}
			one, why := readTool(json.RawMessage(taskTool))
			if why != "" {
				t.Fatal(why)
			}
			err = v.status(do(v, &one))
			if exitOf(err) != exitInterrupted || !strings.Contains(err.Error(), "the task is cancelled") || out.Len() > 0 {
				t.Errorf("%v: %s", err, &out)
			}
			if kept := keptIDs(); len(kept) > 0 {
				t.Errorf("its end was seen, and it is kept: %q", kept)
			}
		})
	}
}

// TestCAN11ACallWhoseTaskHasNoNameIsNotSaidToBeCancelled: in 2025-11-25 there is nothing to cancel it by.
func TestCAN11ACallWhoseTaskHasNoNameIsNotSaidToBeCancelled(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--json", "--detach"} {
		called := make(chan struct{}, 1)
		ts := oldServer(t, taskTool, func(_ http.ResponseWriter, r *http.Request, method string, _ json.RawMessage) bool {
			switch method {
			case "notifications/cancelled":
				t.Error("a cancellation was sent for a request that asks for a task")
			case "tools/call":
				called <- struct{}{}
				<-r.Context().Done()
				return true
			}
			return false
		})
		status, out := interrupted(t, called, "--revision", "2025-11-25", "--header", "X-User: ann", flag, ts.URL, "t")
		if status != exitInterrupted || !strings.Contains(out, "so it was not asked to cancel it: if there is one, it may go on") {
			t.Errorf("%s: status %d: %s", flag, status, out)
		}
	}
}

// discovers is what a server of 2026-07-28 with tasks says of itself.
const discovers = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}},"ttlMs":0,"cacheScope":"private"}`

// mayHaveBegun is what is said of a call that may have become a task.
const mayHaveBegun = "the server was asked to cancel the call, and any task that it has named since; a tool that can not be cancelled goes on\n" +
	"  so may a task that the server has begun and not named: no command finds that, since 2026-07-28 has no list of tasks"

// TestCAN11ACallThatMayHaveBecomeATaskIsNotSaidToBeOver: in 2026-07-28 the server decides that.
func TestCAN11ACallThatMayHaveBecomeATaskIsNotSaidToBeOver(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--json", "--detach"} {
		called := make(chan struct{}, 1)
		ts := oldServer(t, plainTool, func(w http.ResponseWriter, r *http.Request, method string, id json.RawMessage) bool {
			switch method {
			case "server/discover":
				respond(w, id, discovers)
			case "tools/list":
				respond(w, id, `{"resultType":"complete","tools":[`+plainTool+`],"ttlMs":0,"cacheScope":"private"}`)
			case "tools/call":
				called <- struct{}{}
				<-r.Context().Done()
			default:
				return false
			}
			return true
		})
		if status, out := interrupted(t, called, flag, ts.URL, "t"); status != exitInterrupted || !strings.Contains(out, mayHaveBegun) {
			t.Errorf("%s: status %d: %s", flag, status, out)
		}
	}
}

// serveOdd is the command odd WAY: a server of 2026-07-28 that says on its standard error what it is sent, and treats a call of a tool in a way of its own.
func serveOdd() {
	const working = taskMembers + `"status":"working"}`
	answer := func(id json.RawMessage, result string) {
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result)
	}
	var call json.RawMessage
	way := os.Args[1]
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.Unmarshal(in.Bytes(), &m)
		switch fmt.Fprintln(os.Stderr, m.Method); m.Method {
		case "server/discover":
			answer(m.ID, discovers)
		case "tools/list":
			answer(m.ID, `{"resultType":"complete","tools":[`+plainTool+`],"ttlMs":0,"cacheScope":"private"}`)
		case "tools/call":
			switch call = m.ID; way {
			case "ends":
				return
			case "breaks off":
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{`, call)
				return
			case "does not cancel", "does not answer":
				answer(call, `{"resultType":"task",`+working)
			}
		case "notifications/cancelled":
			if way == "names it late" {
				time.AfterFunc(100*time.Millisecond, func() { answer(call, `{"resultType":"task",`+working) })
			}
		case "tasks/get":
			answer(m.ID, `{"resultType":"complete",`+working)
		case "tasks/cancel":
			if way != "does not answer" {
				answer(m.ID, `{"resultType":"complete"}`)
			}
		}
	}
}

// TestCAN11ATaskThatAServerOnAPipeNamesLateIsCancelled, if its store outlives the command. The command does not learn of it, and does not deny it.
func TestCAN11ATaskThatAServerOnAPipeNamesLateIsCancelled(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--json", "--detach"} {
		status, out := interruptedAt(t, "tools/call", flag, "--durable", "t", "--", "odd", "names it late")
		if status != exitInterrupted || !strings.Contains(out, "tasks/cancel\n") || !strings.Contains(out, mayHaveBegun) {
			t.Errorf("%s: status %d: %s", flag, status, out)
		}
	}
}

// TestCAN11ATaskThatEndsWithItsServerIsNotSaidToGoOn, whatever the server makes of its cancellation.
func TestCAN11ATaskThatEndsWithItsServerIsNotSaidToGoOn(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"does not cancel", "does not answer"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			status, out := interruptedAt(t, "tasks/get", "t", "--", "odd", way)
			const want = "mcpkiln: interrupted\n  the server was asked to cancel the task, and ends with this command\n"
			if status != exitInterrupted || !strings.Contains(out, "tasks/cancel\n") || !strings.Contains(out, want) {
				t.Errorf("status %d: %s", status, out)
			}
		})
	}
}

// interruptedAt runs mcpkiln call until a server on a pipe says that it has got a message, interrupts it, and returns its exit status and what it wrote.
func interruptedAt(t *testing.T, method string, args ...string) (status int, written string) {
	t.Helper()
	cmd := exec.Command("mcpkiln", append([]string{"call", "--verbose"}, args...)...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	var once sync.Once
	for lines := bufio.NewScanner(stderr); lines.Scan(); out.WriteString(lines.Text() + "\n") {
		if strings.Contains(lines.Text(), method) {
			once.Do(func() { _ = cmd.Process.Signal(os.Interrupt) })
		}
	}
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode(), out.String()
}

// interrupted runs mcpkiln call until ready, interrupts it, and returns its exit status and what it wrote.
func interrupted(t *testing.T, ready <-chan struct{}, args ...string) (status int, written string) {
	t.Helper()
	var out strings.Builder
	cmd := exec.Command("mcpkiln", append([]string{"call"}, args...)...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-ready
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode(), out.String()
}
