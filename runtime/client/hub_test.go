package client_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// served is a transport to a server over a pipe. The server ends with the test.
func served(t *testing.T, all ...server.Tool) client.Transport {
	t.Helper()
	srv := newServer(t, all)
	ours, theirs := rpc.Pipe()
	done := make(chan error, 1)
	go func() { done <- srv.Serve(context.Background(), theirs) }()
	t.Cleanup(func() {
		<-done
		_ = srv.Shutdown(context.Background())
	})
	return client.Conn(ours)
}

// add adds a server to a hub that ends with the test.
func add(t *testing.T, h *client.Hub, name string, tr client.Transport, opts ...client.Option) {
	t.Helper()
	if err := h.Add(t.Context(), name, tr, opts...); err != nil {
		t.Fatal(err)
	}
}

func closeHub(t *testing.T, h *client.Hub) {
	if err := h.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// Two servers have tools of the same names, and the hub tells them apart.
func TestAHubHoldsServersByName(t *testing.T) {
	var h client.Hub
	add(t, &h, "one", served(t, tool("echo", echo), tool("hang", hang)))
	add(t, &h, "two", served(t, tool("echo", echo), tool("ask", ask)), elicits(func(ctx context.Context, q *client.Question) (*client.Answer, error) {
		if q.Server != "two" {
			t.Errorf("the question is of %q", q.Server)
		}
		return accept(ctx, q)
	}))
	defer closeHub(t, &h)
	var names []string
	for tool, err := range h.ListTools(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
		has(t, tool.Name, tool.Server+"/")
		has(t, string(tool.Definition), `"name":"`+strings.TrimPrefix(tool.Name, tool.Server+"/")+`"`)
	}
	if want := []string{"one/echo", "one/hang", "two/echo", "two/ask"}; !slices.Equal(names, want) {
		t.Errorf("tools %q, want %q", names, want)
	}
	for _, name := range []string{"one/echo", "two/echo"} {
		r, err := h.CallTool(t.Context(), name, map[string]string{"text": name})
		if err != nil {
			t.Fatal(err)
		}
		has(t, string(r.Raw), name)
	}
	if r, err := h.CallTool(t.Context(), "two/ask", nil); err != nil || !strings.Contains(string(r.Raw), "accept") {
		t.Errorf("%v, %v", r, err)
	}
}

// What is in flight at any server is listed, and can be cancelled by name and id.
func TestCAN22AHubListsAndCancelsRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h client.Hub
		add(t, &h, "one", served(t, tools()...))
		add(t, &h, "two", served(t, tools()...))
		defer closeHub(t, &h)
		done := make(chan error, 2)
		for _, name := range []string{"one/hang", "two/hang"} {
			go func() { _, err := h.CallTool(t.Context(), name, nil); done <- err }()
			synctest.Wait()
			time.Sleep(time.Second) // of the bubble's clock
		}
		all := h.Requests()
		if len(all) != 2 || all[0].Server != "one" || all[1].Server != "two" || all[1].Tool != "hang" || all[0].Age != 2*time.Second {
			t.Fatalf("%+v", all)
		}
		for i, r := range all {
			if err := h.CancelRequest(r.Server, r.ID, "enough"); err != nil {
				t.Fatal(err)
			}
			var cause *client.Cause
			if err := <-done; !errors.As(err, &cause) || cause.Source != inflight.SourceCaller || cause.Reason != "enough" || len(h.Requests()) != 1-i {
				t.Errorf("%v, %+v", err, h.Requests())
			}
		}
	})
}

// restarts is a server that a test ends and starts.
type restarts struct {
	t *testing.T

	mu      sync.Mutex
	failing bool
	begun   []time.Time
	conn    rpc.Conn // of the server's side
}

// end ends the server; failing: it does not start again.
func (r *restarts) end(failing bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failing = failing
	_ = r.conn.Close()
}

func (r *restarts) start() (rpc.Conn, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun = append(r.begun, time.Now())
	if r.failing {
		return nil, errors.New("no such program")
	}
	ours, theirs := rpc.Pipe()
	r.conn = theirs
	p := &peer{r.t, theirs, offers}
	go p.begin("2026-07-28")
	return ours, nil
}

func TestAHubStartsAServerAgainWithBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &restarts{t: t}
		changes := make(chan error, 100)
		h := client.Hub{Changed: func(name string, err error) {
			if name != "one" {
				t.Errorf("server %q", name)
			}
			changes <- err
		}}
		add(t, &h, "one", client.Program(r.start))
		defer closeHub(t, &h)
		lived := time.Now()
		r.end(true)
		for range 8 {
			if err := <-changes; err == nil {
				t.Fatal("it is up")
			}
		}
		_, err := h.Session("one")
		var down *client.DownError
		if !errors.As(err, &down) || down.Server != "one" || time.Until(down.Again) != time.Minute {
			t.Fatalf("%v", err)
		}
		has(t, err.Error(), "server one is down and started again in 1m0s: client: no such program")
		if _, err := h.CallTool(t.Context(), "one/echo", nil); !errors.As(err, &down) {
			t.Errorf("a call: %v", err)
		}
		for tool, err := range h.ListTools(t.Context()) {
			if tool.Server != "one" || !errors.As(err, &down) {
				t.Errorf("%+v is listed, %v", tool, err)
			}
		}
		r.end(false)
		if err := <-changes; err != nil {
			t.Fatal(err)
		}
		if s, err := h.Session("one"); err != nil || s.Revision() != "2026-07-28" {
			t.Errorf("%v, %v", s, err)
		}
		want := []time.Duration{1, 2, 4, 8, 16, 32, 60, 60}
		for i, at := range r.begun[1:] {
			wait := at.Sub(lived)
			if least := want[i] * time.Second; wait < least || wait > least+least/10 {
				t.Errorf("start %d came after %v, want %v", i+1, wait, least)
			}
			lived = at
		}
		time.Sleep(time.Minute) // of the bubble's clock: it lives for that long
		r.end(false)
		<-changes
		if err := <-changes; err != nil {
			t.Fatal(err)
		}
		if wait := r.begun[len(r.begun)-1].Sub(lived); wait > time.Minute+2*time.Second {
			t.Errorf("the wait did not begin anew: %v", wait)
		}
	})
}

func TestAHubStartsAChildAgain(t *testing.T) {
	p := client.Command(os.Args[0], "-child", "plain")
	p.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	changes := make(chan error, 10)
	h := client.Hub{Changed: func(_ string, err error) { changes <- err }}
	add(t, &h, "child", p)
	defer closeHub(t, &h)
	if _, err := h.CallTool(t.Context(), "child/kill", nil); err == nil {
		t.Fatal("it lives")
	}
	if err := <-changes; err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("%v", err)
	}
	if err := <-changes; err != nil {
		t.Fatal(err)
	}
	if _, err := h.CallTool(t.Context(), "child/echo", map[string]string{"text": "again"}); err != nil {
		t.Error(err)
	}
}

func TestAConnectionIsNotStartedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := rpc.Pipe()
		p := &peer{t, theirs, offers}
		go p.begin("2026-07-28")
		changes := make(chan error, 1)
		h := client.Hub{Changed: func(_ string, err error) { changes <- err }}
		add(t, &h, "one", client.Conn(ours))
		defer closeHub(t, &h)
		_ = theirs.Close()
		var down *client.DownError
		if err := <-changes; !errors.As(err, &down) || !down.Again.IsZero() {
			t.Errorf("%v", err)
		}
		time.Sleep(time.Hour) // of the bubble's clock
		if _, err := h.Session("one"); !errors.As(err, &down) {
			t.Errorf("%v", err)
		}
	})
}

func TestWhatAHubRefuses(t *testing.T) {
	h := client.Hub{}
	defer closeHub(t, &h)
	add(t, &h, "one", served(t, tools()...))
	for name, want := range map[string]string{"": "can not be the name", "a/b": "can not be the name", "one": "already"} {
		if err := h.Add(t.Context(), name, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := h.Add(t.Context(), "gone", client.Command("/no/such/program")); err == nil || len(h.Servers()) != 1 {
		t.Errorf("%v; %q", err, h.Servers())
	}
	for name, want := range map[string]string{"echo": "no server/tool", "two/echo": `no server "two"; there are one`} {
		if _, err := h.CallTool(t.Context(), name, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := h.Remove("two"); err != nil {
		t.Error(err)
	}
}

// A server that is connected to already is not started again some seconds ago.
func TestAHubSaysThatAServerIsBeingStartedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &restarts{t: t}
		changes, hold := make(chan error, 100), make(chan struct{})
		starts := 0
		h := client.Hub{Changed: func(_ string, err error) { changes <- err }}
		add(t, &h, "one", client.Program(func() (rpc.Conn, error) {
			if starts++; starts > 1 {
				<-hold
			}
			return r.start()
		}))
		defer closeHub(t, &h)
		r.end(false)
		has(t, (<-changes).Error(), "server one is down and started again in 1s: ")
		time.Sleep(10 * time.Second) // of the bubble's clock
		_, err := h.Session("one")
		has(t, err.Error(), "server one is down and is being started again: ")
		close(hold)
		if err := <-changes; err != nil {
			t.Error(err)
		}
	})
}
