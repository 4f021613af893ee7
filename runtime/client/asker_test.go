package client

import "testing"

// A question can be over before it stops a clock: the server has taken it back on another stream, or the session ends.
func TestCAN28AQuestionThatIsOverStopsNoClock(t *testing.T) {
	s := &Session{}
	c := &call{s: s, awaiting: true}
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
