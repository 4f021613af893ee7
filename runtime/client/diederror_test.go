package client_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// heldLog calls held with the first record of a request that has ended.
type heldLog struct {
	slog.Handler
	once *sync.Once
	held func()
}

// Handle implements slog.Handler.
func (h heldLog) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "request ended" {
		h.once.Do(h.held)
	}
	return nil
}

// TestCAN26ACloseDoesNotHideThatTheServerHasEnded closes a session, as a hub does, when one of its two calls was told that the server has ended and the other
// was not.
func TestCAN26ACloseDoesNotHideThatTheServerHasEnded(t *testing.T) {
	var s *client.Session
	closed, answered := make(chan error, 1), make(chan error, 2)
	log := heldLog{slog.DiscardHandler, new(sync.Once), func() {
		go func() { closed <- s.Close() }()
		answered <- <-answered
	}}
	log.Handler = enabled{log.Handler}
	s, p := meet(t, "2025-11-25", client.WithLogger(slog.New(log)))
	for range 2 {
		go func() {
			_, err := s.ReadResource(t.Context(), "file:///a")
			answered <- err
		}()
		p.expect("resources/read")
	}
	_ = p.conn.Close()
	<-closed
	for range 2 {
		err := <-answered
		var lost *client.TransportError
		if !errors.As(err, &lost) {
			t.Errorf("%v", err)
		}
	}
	var lost *client.TransportError
	if _, err := s.ReadResource(t.Context(), "file:///a"); !errors.As(err, &lost) {
		t.Errorf("afterwards: %v", err)
	}
}

// brokenOff is the beginning of a message.
const brokenOff = `{"jsonrpc":"2.0","id":1,"result":{`

// TestCAN26AMessageThatIsBrokenOffIsInTheError: a server that ends within its answer is not one that ends without.
func TestCAN26AMessageThatIsBrokenOffIsInTheError(t *testing.T) {
	opt := client.WithRevision("2025-06-18")
	_, piped := client.Connect(t.Context(), client.Conn(rpc.Lines(strings.NewReader(brokenOff), io.Discard, nil, rpc.LineOptions{})), opt)
	_, child := spawn(t, "breaks off", opt)
	for want, err := range map[string]error{"the server closed the connection": piped, "the server has ended: exit status 0": child} {
		var lost *client.TransportError
		var broken *rpc.BrokenOffError
		if !errors.As(err, &lost) || !errors.As(err, &broken) || broken.Bytes != len(brokenOff) {
			t.Errorf("%v", err)
			continue
		}
		has(t, err.Error(), want+"; its last message was broken off after 34 bytes")
	}
}

// enabled is a handler of all records.
type enabled struct{ slog.Handler }

// Enabled implements slog.Handler.
func (enabled) Enabled(context.Context, slog.Level) bool { return true }
