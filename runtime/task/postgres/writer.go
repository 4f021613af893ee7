package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/internal/calls"
)

const (
	// maxBatch is how many calls share a transaction at most.
	maxBatch = 256
	// writers is how many transactions of this process there may be at once: while one is synced, the next is prepared.
	writers = 2
)

// op is one call that may write.
type op struct {
	calls.Call[answer]
	id string

	create *creation // or
	owner  *string   // the owner that the task has to have
	change func(s *task.State, now time.Time) error
	more   int64    // bytes that change may add
	whole  bool     // change needs the whole journal, or
	names  []string // these of its entries
	cancel bool     // change asks the run to stop

	// Used by the writer alone, until it sends the answer.
	record *record
	answer answer
}

// answer is the state after a call, also beside a *task.TerminalError.
type answer struct {
	after task.State
	err   error
}

// write has a writer make a call, and returns when its changes are durable. When ctx ends earlier, or other calls were before it for longer than two
// exchanges may take, the call may still be made.
func (s *Store) write(ctx context.Context, o *op) (task.State, error) {
	limited, cancel := context.WithTimeout(ctx, 2*s.options.Timeout)
	defer cancel()
	a, err := s.ops.Do(limited, o)
	switch {
	case err != nil && ctx.Err() != nil:
		return task.State{}, err // the caller gave up: that says nothing of the database
	case err != nil:
		return task.State{}, explain(err)
	}
	return a.after, a.err
}

// carryOut makes calls in one transaction, or in two if Options.Created takes part in creations: while that runs nothing should wait for a lock on a
// task that was changed.
func (s *Store) carryOut(ops []*op) {
	if s.options.Created != nil {
		creations, changes := []*op(nil), []*op(nil)
		for _, o := range ops {
			if o.create != nil {
				creations = append(creations, o)
			} else {
				changes = append(changes, o)
			}
		}
		s.together(creations)
		ops = changes
	}
	s.together(ops)
}

// together makes calls in one transaction. Those whose tasks another call has changed meanwhile are made again; if the database has refused what one
// of them wrote, each is made alone.
func (s *Store) together(ops []*op) {
	for len(ops) > 0 {
		ops = wanted(ops)
		b := newBatch(s, ops)
		err := b.run()
		switch {
		case err == nil:
			ops = b.answer()
		case rolledBack(err):
		case refusal(err) && len(ops) > 1:
			for i := range ops {
				s.together(ops[i : i+1])
			}
			return
		default:
			for _, o := range ops {
				o.refuse(explain(err))
			}
			return
		}
	}
}

// wanted returns the calls whose callers still wait.
func wanted(ops []*op) []*op {
	return slices.DeleteFunc(ops, func(o *op) bool {
		ctx := o.Context()
		if ctx.Err() == nil {
			return false
		}
		o.refuse(context.Cause(ctx))
		return true
	})
}

func (o *op) refuse(err error) { o.Answer(answer{err: err}) }
