package server

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// unreadConn is one whose peer does not read what contains the text, until it is closed.
type unreadConn struct {
	rpc.Conn
	text   string
	held   chan struct{}
	closed chan struct{}
	once   sync.Once
}

func (c *unreadConn) WriteFrame(frame []byte) error {
	if strings.Contains(string(frame), c.text) {
		c.held <- struct{}{}
		<-c.closed
		return rpc.ErrClosed
	}
	return c.Conn.WriteFrame(frame)
}

func (c *unreadConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// A connection that does not read what is said of a task holds up neither its cancellation nor its state on another one: it is ended.
func TestTSK18CAN29WhoDoesNotReadHoldsUpNoTaskOfAnotherConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHold()
		h.onward = func(ctx context.Context, call *Call) { call.Progress(ctx, 1, 0, "") }
		f := newFixture(t, jobs(h), WithGrace(time.Second))
		near, far := rpc.Pipe()
		deaf := &unreadConn{Conn: far, text: "notifications/progress", held: make(chan struct{}, 1), closed: make(chan struct{})}
		served := make(chan error, 1)
		c := newClient(t, near)
		go func() { served <- f.srv.Serve(WithPrincipal(t.Context(), "ada"), deaf) }()
		c.srv, c.served = f.srv, served
		c.initialize(`{}`)
		id := c.start("1", "hang", `,"_meta":{"progressToken":"p"}`)
		<-deaf.held
		other := f.dialTasks("ada")
		start := time.Now()
		m := other.request("2", "tasks/cancel", taskID(id))
		if m.str("result", "status") != "cancelled" || time.Since(start) > maxStall+checkEvery {
			t.Errorf("after %v: %s", time.Since(start), m.raw)
		}
		if err := <-served; !errors.Is(err, ErrStalled) || !strings.Contains(err.Error(), "the end of a task") {
			t.Errorf("the other connection ended with %v", err)
		}
		other.request("3", "tasks/get", taskID(id)).wantNoError(t)
		near.Close()
		other.close()
		synctest.Wait()
		f.counted()
	})
}

// Who has read everything between being found to read nothing and being given up is left alone.
func TestTSK28WhoHasReadMeanwhileIsNotGivenUp(t *testing.T) {
	near, far := rpc.Pipe()
	defer near.Close()
	o := newConnOutlet(far)
	_ = o.counted(1, func() error {
		if n, _ := o.Stalled(0); n == 0 {
			t.Error("nothing is being written")
		}
		return nil
	})
	o.GiveUp(0)
	if len(o.failed) > 0 {
		t.Errorf("the connection ends with %v", <-o.failed)
	}
}

// Who is told that a task has expired hears nothing more of it, not even what was being written when it did.
func TestCAN29ATaskThatExpiredIsSilentBeforeThatIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHold()
		h.onward = func(ctx context.Context, call *Call) { call.Progress(ctx, 1, 0, "") }
		f := newFixture(t, jobs(h))
		near, far := rpc.Pipe()
		slow := &slowConn{Conn: far, text: []byte("notifications/progress"), held: make(chan struct{}, 1), free: make(chan struct{})}
		c := f.connect(t.Context(), near, slow)
		c.initialize(`{}`)
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hang","arguments":{"text":"x"},"task":{"ttl":1000},"_meta":{"progressToken":"p"}}}`)
		m, _ := c.answer("1")
		id := m.str("result", "task", "taskId")
		<-slow.held
		time.Sleep(2 * time.Second)
		c.sendf(`{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":%s}`, taskID(id))
		synctest.Wait()
		close(slow.free)
		if first, second := c.next(), c.next(); first.Method != "notifications/progress" || second.Error == nil {
			t.Errorf("%s\n%s", first.raw, second.raw)
		}
		c.close()
		if n := len(f.srv.taskLives); n != 0 {
			t.Errorf("%d tasks are kept", n)
		}
	})
}
