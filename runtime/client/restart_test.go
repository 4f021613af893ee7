package client_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// restarted connects to a server that says something and ends at its first request. A handler of that runs until release is closed.
func restarted(t *testing.T, release <-chan struct{}) *client.Session {
	t.Helper()
	begun, starts := make(chan struct{}), 0
	s, err := client.Connect(t.Context(), client.Program(func() (rpc.Conn, error) {
		ours, theirs := rpc.Pipe()
		starts++
		p := &peer{t, theirs, offers}
		if starts > 1 {
			go p.begin("2025-11-25")
			return ours, nil
		}
		go func() {
			p.expect("server/discover")
			p.send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			p.send(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"of the first process"}}`)
			<-begun
			_ = theirs.Close()
		}()
		return ours, nil
	}), client.WithHandlers(client.Handlers{
		ListChanged: func(client.List) { close(begun); <-release },
		Log:         func(_, _ string, data json.RawMessage) { t.Errorf("%s comes after that process has ended", data) },
	}))
	if err != nil || starts != 2 || s.Err() != nil {
		t.Fatalf("%v after %d starts", err, starts)
	}
	return s
}

// The second process of a server gets a session of its own, in which what the first has said has no part.
func TestREV02AServerThatEndsIsStartedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s := restarted(t, release)
		close(release)
		synctest.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Connect does not wait for handlers of the first process, which may wait for Connect. Close does.
func TestREV02CloseWaitsForHandlersOfTheFirstProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s := restarted(t, release)
		time.AfterFunc(time.Minute, func() { close(release) }) // of the bubble's clock
		at := time.Now()
		if err := s.Close(); err != nil || time.Since(at) != time.Minute {
			t.Errorf("Close: %v after %v", err, time.Since(at))
		}
	})
}
