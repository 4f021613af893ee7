package sqlite

import (
	"cmp"
	"context"
	"errors"

	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/internal/calls"
)

// maxBatch is how many calls share a commit at most.
const maxBatch = 512

// op is one call that may write.
type op struct {
	calls.Call[error]
	do func(b *batch) error
}

// submit has the writer make a call, and returns when its changes are durable. When ctx ends earlier, the call is not made, unless the writer is
// making it: then submit waits for that commit, since the call takes effect.
func (s *Store) submit(ctx context.Context, do func(b *batch) error) error {
	err, refused := s.ops.Do(ctx, &op{do: do})
	return cmp.Or(refused, err)
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
		o.Answer(answers[i])
	}
}

// commit makes calls in one transaction. An error is one of the file: then nothing has changed.
func (s *Store) commit(ops []*op) (answers []error, err error) {
	b := &batch{store: s, ctx: context.Background(), now: s.now(), changed: map[string]*record{}}
	answers = make([]error, len(ops))
	if err := s.present(); err != nil { // a heartbeat writes nothing, and does not extend what another process may begin
		return answers, err
	}
	for i, o := range ops {
		if ctx := o.Context(); ctx.Err() != nil {
			answers[i] = context.Cause(ctx)
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

// failed explains an error of the file; other errors are left as they are.
func (s *Store) failed(err error) error {
	var format *task.FormatError
	if err == nil || errors.As(err, &format) || errors.Is(err, task.ErrDamaged) || errors.Is(err, task.ErrLost) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return s.explain(err)
}
