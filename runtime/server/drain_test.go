package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// script is a peer that says all it has to say and closes its output, as printf in a pipe does.
type script struct {
	mu  sync.Mutex
	out strings.Builder
	err error // of its standard input
}

func (s *script) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	return s.out.Write(b)
}

// answers are the ids that were answered, in order.
func (s *script) answers() (ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for line := range strings.Lines(s.out.String()) {
		m := message{raw: line}
		if id := m.field("id"); id != "" && m.field("method") == "" {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

const scripted = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":1,"method":"tools/list"}
`

func (s *script) play(f *fixture, lines string) error {
	defer f.srv.Shutdown(context.Background())
	return f.srv.Run(f.t.Context(), rpc.Lines(strings.NewReader(scripted+lines), s, nil, rpc.LineOptions{}))
}

func callLine(id int, tool string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"text":"x"}}}`, id, tool)
}

func TestCAN26WhatWasReadIsAnswered(t *testing.T) {
	for range 300 {
		s := &script{}
		f := newFixture(t, []Tool{tool("echo", structured(echo))})
		// the last line has no newline
		if err := s.play(f, callLine(2, "echo")+"\n"+callLine(3, "echo")); err != nil {
			t.Error(err)
		}
		if got := strings.Join(s.answers(), " "); got != "0 1 2 3" {
			t.Fatalf("answered: %s", got)
		}
	}
}

// Without a grace period, a connection on which nothing runs has no late handlers.
func TestCAN21NothingIsLateWhereNothingRuns(t *testing.T) {
	f := newFixture(t, []Tool{tool("echo", structured(echo))}, WithGrace(0))
	for range 100 {
		client, conn := rpc.Pipe()
		served := make(chan error, 1)
		go func() { served <- f.srv.Serve(t.Context(), conn) }()
		client.Close()
		if err := <-served; errors.Is(err, ErrGrace) {
			t.Fatal(err)
		}
	}
}

func TestCAN26LongCallsHaveTheGracePeriod(t *testing.T) {
	for took, answered := range map[time.Duration]bool{4 * time.Second: true, time.Hour: false} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{}
			var cause atomic.Pointer[inflight.Cause]
			f := newFixture(t, []Tool{tool("slow", plain(func(ctx context.Context, _ *Call) (*echoOutput, error) {
				var ended *inflight.Cause
				select {
				case <-time.After(took):
				case <-ctx.Done():
					errors.As(context.Cause(ctx), &ended)
					cause.Store(ended)
				}
				return &echoOutput{}, nil
			}))})
			start := time.Now()
			err := s.play(f, callLine(2, "slow")+"\n"+callLine(3, "slow")+"\n")
			if errors.Is(err, ErrUnanswered) == answered || err != nil && !strings.Contains(err.Error(), ": 2 after 5s") {
				t.Errorf("%v: %v", took, err)
			}
			if got := slices.Contains(s.answers(), "2"); got != answered || time.Since(start) > 5*time.Second {
				t.Errorf("%v: answered %v after %v", took, got, time.Since(start))
			}
			if c := cause.Load(); !answered && (c == nil || c.Source != inflight.SourceDisconnect) {
				t.Errorf("cause %v", c)
			}
		})
	}
}

func TestCAN26QuestionsEndAtOnce(t *testing.T) {
	for _, early := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{}
			var asked error
			f := newFixture(t, []Tool{tool("ask", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
				if !early {
					time.Sleep(time.Second) // the input has ended
				}
				_, asked = Ask(ctx, call, confirmQuestion(), "")
				return &echoOutput{}, asked
			}))})
			start := time.Now()
			if err := s.play(f, callLine(2, "ask")); err != nil {
				t.Error(err)
			}
			var cause *inflight.Cause
			if !errors.As(asked, &cause) || cause.Source != inflight.SourceDisconnect || time.Since(start) > time.Second {
				t.Errorf("%v after %v", asked, time.Since(start))
			}
			if got := strings.Join(s.answers(), " "); got != "0 1 2" {
				t.Errorf("answered: %s", got)
			}
		})
	}
}

// A request for the result of a task that waits for an answer ends at once, too: nothing can answer.
func TestCAN26AResultThatWaitsForAnAnswerEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, []Tool{asker(confirmQuestion())})
		up, toServer := io.Pipe()
		fromServer, down := io.Pipe()
		served := make(chan error, 1)
		go func() { served <- f.srv.Run(t.Context(), rpc.Lines(up, down, closers{up, down}, rpc.LineOptions{})) }()
		lines := bufio.NewScanner(fromServer)
		next := func(id string) message {
			for lines.Scan() {
				if m := (message{raw: lines.Text()}); m.field("id") == id {
					return m
				}
			}
			t.Fatal("no answer to " + id)
			return message{}
		}
		go io.WriteString(toServer, strings.Replace(scripted, `"elicitation":{}`, `"elicitation":{},"tasks":{}`, 1))
		next("1")
		_, _ = io.WriteString(toServer, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask","arguments":{},"task":{}}}`+"\n")
		id := next("2").str("result", "task", "taskId")
		_, _ = fmt.Fprintf(toServer, `{"jsonrpc":"2.0","id":3,"method":"tasks/result","params":%s}`+"\n", taskID(id))
		for lines.Scan() {
			if m := (message{raw: lines.Text()}); m.field("method") == `"`+elicit+`"` {
				break
			}
		}
		start := time.Now()
		toServer.Close()
		if m := next("3"); !strings.Contains(m.str("error", "message"), "waits for an answer: the client closed its output") {
			t.Error(m.raw)
		}
		go io.Copy(io.Discard, fromServer)
		if err := <-served; err != nil || time.Since(start) > time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		_ = f.srv.Shutdown(context.Background())
	})
}

func TestCAN26SubscriptionsEndCleanly(t *testing.T) {
	s := &script{}
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}})
	if err := s.play(f, frame(7, "subscriptions/listen", nothing, `"notifications":{"toolsListChanged":true}`)); err != nil {
		t.Error(err)
	}
	if got := strings.Join(s.answers(), " "); got != "0 1 7" {
		t.Errorf("answered: %s", got)
	}
}

// An output that nobody takes is the end at once, whether it is written to or only known to be closed.
func TestCAN26AClosedOutputIsTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHold()
		s := &script{err: io.ErrClosedPipe}
		f := newFixture(t, []Tool{tool("hang", h.handler())})
		start := time.Now()
		if err := s.play(f, callLine(2, "hang")); !errors.Is(err, io.ErrClosedPipe) {
			t.Error(err)
		}
		if time.Since(start) != 0 {
			t.Errorf("after %v", time.Since(start))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		h := newHold()
		c := newFixture(t, []Tool{tool("hang", h.handler())}).dial(t.Context())
		c.initialize(`{}`)
		c.call("2", "hang", `{}`)
		<-h.began
		start := time.Now()
		c.close()
		if cause := <-h.ended; cause.Source != inflight.SourceDisconnect || time.Since(start) != 0 {
			t.Errorf("%v after %v", cause, time.Since(start))
		}
	})
}

// So is one that is closed while the client could still send.
func TestCAN26AClosedOutputIsTheEndWhileTheInputIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHold()
		f := newFixture(t, []Tool{tool("hang", h.handler())})
		near, far := rpc.Pipe()
		conn := &deafConn{far, make(chan struct{})}
		c := f.connect(t.Context(), near, conn)
		c.initialize(`{}`)
		c.call("2", "hang", `{}`)
		<-h.began
		start := time.Now()
		close(conn.gone)
		if cause := <-h.ended; cause.Source != inflight.SourceDisconnect || time.Since(start) != 0 {
			t.Errorf("%v after %v", cause, time.Since(start))
		}
		if err := <-c.served; err != nil {
			t.Error(err)
		}
		near.Close()
		<-c.read
		c.closed = true
	})
}

// deafConn has a peer that closes what it reads and leaves what it writes open.
type deafConn struct {
	rpc.Conn
	gone chan struct{}
}

// Gone implements rpc.Watched.
func (c *deafConn) Gone() <-chan struct{} { return c.gone }

// A last message that is cut in the middle is dropped, and the log says so.
func TestCAN26AMessageThatIsBrokenOffIsLogged(t *testing.T) {
	var log syncBuffer
	f := newFixture(t, nil, WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	for input, want := range map[string]string{"{\"jsonrpc\":\"2.0\",\"id\":1,\"meth": "level=WARN msg=\"the client closed its output within a message, which is dropped\" peer=1 bytes=29", "": ""} {
		if err := f.srv.Serve(t.Context(), rpc.Lines(strings.NewReader(input), io.Discard, nil, rpc.LineOptions{})); err != nil {
			t.Error(err)
		}
		f.srv.records.Flush(t.Context())
		if got := log.take(); (got == "") != (want == "") || !strings.Contains(strings.ReplaceAll(got, "peer=2", "peer=1"), want) {
			t.Errorf("%q: logged %q", input, got)
		}
	}
}

// unreading is the output of a client that reads the answer to its handshake and nothing else: writes block until it is let go.
type unreading struct {
	began atomic.Bool
	letGo chan struct{}
}

func (u *unreading) Write(b []byte) (int, error) {
	if !u.began.Swap(true) {
		return len(b), nil
	}
	<-u.letGo
	return 0, io.ErrClosedPipe
}

// CAN21, CAN26: answers that nobody reads hold up the end for the grace period in which they could be read, and for the one in which handlers return, and
// not for a third one. The errors say what was waited for.
func TestCAN21CAN26AClientThatDoesNotReadHoldsUpTheEndOnce(t *testing.T) {
	for _, stops := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, []Tool{tool("echo", structured(echo))})
			ctx, stop := context.WithCancelCause(t.Context())
			out, in := &unreading{letGo: make(chan struct{})}, io.Reader(strings.NewReader(scripted+callLine(2, "echo")+"\n"+callLine(3, "echo")+"\n"))
			closer, most := io.Closer(nil), 2*5*time.Second+time.Second // in which the connection closes
			if stops {
				silent, _ := io.Pipe() // the input does not end
				in, closer, most = io.MultiReader(in, silent), silent, time.Second+5*time.Second+LateStall
				time.AfterFunc(time.Second, func() { stop(errors.New("stopped")) })
			}
			start := time.Now()
			err := f.srv.Run(ctx, rpc.Lines(in, out, closer, rpc.LineOptions{}))
			if took := time.Since(start); took > most || err == nil || !strings.Contains(err.Error(), "wait for the client to read") {
				t.Errorf("stopped %v: ended after %v with %v", stops, took, err)
			}
			for line := range strings.Lines(fmt.Sprint(err)) {
				if strings.HasPrefix(line, context.DeadlineExceeded.Error()) {
					t.Errorf("it does not say what was waited for: %v", err)
				}
			}
			close(out.letGo)
			stop(nil)
			synctest.Wait()
		})
	}
}
