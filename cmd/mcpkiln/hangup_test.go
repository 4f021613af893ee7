package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestAnInterruptAfterTheResultChangesNothing: the result is printed, and a server that does not answer the end of its session holds the
// command up. Ctrl-C ends that, and the status stays that of the result.
func TestAnInterruptAfterTheResultChangesNothing(t *testing.T) {
	for _, c := range []struct {
		result string
		status int
	}{{`{"content":[{"type":"text","text":"ok"}]}`, exitClean}, {`{"content":[{"type":"text","text":"no luck"}],"isError":true}`, exitTool}} {
		ending := make(chan struct{}, 1)
		ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var m struct {
				ID     json.RawMessage
				Method string
			}
			_ = json.NewDecoder(r.Body).Decode(&m)
			result := map[string]string{
				"initialize": `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`,
				"tools/list": `{"tools":[` + plainTool + `]}`,
				"tools/call": c.result,
			}[m.Method]
			switch {
			case r.Method == http.MethodDelete:
				ending <- struct{}{}
				<-r.Context().Done()
			case r.Method == http.MethodGet:
				w.WriteHeader(http.StatusMethodNotAllowed)
			case result != "":
				w.Header().Set("Mcp-Session-Id", "s1")
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
			default:
				w.WriteHeader(http.StatusAccepted)
			}
		}))
		if got, out := interrupted(t, ending, "--revision", "2025-11-25", ts.URL, "t"); got != c.status {
			t.Errorf("status %d, not %d: %s", got, c.status, out)
		}
		ts.CloseClientConnections()
		ts.Close()
	}
}

// TestCAN11ACallWhoseTaskHasNoNameYetIsNotSaidToBeCancelled: in 2025-11-25 there is nothing to cancel it by.
func TestCAN11ACallWhoseTaskHasNoNameYetIsNotSaidToBeCancelled(t *testing.T) {
	const tool = `{"name":"t","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}`
	for _, flag := range []string{"--json", "--detach"} {
		called := make(chan struct{}, 1)
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
			case m.Method == "notifications/cancelled":
				t.Error("a cancellation was sent for a request that asks for a task")
			case m.Method == "tools/call":
				called <- struct{}{}
				<-r.Context().Done()
			case result != "":
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
			default:
				w.WriteHeader(http.StatusAccepted)
			}
		}))
		status, out := interrupted(t, called, "--revision", "2025-11-25", "--header", "X-User: ann", flag, ts.URL, "t")
		if status != exitInterrupted || !strings.Contains(out, "so it was not asked to cancel it: if there is one, it goes on") {
			t.Errorf("%s: status %d: %s", flag, status, out)
		}
		ts.CloseClientConnections()
		ts.Close()
	}
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
