package server

import (
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// dialLocal is dialTasks over a connection like standard input and output.
func (f *fixture) dialLocal() *client {
	f.t.Helper()
	c := f.dialStateless(rpc.LineOptions{Local: true})
	c.initialize(`{}`)
	return c
}

// dialStateless is a connection of lines without a handshake.
func (f *fixture) dialStateless(opts rpc.LineOptions) *client {
	f.t.Helper()
	up, fromClient := io.Pipe()
	fromServer, down := io.Pipe()
	return f.connect(f.t.Context(), rpc.Lines(fromServer, fromClient, closers{fromServer, fromClient}, rpc.LineOptions{}),
		rpc.Lines(up, down, closers{up, down}, opts))
}

func TestTSK28ALocalPeerFindsItsTasksAgain(t *testing.T) {
	h := newHold()
	f := newFixture(t, jobs(h))
	first := f.dialLocal()
	id := first.start("1", "hang", "")
	first.close()
	again, stranger := f.dialLocal(), f.dialTasks("")
	if m := again.request("1", "tasks/get", taskID(id)); m.str("result", "status") != "working" {
		t.Error(m.raw)
	}
	stranger.request("1", "tasks/get", taskID(id)).wantError(t, -32602)
	f.dialTasks("local").request("1", "tasks/get", taskID(id)).wantError(t, -32602)
	h.free()
	again.request("2", "tasks/result", taskID(id)).wantNoError(t)
}

// Nobody can ask for the tasks of a session that had no identity and is over.
func TestTSK28TasksOfAnAnonymousSessionEndWithIt(t *testing.T) {
	for name, end := range map[string]func(f *fixture, h *hold){
		"connection": func(f *fixture, h *hold) {
			c := f.dialTasks("")
			c.start("1", "hang", "")
			<-h.began
			c.close()
		},
		"session of a transport": func(f *fixture, h *hold) {
			in := newInbox(f.t)
			ss := f.srv.NewSession(f.t.Context(), in)
			ss.Receive(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`))
			ss.Receive(t.Context(), []byte(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hang","task":{}}}`))
			<-h.began
			if err := ss.Close(&inflight.Cause{Source: inflight.SourceDisconnect}); err != nil {
				f.t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHold()
			f := newFixture(t, jobs(h), WithTaskLimits(task.Limits{AllRunning: 1}))
			end(f, h)
			if cause := <-h.ended; cause.Source != inflight.SourceDisconnect {
				t.Errorf("cause %v", cause)
			}
			for len(f.srv.RunningTasks()) > 0 {
				runtime.Gosched()
			}
			f.dialTasks("me").start("1", "hang", "")
			h.free()
		})
	}
}

func TestTSK28AnonymousCallersAreToldApartByTheirKey(t *testing.T) {
	h := newHold()
	f := dual(t, Definition{Tools: jobs(h)}, WithTaskLimits(task.Limits{Running: 1}))
	east, west := WithQuotaKey(t.Context(), "192.0.2.1"), WithQuotaKey(t.Context(), "192.0.2.2")
	id := f.create(east, "hang", `{"text":"x"}`, withTasks)
	f.ask(east, frame(2, "tools/call", withTasks, callParams("hang", `{"text":"x"}`))).wantError(t, -32600, "1 unfinished tasks per requestor")
	f.create(west, "hang", `{"text":"x"}`, withTasks)
	if m := f.get(west, id); m.str("result", "status") != "working" {
		t.Errorf("a key is for quotas alone: %s", m.raw)
	}
	h.free()
}

// TSK28: a task that survives a restart, but that its caller can not reach then, is not created silently; the remedy is logged once.
func TestTSK28ATaskThatCanNotBeReachedAfterARestartIsLogged(t *testing.T) {
	key := WithSealKeys([]byte(strings.Repeat("k", minSealText)))
	for name, row := range map[string]struct {
		principal string
		opts      []Option
		warned    int
	}{
		"without an identity": {"", []Option{WithTaskStore(durable{task.NewMemory()})}, 1},
		"with one":            {"ada", []Option{WithTaskStore(durable{task.NewMemory()})}, 0},
		"with a key":          {"", []Option{WithTaskStore(durable{task.NewMemory()}), key}, 0},
		"in memory":           {"", nil, 0},
	} {
		var logged syncBuffer
		h := newHold()
		h.free()
		f := newFixture(t, jobs(h), append(row.opts, WithLogger(slog.New(slog.NewTextHandler(&logged, nil))))...)
		in := newInbox(t)
		ss := f.srv.NewSession(WithPrincipal(t.Context(), row.principal), in)
		ss.Receive(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`))
		<-in.wrote
		for id := range 2 {
			ss.Receive(t.Context(), fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"hang","task":{}}}`, id+2))
			<-in.wrote
		}
		_ = ss.Close(nobodyWaits)
		f.srv.records.Flush(t.Context())
		if n := strings.Count(logged.String(), "seal keys"); n != row.warned {
			t.Errorf("%s: %d warnings: %s", name, n, logged.String())
		}
	}
}
