// Package versions drives servers that two versions of this module have scaffolded, with clients that go from one to the other. It is for those who change
// how a store keeps tasks: `make versions` builds the servers.
package versions

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// Programs are the servers, by version.
var Programs = map[string]*string{
	"before": flag.String("before", "", "the server of the version before"),
	"now":    flag.String("now", "", "the server of this version"),
}

// Revisions are the protocol revisions of the clients.
var Revisions = []string{"2025-11-25", "2026-07-28"}

// Fleet is what the servers of a test have in common.
type Fleet struct {
	*testing.T
	Env  []string
	Args []string
}

// NewFleet returns a fleet of servers that accept each other's sessions.
func NewFleet(t *testing.T) *Fleet {
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	return &Fleet{T: t, Env: []string{"MCPKILN_SEAL_KEY=" + base64.StdEncoding.EncodeToString(key)}}
}

// In returns the fleet for another test.
func (f *Fleet) In(t *testing.T) *Fleet { return &Fleet{t, f.Env, f.Args} }

// Within returns a context for two minutes, which are enough on any machine.
func (f *Fleet) Within() context.Context {
	ctx, stop := context.WithTimeout(f.Context(), 2*time.Minute)
	f.Cleanup(stop)
	return ctx
}

// Serve starts a server and returns its address.
func (f *Fleet) Serve(version string) (at string, kill func()) {
	f.Helper()
	cmd := exec.Command(*Programs[version], append([]string{"-work", "300ms", "-http", "127.0.0.1:0"}, f.Args...)...)
	cmd.Env = append(os.Environ(), f.Env...)
	said, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		f.Fatal(err)
	}
	address := make(chan string, 1)
	var reads sync.WaitGroup
	reads.Go(func() {
		for lines := bufio.NewScanner(said); lines.Scan(); {
			if on, ok := strings.CutPrefix(lines.Text(), "serving MCP on "); ok {
				address <- "http://" + strings.TrimSuffix(on, ", path /mcp") + "/mcp"
			} else if strings.Contains(lines.Text(), "level=ERROR") || strings.Contains(lines.Text(), "panic") {
				fmt.Println(version, "says", lines.Text())
			}
		}
	})
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		reads.Wait()
		_ = cmd.Wait()
	})
	f.Cleanup(kill)
	select {
	case at = <-address:
	case <-f.Within().Done():
		f.Fatal(version, " does not serve")
	}
	return at, kill
}

// Client makes a task on one server and goes on with it on another, as behind a proxy.
type Client struct {
	*Fleet
	*client.Session
	mu      sync.RWMutex
	to      *url.URL
	answers chan struct{} // closed when questions are answered
}

// Connect makes a client that accepts questions, after Answer was called.
func Connect(f *Fleet, revision, server string) *Client {
	f.Helper()
	c := &Client{Fleet: f, answers: make(chan struct{})}
	c.Ask(server)
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: c.host()}) }, FlushInterval: -1,
		ErrorLog: log.New(io.Discard, "", 0)})
	f.Cleanup(proxy.Close)
	var err error
	c.Session, err = client.Connect(f.Context(), client.HTTP(proxy.URL+"/mcp"), client.WithRevision(revision), client.WithHandlers(client.Handlers{
		Elicit: func(ctx context.Context, _ *client.Question) (*client.Answer, error) {
			select {
			case <-c.answers:
			case <-ctx.Done():
			}
			return &client.Answer{Action: client.Accepted, Content: map[string]bool{"overwrite": true}}, nil
		},
	}))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { c.Session.Close() })
	return c
}

func (c *Client) host() string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.to.Host
}

// Ask has requests go to a server from now on.
func (c *Client) Ask(server string) { c.AskNext(func() string { return server }) }

// AskNext has requests go to the server that start returns; those that come earlier wait for it.
func (c *Client) AskNext(start func() (server string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	to, err := url.Parse(start())
	if err != nil {
		c.Fatal(err)
	}
	c.to = to
}

// Answer has questions answered from now on.
func (c *Client) Answer() { close(c.answers) }

// Begin makes a task and does not wait for it.
func (c *Client) Begin(tool string, args any) client.Ref {
	c.Helper()
	x, err := c.Start(c.Context(), tool, args)
	if err != nil {
		c.Fatal(err)
	}
	ref, ok := x.Ref()
	if !ok {
		c.Fatal("no task was made")
	}
	x.Detach()
	return ref
}

// Reaches waits until the task has a status; it fails if the task ends before.
func (c *Client) Reaches(ref client.Ref, status task.Status) {
	c.Helper()
	for {
		state, err := c.GetTask(c.Context(), ref)
		if err != nil {
			c.Fatalf("while it goes on: %v", err)
		}
		if state.Status == status {
			return
		}
		if state.Status.Terminal() {
			c.Fatalf("the task is %s, not %s", state.Status, status)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// End waits for the end of a task, and returns its outcome as text.
func (c *Client) End(ref client.Ref) string {
	c.Helper()
	x, err := c.Resume(c.Context(), ref)
	if err != nil {
		return err.Error()
	}
	result, err := x.Result(c.Within())
	state, gone := c.GetTask(c.Context(), ref)
	if err := errors.Join(err, gone); err != nil {
		return strings.ReplaceAll(fmt.Sprintf("%s %q: %v", state.Status, state.Message, err), ref.ID, "ID")
	}
	return fmt.Sprintf("%s %q: %s", state.Status, state.Message, result.StructuredContent)
}
