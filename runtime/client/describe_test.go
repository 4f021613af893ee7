package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/streamhttp"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

func TestDescribeReadsEveryPage(t *testing.T) {
	each(t, func(t *testing.T, revision string) {
		s := dial(t, newServer(t, tools(), server.WithPageSize(1)), client.WithRevision(revision))
		d, err := s.Describe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var info struct{ Name, Version string }
		if err := json.Unmarshal(d.ServerInfo, &info); err != nil || info.Name != "test" || info.Version != "1" || d.Revision != revision {
			t.Errorf("%s speaks %s, %v", d.ServerInfo, d.Revision, err)
		}
		if len(d.Tools) != 3 {
			t.Errorf("%d tools, want 3: %s", len(d.Tools), d.Tools)
		}
	})
}

// TestEXT21DescribeSaysWhatItLeavesOut, also when the list is cached.
func TestEXT21DescribeSaysWhatItLeavesOut(t *testing.T) {
	s, p := meet(t, "2026-07-28")
	go func() {
		p.answer(p.next(), `{"resultType":"complete","tools":[{"name":"good","inputSchema":{"type":"object"}},{"name":"a","inputSchema":{"type":"string"}},{"name":"b"},5],"ttlMs":60000,"cacheScope":"private"}`)
	}()
	want := []client.LeftOut{{1, "a", `the type of its inputSchema is not object: "string"`}, {2, "b", "its inputSchema is missing"}, {3, "", "it is no object: 5"}}
	for range 2 {
		if d, err := s.Describe(t.Context()); err != nil || len(d.Tools) != 1 || !slices.Equal(d.LeftOut, want) {
			t.Errorf("%+v, %v", d, err)
		}
	}
}

func TestDescribeOfAServerWithoutTools(t *testing.T) {
	s, _ := meetOffering(t, "2025-11-25", `{"prompts":{}}`)
	if d, err := s.Describe(t.Context()); err != nil || len(d.Tools) != 0 || d.Revision != "2025-11-25" {
		t.Errorf("%+v, %v", d, err)
	}
}

// ofSomebody serves whoever has a token as that, and returns the address.
func ofSomebody(t *testing.T, srv *server.Server) string {
	t.Helper()
	endpoint := streamhttp.Handler(srv)
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if who := r.Header.Get("Authorization"); who != "" {
			r = r.WithContext(server.WithPrincipal(r.Context(), who))
		}
		endpoint.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		_ = endpoint.Shutdown(context.Background())
		ts.Close()
		_ = srv.Shutdown(context.Background())
	})
	return ts.URL
}

func TestTSK27TheStateOfATaskIsReadOnce(t *testing.T) {
	overTasks(t, func(t *testing.T, dial func(opts ...client.Option) *client.Session) {
		s := dial()
		x, err := s.Start(t.Context(), "hang", nil)
		if err != nil {
			t.Fatal(err)
		}
		ref, _ := x.Ref()
		if state, err := s.GetTask(t.Context(), ref); err != nil || state.Status != task.Working || state.ID != ref.ID {
			t.Errorf("%+v, %v", state, err)
		}
		if err := x.Cancel(t.Context(), ""); err != nil {
			t.Error(err)
		}
		if r, err := x.Result(t.Context()); err == nil {
			t.Errorf("a cancelled task has a result: %s", r.Raw)
		}
		if state, err := s.GetTask(t.Context(), ref); err != nil || state.Status != task.Cancelled {
			t.Errorf("%+v, %v", state, err)
		}
		ref.ID = strings.Repeat("0", len(ref.ID))
		var unknown *client.Error
		if _, err := s.GetTask(t.Context(), ref); !errors.As(err, &unknown) || unknown.Code != rpc.CodeInvalidParams {
			t.Errorf("a task that is not: %v", err)
		}
		ref.Endpoint = "https://elsewhere.example/"
		if _, err := s.GetTask(t.Context(), ref); err == nil || !strings.Contains(err.Error(), "elsewhere.example") {
			t.Errorf("a task of another server: %v", err)
		}
	}, asTask(tool("hang", hang), server.TaskRequired))
}

func TestTasksAreListedWhereTheRevisionHasThat(t *testing.T) {
	srv := newServer(t, []server.Tool{asTask(tool("hang", hang), server.TaskRequired)}, server.WithTaskList(), server.WithPageSize(1))
	url := ofSomebody(t, srv)
	me := &client.Endpoint{URL: url, Header: http.Header{"Authorization": {"Bearer me"}}}
	for _, revision := range withTasks {
		s, err := client.Connect(t.Context(), me, client.WithRevision(revision))
		if err != nil {
			t.Fatal(err)
		}
		var refs []client.Ref
		for range 2 {
			x, err := s.Start(t.Context(), "hang", nil)
			if err != nil {
				t.Fatal(err)
			}
			ref, _ := x.Ref()
			refs = append(refs, ref)
		}
		listed, none := "", (*client.NotOfferedError)(nil)
		for item, err := range s.ListTasks(t.Context()) {
			if err != nil && !errors.As(err, &none) {
				t.Error(err)
			}
			listed += string(item)
		}
		if revision == "2025-11-25" {
			has(t, listed, refs[0].ID, refs[1].ID)
		} else if none == nil {
			t.Errorf("%s lists %q, want an error", revision, listed)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestTSK27WhatCanNotBeResumedIsKnownBefore: nothing is called to find out.
func TestTSK27WhatCanNotBeResumedIsKnownBefore(t *testing.T) {
	var called atomic.Bool
	never := func(context.Context, *server.Call, *input) (*output, error) {
		called.Store(true)
		return &output{}, nil
	}
	srv := newServer(t, []server.Tool{tool("inline", never), asTask(tool("task", never), server.TaskRequired)})
	url := ofSomebody(t, srv)
	for _, c := range []struct {
		revision, token, tool, why string
	}{
		{"2026-07-28", "", "task", ""},
		{"2025-11-25", "", "task", "send a token"},
		{"2025-11-25", "me", "task", ""},
		{"2025-11-25", "me", "inline", "does not run as a task"},
		{"2025-06-18", "me", "task", "has no tasks"},
	} {
		header := http.Header{}
		if c.token != "" {
			header.Set("Authorization", "Bearer "+c.token)
		}
		s, err := client.Connect(t.Context(), &client.Endpoint{URL: url, Header: header}, client.WithRevision(c.revision))
		if err != nil {
			t.Fatal(err)
		}
		var no *client.NotResumableError
		switch err := s.Resumable(t.Context(), c.tool, false); {
		case c.why == "" && err != nil:
			t.Errorf("%+v: %v", c, err)
		case c.why != "" && !errors.As(err, &no):
			t.Errorf("%+v: %v, want an error", c, err)
		case c.why != "":
			has(t, err.Error(), c.why)
		}
		_ = s.Close()
	}
	pipe := dial(t, newServer(t, []server.Tool{asTask(tool("task", never), server.TaskRequired)}))
	if err := pipe.Resumable(t.Context(), "task", false); err == nil {
		t.Error("a task of a server on a pipe is resumable")
	}
	if err := pipe.Resumable(t.Context(), "task", true); err != nil {
		t.Errorf("with a durable store: %v", err)
	}
	if called.Load() {
		t.Error("a tool was called")
	}
}

func TestInlineCallsAToolAsATaskOnlyWhereItMust(t *testing.T) {
	s := dial(t, newServer(t, []server.Tool{asTask(tool("either", echo), server.TaskOptional), asTask(tool("task", echo), server.TaskRequired)}), client.WithRevision("2025-11-25"))
	for name, want := range map[string]bool{"either": false, "task": true} {
		x, err := s.Start(t.Context(), name, map[string]string{"text": "a"}, client.Inline())
		if err != nil {
			t.Fatal(err)
		}
		if _, is := x.Ref(); is != want {
			t.Errorf("%s is a task: %v, want %v", name, is, want)
		}
		if r, err := x.Result(t.Context()); err != nil || !strings.Contains(string(r.Raw), `"a"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
