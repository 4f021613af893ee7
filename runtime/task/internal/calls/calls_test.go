package calls

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

var errClosed = errors.New("closed")

// double is a call that gets twice its number.
type double struct {
	Call[int]
	n int
}

func doubleAll(all []*double) {
	for _, d := range all {
		d.Answer(2 * d.n)
	}
}

// start has calls come, in order, and returns their answers when all have one.
func start(ctx context.Context, q *Queue[*double, int], from, to int) (wait func() string) {
	var all sync.WaitGroup
	answers := make([]string, to-from+1)
	for n := from; n <= to; n++ {
		all.Go(func() {
			a, err := q.Do(ctx, &double{n: n})
			if answers[n-from] = fmt.Sprint(a); err != nil {
				answers[n-from] = err.Error()
			}
		})
		synctest.Wait()
	}
	return func() string { all.Wait(); return fmt.Sprint(answers) }
}

func TestCallsThatComeMeanwhileAreMadeTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New[*double](3, errClosed)
		var groups [][]int
		begun, goOn := make(chan struct{}), make(chan struct{})
		q.Serve(func(all []*double) {
			var group []int
			for _, d := range all {
				group = append(group, d.n)
			}
			if groups = append(groups, group); len(groups) == 1 {
				close(begun)
				<-goOn
			}
			doubleAll(all)
		})
		wait := start(t.Context(), q, 1, 6)
		<-begun
		if q.Len() != 3 {
			t.Errorf("%d calls have come", q.Len())
		}
		close(goOn)
		if got := wait(); got != "[2 4 6 8 10 12]" {
			t.Errorf("answers: %s", got)
		}
		q.Close()
		if len(groups[0]) != 1 || len(groups[1]) != 3 {
			t.Errorf("groups: %v", groups)
		}
	})
}

// A caller that goes away is not served. When its call is being made, it is told at once, or what became of that.
func TestCallersThatGoAway(t *testing.T) {
	why := errors.New("gave up")
	for finishes, want := range map[bool]string{true: "[2 4]", false: "[gave up gave up]"} {
		t.Run(fmt.Sprint("finishes ", finishes), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := New[*double](2, errClosed)
				q.Finishes = finishes
				ctx, leave := context.WithCancelCause(t.Context())
				goOn, made := make(chan struct{}), []int(nil)
				begun := start(ctx, q, 1, 2)
				q.Serve(func(all []*double) {
					<-goOn
					for _, d := range all {
						made = append(made, d.n)
					}
					doubleAll(all)
				})
				synctest.Wait()
				waits := start(ctx, q, 3, 4)
				leave(why)
				synctest.Wait()
				if got := waits(); got != "[gave up gave up]" {
					t.Errorf("those that were not begun: %s", got)
				}
				close(goOn)
				if got := begun(); got != want {
					t.Errorf("those that were begun: %s, want %s", got, want)
				}
				q.Close()
				if slices.Sort(made); !slices.Equal(made, []int{1, 2}) {
					t.Errorf("made: %v", made)
				}
			})
		})
	}
}

// Close has what has come made, and refuses what comes later; also what came when nobody looked any more.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New[*double](4, errClosed)
		before := start(t.Context(), q, 1, 6) // of which two wait for room
		q.Serve(doubleAll)
		if err := q.Err(); err != nil {
			t.Error(err)
		}
		if got := before(); got != "[2 4 6 8 10 12]" {
			t.Errorf("before: %s", got)
		}
		q.Close()
		if got := start(t.Context(), q, 7, 8)(); got != "[closed closed]" || q.Err() != errClosed {
			t.Errorf("after: %s, %v", got, q.Err())
		}
	})
	synctest.Test(t, func(t *testing.T) {
		q := New[*double](1, errClosed)
		late := start(t.Context(), q, 1, 2) // one has come, one waits for room, and nobody makes any
		q.Close()
		if got := late(); got != "[closed closed]" {
			t.Errorf("late: %s", got)
		}
	})
}

// Many callers race with makers and the end: each call is answered by its own answer or refused.
func TestClosingUnderLoad(t *testing.T) {
	q := New[*double](8, errClosed)
	for range 2 {
		q.Serve(doubleAll)
	}
	var all sync.WaitGroup
	half := make(chan struct{})
	for n := range 1000 {
		all.Go(func() {
			if n == 500 {
				close(half)
			}
			if a, err := q.Do(t.Context(), &double{n: n}); err == nil && a != 2*n || err != nil && err != errClosed {
				t.Errorf("%d: %d, %v", n, a, err)
			}
		})
	}
	<-half
	q.Close()
	all.Wait()
}
