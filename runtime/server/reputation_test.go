package server

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// lossy is an Outlet on which large frames fail, if fails, and are taken by its reader, if taken.
type lossy struct {
	*inbox
	fails error
	taken bool
}

func (o *lossy) Write(about rpc.ID, last bool, frame []byte) error {
	if o.fails != nil && len(frame) > largeOutput {
		return o.fails
	}
	return o.inbox.Write(about, last, frame)
}

func (o *lossy) Queue(rpc.ID) Queue { return o }

func (o *lossy) Cancelled(rpc.ID) {}

func (o *lossy) AwaitRoom(int) {}

func (o *lossy) AwaitRead(int) bool { return o.taken }

// Who is known to read has taken a large answer: one that could not be written, or that its reader left, shows nothing.
func TestTSK28OnlyAnswersThatWereTakenShowThatACallerReads(t *testing.T) {
	for name, c := range map[string]struct {
		out  lossy
		size int
		want reputation
	}{
		"taken":        {lossy{taken: true}, 2 * largeOutput, reads},
		"not written":  {lossy{taken: true, fails: errors.New("broken pipe")}, 2 * largeOutput, unknown},
		"taken, small": {lossy{taken: true}, 10, unknown},
	} {
		f := dual(t, Definition{Tools: []Tool{tool("large", large(c.size, new(atomic.Int64)))}})
		c.out.inbox = newInbox(t)
		<-f.begin(as(t, "ada"), frame(1, "tools/call", nothing, callParams("large", `{}`)), &c.out)
		if got := f.srv.reputations.of(Requestor{principal: "ada"}); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	for taken, want := range map[bool]reputation{true: reads, false: unknown} { // of a session, whose answers are queued
		f := dual(t, Definition{Tools: []Tool{tool("large", large(2*largeOutput, new(atomic.Int64)))}})
		out := lossy{inbox: newInbox(t), taken: taken}
		s := f.srv.NewSessionless(as(t, "ada"), &out, "2025-11-25")
		s.Receive(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"large","arguments":{}}}`))
		<-out.wrote
		if err := s.Close(&inflight.Cause{Source: inflight.SourceDisconnect}); err != nil {
			t.Error(err)
		}
		if got := f.srv.reputations.of(Requestor{principal: "ada"}); got != want {
			t.Errorf("taken by a reader: %t: %d, want %d", taken, got, want)
		}
	}
}

// Nobody counts for ever as one who reads, or who does not.
func TestTSK28HowACallerReadsIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var known reputations
		ada, eve := Requestor{principal: "ada"}, Requestor{principal: "eve"}
		known.hasRead(ada)
		known.hasStalled(eve)
		time.Sleep(stallKept)
		if a, e := known.of(ada), known.of(eve); a != reads || e != unknown {
			t.Errorf("after %v: %d, %d", stallKept, a, e)
		}
		time.Sleep(readKept - stallKept)
		if a := known.of(ada); a != unknown {
			t.Errorf("after %v: %d", readKept, a)
		}
		known.hasRead(ada)
		if a := known.of(ada); a != reads {
			t.Errorf("after another large answer: %d", a)
		}
	})
}
