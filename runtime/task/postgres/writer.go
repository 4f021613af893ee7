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

// write has a writer make a call, and returns after what it wrote is durable. When ctx ends earlier, the call may still be made.
func (s *Store) write(ctx context.Context, o *op) (task.State, error) {
	o.ctx, o.done = ctx, make(chan answer, 1)
	a, err := submit(ctx, s, s.ops, o, o.done)
	if err != nil {
		return task.State{}, err
	}
	return a.after, a.err
}

// submit hands a call to those who make the calls of its kind, and returns what comes from done. Error: it was not made, or nobody waits for it.
func submit[C, A any](ctx context.Context, s *Store, calls chan<- C, c C, done <-chan A) (a A, err error) {
	select {
	case <-s.closed:
		return a, ErrClosed
	default:
	}
	select {
	case calls <- c:
	case <-s.closed:
		return a, ErrClosed
	case <-ctx.Done():
		return a, context.Cause(ctx)
	}
	select {
	case a = <-done:
		return a, nil
	case <-ctx.Done():
		return a, context.Cause(ctx)
	case <-s.base.Done():
	}
	s.parts.Wait() // those who make calls make what has come
	select {
	case a = <-done:
		return a, nil
	default:
		return a, ErrClosed
	}
}

// serve makes the calls that have come, at most n together, until the store is closed and none is left.
func serve[C any](s *Store, calls <-chan C, n int, carryOut func([]C)) {
	for {
		select {
		case c := <-calls:
			carryOut(gather.All(c, calls, n))
		case <-s.closed:
			for {
				select {
				case c := <-calls:
					carryOut(gather.All(c, calls, n))
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
				o.refuse(explain(err))
			}
			return
		}
	}
}

// call is one of those that are made together.
type call interface {
	context() context.Context
	refuse(err error)
}

// wanted are the calls that somebody still waits for.
func wanted[C call](calls []C) []C {
	kept := calls[:0:0]
	for _, c := range calls {
		if ctx := c.context(); ctx.Err() != nil {
			c.refuse(context.Cause(ctx))
			continue
		}
		kept = append(kept, c)
	}
	return kept
}

func (o *op) context() context.Context { return o.ctx }
func (o *op) refuse(err error)         { o.done <- answer{err: err} }
