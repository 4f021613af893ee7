package metrics_test

import (
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/metrics"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

func shown(m *metrics.Metrics) string {
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

// TestSRV02MetricsOfEverything shows each family in the text format.
func TestSRV02MetricsOfEverything(t *testing.T) {
	m := metrics.New()
	if got := shown(m); got != "" {
		t.Errorf("before anything happened: %s", got)
	}
	call := server.Event{Method: "tools/call", Tool: `a"b\`, Revision: "2025-11-25"}
	for _, e := range []server.Event{
		{Kind: server.ConnectionOpened}, {Kind: server.ConnectionOpened}, {Kind: server.ConnectionClosed},
		{Kind: server.RequestBegan, Method: "ping"},
		{Kind: server.RequestRefused, Outcome: server.Failed, Err: rpc.Errorf(-32601, "no")},
		{Kind: server.RunBegan, Tool: "t"}, {Kind: server.RunEnded, Tool: "t", Outcome: server.Succeeded, Duration: 2 * time.Hour},
		{Kind: server.TaskCreated, Tool: "t"}, {Kind: server.TaskChanged, Tool: "t", Status: task.Working}, {Kind: server.TaskChanged, Tool: "t", Status: task.Completed},
		{Kind: server.QuestionAsked, Tool: "t"}, {Kind: server.QuestionEnded, Tool: "t", Outcome: server.TimedOut, Duration: time.Second},
		{Kind: server.ProgressDropped, Outcome: server.TooOften},
	} {
		m.Observe(e)
	}
	for _, d := range []time.Duration{time.Millisecond / 2, 20 * time.Millisecond} {
		call.Kind, call.Duration, call.Outcome = server.RequestBegan, 0, ""
		m.Observe(call)
		call.Kind, call.Duration, call.Outcome = server.RequestEnded, d, server.Succeeded
		m.Observe(call)
	}
	got := shown(m)
	for _, want := range []string{
		"# HELP mcp_requests_total Requests that were served.\n# TYPE mcp_requests_total counter\n" +
			`mcp_requests_total{method="tools/call",tool="a\"b\\",revision="2025-11-25",outcome="ok"} 2` + "\n",
		`mcp_request_duration_seconds_bucket{method="tools/call",tool="a\"b\\",le="0.001"} 1` + "\n",
		`mcp_request_duration_seconds_bucket{method="tools/call",tool="a\"b\\",le="0.025"} 2` + "\n",
		`mcp_request_duration_seconds_bucket{method="tools/call",tool="a\"b\\",le="+Inf"} 2` + "\n",
		`mcp_request_duration_seconds_sum{method="tools/call",tool="a\"b\\"} 0.0205` + "\n",
		`mcp_request_duration_seconds_count{method="tools/call",tool="a\"b\\"} 2` + "\n",
		`mcp_requests_in_flight{method="ping"} 1` + "\n" + `mcp_requests_in_flight{method="tools/call"} 0` + "\n",
		`mcp_requests_refused_total{method="",code="-32601"} 1` + "\n",
		`mcp_task_runs_total{tool="t",outcome="ok"} 1` + "\n",
		`mcp_task_run_duration_seconds_bucket{tool="t",le="3600"} 0` + "\n" + `mcp_task_run_duration_seconds_bucket{tool="t",le="+Inf"} 1` + "\n",
		`mcp_task_runs_in_flight{tool="t"} 0` + "\n",
		`mcp_tasks_created_total{tool="t"} 1` + "\n",
		`mcp_tasks_ended_total{tool="t",status="completed"} 1` + "\n",
		`mcp_questions_asked_total{tool="t"} 1` + "\n",
		`mcp_questions_ended_total{tool="t",outcome="timeout"} 1` + "\n",
		`mcp_question_duration_seconds_count{tool="t"} 1` + "\n",
		"# TYPE mcp_connections gauge\nmcp_connections 1\n",
		"mcp_connections_total 2\n",
		`mcp_progress_dropped_total{reason="rate"} 1` + "\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if again := shown(m); again != got {
		t.Error("two readings differ")
	}
}

// TestSRV02MetricsAtOnce is for the race detector.
func TestSRV02MetricsAtOnce(t *testing.T) {
	m := metrics.New()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				m.Observe(server.Event{Kind: server.RequestEnded, Method: "ping"})
				_ = shown(m)
			}
		})
	}
	all.Wait()
	if got := shown(m); !strings.Contains(got, `mcp_requests_total{method="ping",tool="",revision="",outcome=""} 800`) {
		t.Error(got)
	}
}
