// Package metrics counts what servers do, and shows it as Prometheus reads it. It needs nothing but the standard library, and is
// for those who run a server:
//
//	m := metrics.New()
//	srv, err := reports.New(handlers, server.WithObserver(m.Observe))
//	http.Handle("/metrics", m)
//
// Serve it where only your monitoring can reach it. Labels are the names of known methods, tools, revisions and words of this runtime: no
// client can make a series. One Metrics may observe several servers.
//
//	mcp_requests_total{method,tool,revision,outcome}    requests that were served
//	mcp_request_duration_seconds{method,tool}           until their handlers returned
//	mcp_requests_in_flight{method}
//	mcp_requests_refused_total{method,code}             malformed, unknown or beyond a limit; method is empty when it is not known
//	mcp_task_runs_total{tool,outcome}                   runs of the handlers of tasks
//	mcp_task_run_duration_seconds{tool}
//	mcp_task_runs_in_flight{tool}
//	mcp_tasks_created_total{tool}
//	mcp_tasks_ended_total{tool,status}
//	mcp_questions_asked_total{tool}
//	mcp_questions_ended_total{tool,outcome}
//	mcp_question_duration_seconds{tool}                 without those inline in stateless revisions, which wait for another call
//	mcp_connections                                     connections and sessions
//	mcp_connections_total
//	mcp_progress_dropped_total{reason}
//
// Outcomes are those of server.Outcome.
package metrics
