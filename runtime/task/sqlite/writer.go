package sqlite

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/internal/gather"
)

// maxBatch is how many calls share a commit at most.
const maxBatch = 512

// op is one call that may write.
type op struct {
	ctx   context.Context
	do    func(b *batch) error
	done  chan error
	taken atomic.Bool // by the writer, or by the caller that no longer waits for it
}

// submit has the writer make a call, and returns after what it wrote is durable. When ctx ends earlier, the call is not made, unless the writer is
// making it: then submit waits for that commit, since the call has results.
func (s *Store) submit(ctx context.Context, do func(b *batch) error) error {
	o := &op{ctx: ctx, do: do, done: make(chan error, 1)}
	select {
	case <-s.closed:
		return ErrClosed
	default:
	}
	select {
	case s.ops <- o:
	case <-s.closed:
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-o.done:
		return err
	case <-ctx.Done():
		if o.taken.CompareAndSwap(false, true) {
			return context.Cause(ctx)
		}
		return <-o.done
	case <-s.stopped: // the writer has made this call last, or not at all
		select {
		case err := <-o.done:
			return err
		default:
			return ErrClosed
		}
	}
}

// writeAll is the writer: it makes the calls that have come, commits, and answers them.
func (s *Store) writeAll() {
	defer close(s.stopped)
	for {
		select {
		case o := <-s.ops:
			s.together(wanted(gather.All(o, s.ops, maxBatch)))
		case <-s.closed:
			for len(s.ops) > 0 {
				s.together(wanted(gather.All(<-s.ops, s.ops, maxBatch)))
			}
			return
		}
	}
}

// wanted takes the calls that somebody still waits for.
func wanted(ops []*op) []*op {
	return slices.DeleteFunc(ops, func(o *op) bool { return !o.taken.CompareAndSwap(false, true) })
}

// together makes calls in one transaction, or each alone if that fails.
func (s *Store) together(ops []*op) {
	answers, err := s.commit(ops)
	for i, o := range ops {
		if err != nil && len(ops) > 1 {
			s.together(ops[i : i+1])
			continue
		}
		if err != nil {
			answers[i] = s.failed(err)
		}
		o.done <- answers[i]
	}
}

// commit makes calls in one transaction. An error is one of the file: then nothing has changed.
func (s *Store) commit(ops []*op) (answers []error, err error) {
	b := &batch{store: s, ctx: context.Background(), now: s.now(), changed: map[string]*record{}}
	answers = make([]error, len(ops))
	for i, o := range ops {
		if o.ctx.Err() != nil {
			answers[i] = context.Cause(o.ctx)
			continue
		}
		if answers[i] = o.do(b); b.err != nil {
			b.rollback()
			return answers, b.err
		}
	}
	if err := b.commit(); err != nil {
		b.rollback()
		return answers, err
	}
	b.publish()
	return answers, nil
}

// failed is an error of the file, explained; refusals are left as they are.
func (s *Store) failed(err error) error {
	var format *task.FormatError
	if err == nil || errors.As(err, &format) || errors.Is(err, task.ErrDamaged) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return s.explain(err)
}
