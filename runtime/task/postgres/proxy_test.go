package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// proxy stands between a store and its server, and can do to connections what networks do.
type proxy struct {
	listener net.Listener
	to       string

	mu    sync.Mutex
	conns map[*link]bool
	all   sync.WaitGroup
}

// link is one connection through the proxy.
type link struct {
	mu             sync.Mutex
	stranded       bool // what either end sends is dropped, and neither end learns of it
	client, server net.Conn
}

// newProxy returns a proxy to the server of the given URL, and the URL through it.
func newProxy(t *testing.T, to string) (*proxy, string) {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{to: u.Host, conns: map[*link]bool{}}
	if p.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	p.all.Go(p.accept)
	t.Cleanup(func() {
		p.listener.Close()
		p.cut()
		p.all.Wait()
	})
	u.Host = p.listener.Addr().String()
	return p, u.String()
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.to)
		if err != nil {
			client.Close()
			continue
		}
		l := &link{client: client, server: server}
		p.mu.Lock()
		p.conns[l] = true
		p.mu.Unlock()
		p.all.Go(func() { l.copy(server, client) })
		p.all.Go(func() {
			l.copy(client, server)
			p.mu.Lock()
			defer p.mu.Unlock()
			delete(p.conns, l)
		})
	}
}

// copy passes on what comes, until one end closes.
func (l *link) copy(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		l.mu.Lock()
		stranded := l.stranded
		l.mu.Unlock()
		if stranded {
			_, _ = io.Copy(io.Discard, from)
			return
		}
		if err != nil {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// links are the connections that there are.
func (p *proxy) links() (all []*link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.conns {
		all = append(all, l)
	}
	return all
}

// cut breaks all connections.
func (p *proxy) cut() {
	for _, l := range p.links() {
		l.client.Close()
		l.server.Close()
	}
}

// strand leaves all connections half open: nothing passes, and nobody is told. New ones work.
func (p *proxy) strand() int {
	all := p.links()
	for _, l := range all {
		l.mu.Lock()
		l.stranded = true
		l.mu.Unlock()
	}
	return len(all)
}

// Connections are cut, and left half open, again and again under load: what was acknowledged is done, and nothing hangs.
func TestDUR06ConnectionsBreak(t *testing.T) {
	for name, o := range map[string]Options{"listening": {}, "behind a pooler": {Bouncer: true}} {
		for how, broken := range map[string]func(p *proxy) int{
			"cut":       func(p *proxy) int { n := len(p.links()); p.cut(); return n },
			"half open": (*proxy).strand,
		} {
			t.Run(fmt.Sprint(name, ", ", how), func(t *testing.T) {
				t.Parallel()
				o := o
				o.Timeout = 500 * time.Millisecond
				o.Configure = func(c *pgxpool.Config) { c.MaxConns = 8 }
				to := newURL(t)
				p, through := newProxy(t, to)
				brokenUnderLoad(t, openAt(t, through, o), openAt(t, to, Options{}), func() int { return broken(p) })
			})
		}
	}
}

// brokenUnderLoad breaks the connections of a store, and looks at its tasks through another one.
func brokenUnderLoad(t *testing.T, s, other *Store, broken func() int) {
	// A begin whose answer was lost holds its task until the lease is over, so that is short; a step may be done again then.
	c := task.Config{Lease: 3 * time.Second, Runner: func(ctx context.Context, r *task.Run) task.Outcome {
		if _, err := r.Do(ctx, "step", func(context.Context) ([]byte, error) { return nil, nil }); err != nil {
			return task.Outcome{Status: task.Failed, Message: err.Error()}
		}
		return task.Outcome{Status: task.Completed, Result: []byte("done")}
	}}
	e := engineAt(t, s, c)
	var ids []string
	breaks, refused, longest := 0, 0, time.Duration(0)
	for range *cuts {
		for n := range 20 {
			if n == 10 {
				breaks += broken()
			}
			from := time.Now()
			c, err := e.Create(t.Context(), task.Spec{Owner: "ada", Tool: "tool", Reruns: 1000}) // a begin whose answer was lost counts as a crash
			longest = max(longest, time.Since(from))
			if err != nil {
				refused++ // and if there is such a task nevertheless, nobody was told of it
				continue
			}
			c.Start()
			ids = append(ids, c.Task.ID)
		}
	}
	if breaks == 0 || len(ids) < 2**cuts {
		t.Fatalf("%d connections were broken, %d tasks created: the test proves nothing", breaks, len(ids))
	}
	watch := engineAt(t, other, c)
	for _, id := range ids {
		if got, err := watch.Wait(within(t), "ada", id); err != nil || string(got.Result) != "done" {
			t.Errorf("acknowledged, and it is %s (%s), %v", got.Status, got.StatusMessage, err)
		}
	}
	t.Logf("%d connections were broken; %d tasks were acknowledged and done, %d refused; the slowest answer took %v", breaks, len(ids), refused, longest)
}

// A cancel reaches a run whose store's connections are half open, the one for notifications among them.
func TestDUR03CancelOverHalfOpenConnections(t *testing.T) {
	t.Parallel()
	to := newURL(t)
	p, through := newProxy(t, to)
	began, ended := make(chan string, 1), make(chan end, 1)
	runs := engineAt(t, openAt(t, through, Options{Timeout: 500 * time.Millisecond}), task.Config{Runner: patient(began, ended), Lease: longLease})
	other := openAt(t, to, Options{})
	id := start(t, runs, 1)[0]
	<-began
	if p.strand() == 0 {
		t.Fatal("no connection is half open: the test proves nothing")
	}
	from := time.Now()
	if _, err := other.Cancel(t.Context(), "ada", id, task.Cancel{Force: true}); err != nil {
		t.Fatal(err)
	}
	select {
	case e := <-ended:
		t.Logf("the context was over after %v: %v", e.at.Sub(from), e.cause)
	case <-within(t).Done():
		t.Fatal("the run was not told")
	}
	if _, err := runs.Get(within(t), "ada", id); err != nil && errors.Is(err, task.ErrNotFound) {
		t.Error(err)
	}
}

// A connection that does not answer keeps its place in the pool for one exchange, whatever deadline the driver gives it.
func TestDUR06HalfOpenConnectionsAreGivenUpSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer far.Close()
		dial := limitDeadlines(func(context.Context, string, string) (net.Conn, error) { return near, nil }, 5*time.Second)
		c, err := dial(t.Context(), "tcp", "db:5432")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		began := time.Now()
		if err := c.SetDeadline(began.Add(15 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != 5*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		silent := limitDeadlines(func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, 5*time.Second)
		began = time.Now()
		if _, err := silent(t.Context(), "tcp", "db:5432"); err == nil || time.Since(began) != 5*time.Second {
			t.Errorf("dialled for %v: %v", time.Since(began), err)
		}
	})
}
