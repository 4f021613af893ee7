package servertest_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/servertest"
)

// A value that is x-sensitive in a method of the server's own is in no error and no log: as params of a request and of a notification, in a
// result, in the client's answer, and in what the server sends.
func TestVAL03CustomMethodsKeepSensitiveValues(t *testing.T) {
	long, full := "hunter2"+strings.Repeat("x", 100), "hunter2"+strings.Repeat("x", 93)
	eachRevision(t, func(t *testing.T, revision string) {
		logged := lines{written: make(chan struct{}, 1)}
		srv := customServer(t, func(string, string) { t.Error("taken") }, "/text", server.WithLogger(slog.New(slog.NewTextHandler(&logged, nil))))
		c := servertest.Start(t, srv, servertest.WithRevision(revision))
		c.Notify("notifications/notes/seen", &input{long})
		var told []string
		for _, text := range []string{long, full} { // full makes a result that is too long
			_, err := servertest.Request[output](c, "notes/add", &input{text})
			if err == nil {
				t.Fatal("not refused")
			}
			told = append(told, err.Error())
		}
		if revision != "2026-07-28" { // where it is asked again
			c.Answer("which", servertest.Reply(&input{long}))
			_, err := servertest.Call[output](c, "choose", &input{"tea or milk"})
			if err == nil {
				t.Fatal("a wrong answer was taken")
			}
			told = append(told, err.Error())
		}
		if !strings.Contains(told[0], "/text: maxLength: found a value that is not shown") {
			t.Error(told[0])
		}
		for _, want := range []string{"notification not taken", "output refused"} {
			logged.await(t, want)
		}
		if err := srv.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		all := strings.Join(told, "\n") + logged.String()
		if strings.Contains(all, "hunter2") {
			t.Error("the value is in", all)
		}
	})
}

// lines are what a logger wrote.
type lines struct {
	mu      sync.Mutex
	b       bytes.Buffer
	written chan struct{} // of capacity one
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.written <- struct{}{}:
	default:
	}
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// await returns once text is written. A notification is handled beside the requests that follow it.
func (l *lines) await(t *testing.T, text string) {
	t.Helper()
	deadline := time.After(time.Minute)
	for !strings.Contains(l.String(), text) {
		select {
		case <-l.written:
		case <-deadline:
			t.Fatalf("%q is not in %s", text, l)
		}
	}
}
