package chaos

import (
	"context"
	"os"
	"sync/atomic"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// Calls are those of a store before and after which a replica can be killed.
var Calls = []string{"create", "fetch", "begin", "record", "ask", "answer", "finish", "park"}

// Point is a moment at which a replica kills itself, as kill -9 does: before or after the Nth time that it makes a call.
type Point struct {
	Call  string
	After bool
	Nth   int64
}

func (p Point) String() string {
	if p.After {
		return "after " + p.Call
	}
	return "before " + p.Call
}

// points is a store whose process dies at a point, after it has reported the calls that the store acknowledged.
type points struct {
	task.Store
	at   Point
	made atomic.Int64
	say  func(words ...any)
}

// around makes a call, and dies before or after it if that is the point.
func (s *points) around(call string, make func() error) {
	n := int64(0)
	if call == s.at.Call {
		n = s.made.Add(1)
	}
	if n > 0 && n == s.at.Nth && !s.at.After {
		s.die()
	}
	if err := make(); n > 0 && n >= s.at.Nth && s.at.After && err == nil {
		s.die()
	}
}

func (s *points) die() {
	s.say("dies", s.at)
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
	select {}
}

// Interrupts and Offers are passed on, if the store has them.
func (s *points) Interrupts(hint func(id string)) (stop func()) { return interrupts(s.Store, hint) }

func (s *points) Offers(hint func()) (stop func()) { return offers(s.Store, hint) }

func interrupts(store task.Store, hint func(id string)) (stop func()) {
	if i, ok := store.(task.Interrupter); ok {
		return i.Interrupts(hint)
	}
	return func() {}
}

func offers(store task.Store, hint func()) (stop func()) {
	if o, ok := store.(task.Offerer); ok {
		return o.Offers(hint)
	}
	return func() {}
}

func (s *points) Create(ctx context.Context, t task.Task, q task.Quota) (made task.Task, err error) {
	s.around("create", func() error { made, err = s.Store.Create(ctx, t, q); return err })
	return made, err
}

func (s *points) Get(ctx context.Context, owner, id string) (t task.Task, err error) {
	s.around("fetch", func() error { t, err = s.Store.Get(ctx, owner, id); return err })
	return t, err
}

func (s *points) Begin(ctx context.Context, id, node string, d time.Duration) (b task.Begun, err error) {
	s.around("begin", func() error { b, err = s.Store.Begin(ctx, id, node, d); return err })
	return b, err
}

func (s *points) Record(ctx context.Context, l task.Lease, name string, data []byte) (err error) {
	s.around("record", func() error { err = s.Store.Record(ctx, l, name, data); return err })
	return err
}

func (s *points) Ask(ctx context.Context, l task.Lease, q task.Question) (t task.Task, err error) {
	s.around("ask", func() error { t, err = s.Store.Ask(ctx, l, q); return err })
	for _, open := range t.Questions {
		s.say("asked", l.Task, open.AskedAt.UnixNano())
	}
	return t, err
}

func (s *points) Answer(ctx context.Context, owner, id string, answers []task.Answer) (t task.Task, err error) {
	s.around("answer", func() error { t, err = s.Store.Answer(ctx, owner, id, answers); return err })
	return t, err
}

func (s *points) Finish(ctx context.Context, l task.Lease, o task.Outcome) (t task.Task, err error) {
	s.around("finish", func() error { t, err = s.Store.Finish(ctx, l, o); return err })
	if err == nil {
		s.say("finished", l.Task, string(o.Result))
	} else {
		s.say("unfinished", l.Task, err)
	}
	return t, err
}

func (s *points) Park(ctx context.Context, l task.Lease) (t task.Task, err error) {
	s.around("park", func() error { t, err = s.Store.Park(ctx, l); return err })
	return t, err
}
