package postgres

import (
	"context"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/internal/gather"
)

const (
	// maxBatch is how many calls share a transaction at most.
	maxBatch = 256
	// writers is how many transactions of this process there may be at once: while one is synced, the next is prepared.
	writers = 2
)

// op is one call that may write.
type op struct {
	ctx  context.Context
	id   string
	done chan answer

	create *creation // or
	owner  *string   // who the task has to belong to
	change func(s *task.State, now time.Time) error
	more   int64    // bytes that change may add
	whole  bool     // change needs the whole journal, or
	names  []string // these of its entries
	cancel bool     // change asks the run to stop

	// The writer's own, until it sends the answer.
	record *record
	answer answer
}

// answer is the state after a call, also beside a *task.TerminalError.
type answer struct {
	after task.State
	err   error
}

// submit has a writer make a call, and returns after what it wrote is durable. When ctx ends earlier, the call may still be made.
func (s *Store) submit(ctx context.Context, o *op) (task.State, error) {
	o.ctx, o.done = ctx, make(chan answer, 1)
	a := s.enqueue(ctx, o)
	return a.after, a.err
}

func (s *Store) enqueue(ctx context.Context, o *op) answer {
	select {
	case <-s.closed:
		return answer{err: ErrClosed}
	default:
	}
	select {
	case s.ops <- o:
	case <-s.closed:
		return answer{err: ErrClosed}
	case <-ctx.Done():
		return answer{err: context.Cause(ctx)}
	}
	select {
	case a := <-o.done:
		return a
	case <-ctx.Done():
		return answer{err: context.Cause(ctx)}
	case <-s.base.Done():
	}
	s.parts.Wait() // the writers make what has come
	select {
	case a := <-o.done:
		return a
	default:
		return answer{err: ErrClosed}
	}
}

// writeAll is a writer: it makes the calls that have come, together.
func (s *Store) writeAll() {
	for {
		select {
		case o := <-s.ops:
			s.carryOut(gather.All(o, s.ops, maxBatch))
		case <-s.closed:
			for {
				select {
				case o := <-s.ops:
					s.carryOut(gather.All(o, s.ops, maxBatch))
				default:
					return
				}
			}
		}
	}
}

// carryOut makes calls in one transaction, or in two if Options.Created takes part in creations: while it does nobody should wait for a lock on
// a task that was changed.
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

// together makes calls in one transaction: those whose tasks somebody else has changed meanwhile again, and each alone
// if the database has refused what one of them wrote.
func (s *Store) together(ops []*op) {
	for len(ops) > 0 {
		ops = wanted(ops)
		b := newBatch(s, ops)
		err := b.run()
		switch {
		case err == nil:
			ops = b.answer()
		case outrun(err):
		case refusal(err) && len(ops) > 1:
			for i := range ops {
				s.together(ops[i : i+1])
			}
			return
		default:
			for _, o := range ops {
				o.done <- answer{err: explain(err)}
			}
			return
		}
	}
}

// wanted are the calls that somebody still waits for.
func wanted(ops []*op) []*op {
	kept := ops[:0:0]
	for _, o := range ops {
		if o.ctx.Err() != nil {
			o.done <- answer{err: context.Cause(o.ctx)}
			continue
		}
		kept = append(kept, o)
	}
	return kept
}
