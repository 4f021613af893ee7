// Package calls is a queue of calls that a store makes together, so that many callers share one commit or one exchange. It is for those who change
// the store in sqlite or postgres, which decides how calls are made, and what becomes of the others when one fails.
package calls

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// Call is embedded in a store's own kind of call. A is the type of its answer.
type Call[A any] struct {
	ctx    context.Context
	taken  atomic.Bool // by the maker, or by the caller that no longer waits for it
	answer chan A
}

func (c *Call[A]) call() *Call[A] { return c }

func (c *Call[A]) take() bool { return c.taken.CompareAndSwap(false, true) }

// Context returns the caller's context.
func (c *Call[A]) Context() context.Context { return c.ctx }

// Answer ends the call. It is called once.
func (c *Call[A]) Answer(a A) { c.answer <- a }

// Queue holds calls until they are made. C is a pointer to what embeds a Call. Make one with New; it is safe for concurrent use.
type Queue[C interface{ call() *Call[A] }, A any] struct {
	// Finishes has a caller whose context ends wait for a call that is being made, because the call takes effect.
	Finishes bool

	over    error
	calls   chan C
	closed  chan struct{} // no more calls
	makers  sync.WaitGroup
	stopped chan struct{} // the makers have returned
}

// New returns a queue of which at most n calls are made together. Once it is closed, callers get the error over.
func New[C interface{ call() *Call[A] }, A any](n int, over error) *Queue[C, A] {
	return &Queue[C, A]{over: over, calls: make(chan C, n), closed: make(chan struct{}), stopped: make(chan struct{})}
}

// Do has a call made, and returns its answer. Error: the queue is closed, or ctx has ended. Then the call is not made, unless somebody is making it.
func (q *Queue[C, A]) Do(ctx context.Context, c C) (a A, err error) {
	if err := q.Err(); err != nil {
		return a, err
	}
	own := c.call()
	own.ctx, own.answer = ctx, make(chan A, 1)
	select {
	case q.calls <- c:
	case <-q.closed:
		return a, q.over
	case <-ctx.Done():
		return a, context.Cause(ctx)
	}
	select {
	case a = <-own.answer:
		return a, nil
	case <-ctx.Done():
		if own.take() || !q.Finishes {
			return a, context.Cause(ctx)
		}
		return <-own.answer, nil
	case <-q.stopped: // the call was made last, or not at all
	}
	select {
	case a = <-own.answer:
		return a, nil
	default:
		return a, q.over
	}
}

// Err returns why the queue takes no more calls, nil while it does.
func (q *Queue[C, A]) Err() error {
	select {
	case <-q.closed:
		return q.over
	default:
		return nil
	}
}

// Len returns how many calls wait for a maker.
func (q *Queue[C, A]) Len() int { return len(q.calls) }

// Serve begins a maker: a goroutine that gives carryOut the calls that have come and that somebody waits for, until the queue is closed and none is left.
// carryOut answers each of them. Several makers make several groups of calls at once.
func (q *Queue[C, A]) Serve(carryOut func([]C)) {
	together := func(first C) {
		if calls := q.gather(first); len(calls) > 0 {
			carryOut(calls)
		}
	}
	q.makers.Go(func() {
		for {
			select {
			case c := <-q.calls:
				together(c)
			case <-q.closed:
				for {
					select {
					case c := <-q.calls:
						together(c)
					default:
						return
					}
				}
			}
		}
	})
}

// gather returns first and the other calls that have come, without those whose callers no longer wait. It does not block.
func (q *Queue[C, A]) gather(first C) []C {
	all := []C{first}
	for len(all) < cap(q.calls) {
		select {
		case c := <-q.calls:
			all = append(all, c)
			continue
		default:
		}
		break
	}
	return slices.DeleteFunc(all, func(c C) bool { return !c.call().take() })
}

// Close refuses further calls, and returns when those that have come are made. It is called once.
func (q *Queue[C, A]) Close() {
	close(q.closed)
	q.makers.Wait()
	close(q.stopped)
}
