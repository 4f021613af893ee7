package client

import (
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// A question can be over before it stops a clock: the server has withdrawn it on another stream, or the session ends.
func TestCAN28AQuestionThatIsOverStopsNoClock(t *testing.T) {
	s := &Session{}
	c := &call{s: s, op: &wire.Call{Op: wire.OpCallTool}, awaiting: true}
	f := &follower{changed: make(chan struct{})}
	s.calls, s.followers = map[*call]struct{}{c: {}}, map[string]*follower{"t": f}
	for _, task := range []string{"", "t"} {
		q := &question{Question: &Question{Task: task}, s: s, askers: map[*call]struct{}{}}
		q.resumeAskers()
		q.pauseAskers(nil)
		if len(c.questions) > 0 || f.stopped.openQuestions > 0 {
			t.Errorf("of %q: %d calls wait, %d tasks", task, len(c.questions), f.stopped.openQuestions)
		}
	}
}

// The end of a call ends no question that the call does not ask any more, such as one whose answer is being sent.
func TestCAN31TheEndOfACallEndsNoQuestionOfOthers(t *testing.T) {
	s := &Session{tracker: inflight.New(inflight.Options{})}
	q := &question{Question: &Question{}, s: s, id: rpc.IntID(1)}
	e, err := s.tracker.RegisterIn(&q.entryMemory, t.Context(), s.key(q.id, inflight.Incoming), inflight.Info{}, q)
	if err != nil {
		t.Fatal(err)
	}
	c := &call{s: s}
	if q.askerEnded(c); e.Err() != nil {
		t.Error(e.Cause())
	}
	q.askers, q.caller = map[*call]struct{}{c: {}}, c
	if q.askerEnded(c); e.Err() == nil {
		t.Error("it is not over, though the call that has asked it is")
	}
}
