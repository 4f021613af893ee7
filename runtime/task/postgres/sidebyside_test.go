//go:build versions

package postgres

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
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// programs are servers that were scaffolded by two versions; testdata/versions.sh builds them.
var programs = map[string]*string{
	"before": flag.String("before", "", "the server of the version before"),
	"now":    flag.String("now", "", "the server of this version"),
}

// fleet is what the servers of a test share.
type fleet struct {
	*testing.T
	env []string
}

// serve starts a server and returns its address.
func (f *fleet) serve(version string) (at string, kill func()) {
	f.Helper()
	cmd := exec.Command(*programs[version], "-work", "300ms", "-http", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), f.env...)
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
	case <-within(f.T).Done():
		f.Fatal(version, " does not serve")
	}
	return at, kill
}

// pair is a client that makes a task on one server and goes on with it on another, as behind a proxy that spreads requests.
type pair struct {
	*fleet
	*client.Session
	maker, follower string
	killMaker       func()
	to              atomic.Pointer[url.URL]
	left            chan struct{} // closed when the maker is not asked any more
}

// newPair connects a client that says yes.
func newPair(f *fleet, revision, maker, follower string, killMaker func()) *pair {
	f.Helper()
	p := &pair{fleet: f, maker: maker, follower: follower, killMaker: killMaker, left: make(chan struct{})}
	p.ask(maker)
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: p.to.Load().Host}) }, FlushInterval: -1,
		ErrorLog: log.New(io.Discard, "", 0)})
	f.Cleanup(proxy.Close)
	var err error
	p.Session, err = client.Connect(f.Context(), client.HTTP(proxy.URL+"/mcp"), client.WithRevision(revision), client.WithHandlers(client.Handlers{
		Elicit: func(ctx context.Context, _ *client.Question) (*client.Answer, error) {
			select {
			case <-p.left:
			case <-ctx.Done():
			}
			return &client.Answer{Action: client.Accepted, Content: map[string]bool{"overwrite": true}}, nil
		},
	}))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { p.Session.Close() })
	return p
}

// ask has requests go to a server from now on.
func (p *pair) ask(server string) {
	to, err := url.Parse(server)
	if err != nil {
		p.Fatal(err)
	}
	p.to.Store(to)
}

// begin makes a task, leaves it, and waits until the other server says that it has a status.
func (p *pair) begin(tool string, args any, status task.Status) client.Ref {
	p.Helper()
	x, err := p.Start(p.Context(), tool, args)
	if err != nil {
		p.Fatal(err)
	}
	ref, ok := x.Ref()
	if !ok {
		p.Fatal("no task was made")
	}
	x.Detach()
	p.ask(p.follower)
	defer close(p.left)
	p.reaches(ref, status)
	return ref
}

// reaches reads the task until it has a status, or is over.
func (p *pair) reaches(ref client.Ref, status task.Status) {
	p.Helper()
	for {
		state, err := p.GetTask(p.Context(), ref)
		if err != nil {
			p.Fatalf("while it goes on: %v", err)
		}
		if state.Status == status {
			return
		}
		if state.Status.Terminal() {
			p.Fatalf("the task is %s, not %s", state.Status, status)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// both are the ends as both servers tell them.
func (p *pair) both(ref client.Ref) string {
	p.ask(p.follower)
	end := p.end(ref)
	p.ask(p.maker)
	return end + "\n" + p.end(ref)
}

// end is how a task ended.
func (p *pair) end(ref client.Ref) string {
	p.Helper()
	x, err := p.Resume(p.Context(), ref)
	if err != nil {
		return err.Error()
	}
	result, err := x.Result(within(p.T))
	state, gone := p.GetTask(p.Context(), ref)
	if err := errors.Join(err, gone); err != nil {
		return strings.ReplaceAll(fmt.Sprintf("%s %q: %v", state.Status, state.Message, err), ref.ID, "ID")
	}
	return fmt.Sprintf("%s %q: %s", state.Status, state.Message, result.StructuredContent)
}

// stories are what happens to a task between two servers. Each returns what the client saw at the end.
var stories = map[string]func(p *pair) string{
	"finished": func(p *pair) string {
		ref := p.begin("build_report", map[string]any{"title": "Q3", "pages": 5}, task.Working)
		p.reaches(ref, task.Completed)
		return p.both(ref)
	},
	"asks, answered elsewhere": func(p *pair) string {
		return p.both(p.begin("import_orders", map[string]any{"source": "existing orders"}, task.InputRequired))
	},
	"cancelled elsewhere": func(p *pair) string {
		ref := p.begin("build_report", map[string]any{"title": "Q3", "pages": 1000}, task.Working)
		x, err := p.Resume(p.Context(), ref)
		if err == nil {
			err = x.Cancel(p.Context(), "enough")
		}
		if err != nil {
			p.Fatal(err)
		}
		return p.both(ref)
	},
	"killed": func(p *pair) string {
		ref := p.begin("build_report", map[string]any{"title": "Q3", "pages": 8}, task.Working)
		p.killMaker()
		p.reaches(ref, task.Completed)
		return p.end(ref)
	},
}

// Servers of the version before and of this one share a database: whatever happens to a task, its clients see the same, whichever versions they ask.
func TestDUR07VersionsSideBySide(t *testing.T) {
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	all := &fleet{t, []string{"MCPKILN_TASKS=" + newURL(t), "MCPKILN_SEAL_KEY=" + base64.StdEncoding.EncodeToString(key)}}
	stay := map[string]string{}
	for version := range programs {
		stay[version], _ = all.serve(version)
	}
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		for name, story := range stories {
			t.Run(revision+", "+name, func(t *testing.T) {
				t.Parallel()
				var mu sync.Mutex
				ends := map[string][]string{}
				t.Run("pairs", func(t *testing.T) {
					for maker := range programs {
						for follower := range programs {
							t.Run(maker+", "+follower, func(t *testing.T) {
								t.Parallel()
								f := &fleet{t, all.env}
								at, kill := f.serve(maker)
								end := story(newPair(f, revision, at, stay[follower], kill))
								mu.Lock()
								defer mu.Unlock()
								ends[end] = append(ends[end], maker+", "+follower)
							})
						}
					}
				})
				if len(ends) != 1 {
					t.Errorf("clients see different ends: %q", ends)
				}
				for end := range ends {
					t.Logf("%s", end)
				}
			})
		}
	}
}
