package metrics

import (
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// Metrics are numbers of what was observed. Its methods are safe for concurrent use; New makes one.
type Metrics struct {
	mu       sync.Mutex
	families map[string]*family
}

// New returns empty metrics.
func New() *Metrics {
	m := &Metrics{families: map[string]*family{}}
	for i := range families {
		f := families[i] // a copy with series of its own
		f.series = map[[maxLabels]string]*series{}
		m.families[f.name] = &f
	}
	return m
}

// Observe is a server.Observer.
func (m *Metrics) Observe(e server.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch e.Kind {
	case server.RequestBegan:
		m.add(1, "mcp_requests_in_flight", e.Method)
	case server.RequestEnded:
		m.add(-1, "mcp_requests_in_flight", e.Method)
		m.add(1, "mcp_requests_total", e.Method, e.Tool, e.Revision, string(e.Outcome))
		m.took(e.Duration, "mcp_request_duration_seconds", e.Method, e.Tool)
	case server.RequestRefused:
		m.add(1, "mcp_requests_refused_total", e.Method, codeOf(e.Err))
	case server.RunBegan:
		m.add(1, "mcp_task_runs_in_flight", e.Tool)
	case server.RunEnded:
		m.add(-1, "mcp_task_runs_in_flight", e.Tool)
		m.add(1, "mcp_task_runs_total", e.Tool, string(e.Outcome))
		m.took(e.Duration, "mcp_task_run_duration_seconds", e.Tool)
	case server.TaskCreated:
		m.add(1, "mcp_tasks_created_total", e.Tool)
	case server.TaskChanged:
		if e.Status.Terminal() {
			m.add(1, "mcp_tasks_ended_total", e.Tool, string(e.Status))
		}
	default:
		m.observeRest(&e)
	}
}

// observeRest is Observe for everything but requests and tasks.
func (m *Metrics) observeRest(e *server.Event) {
	switch e.Kind {
	case server.QuestionAsked:
		m.add(1, "mcp_questions_asked_total", e.Tool)
	case server.QuestionEnded:
		m.add(1, "mcp_questions_ended_total", e.Tool, string(e.Outcome))
		if e.Duration > 0 {
			m.took(e.Duration, "mcp_question_duration_seconds", e.Tool)
		}
	case server.ConnectionOpened:
		m.add(1, "mcp_connections")
		m.add(1, "mcp_connections_total")
	case server.ConnectionClosed:
		m.add(-1, "mcp_connections")
	case server.ProgressDropped:
		m.add(1, "mcp_progress_dropped_total", string(e.Outcome))
	}
}

// ServeHTTP shows the metrics in the text format of Prometheus.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(m.text())
}

// codeOf is the code of a refusal.
func codeOf(err error) string {
	if own := (*rpc.Error)(nil); errors.As(err, &own) {
		return strconv.Itoa(own.Code)
	}
	return ""
}

// add adds n to the series of these labels. With mu.
func (m *Metrics) add(n int64, name string, labels ...string) {
	m.families[name].at(labels).count += n
}

// took adds a duration to a histogram. With mu.
func (m *Metrics) took(d time.Duration, name string, labels ...string) {
	s := m.families[name].at(labels)
	s.count++
	s.sum += d.Seconds()
	for i := range bounds {
		if d <= bounds[i] {
			s.buckets[i]++
			break
		}
	}
}
