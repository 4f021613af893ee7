package task

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"

	"github.com/mcpkiln/mcpkiln/runtime/internal/rate"
)

// audit writes one record for each access to a task (TSK23), always with the attributes task, tool and requestor.
type audit struct {
	log     *slog.Logger
	refuses *rate.Digest // by owner
}

func newAudit(l *slog.Logger) audit {
	if l == nil {
		l = slog.New(slog.DiscardHandler)
	}
	return audit{l, &rate.Digest{Summary: func(owner string, more int) {
		l.Warn("task access refused: more of the same second", "requestor", owner, "count", more)
	}}}
}

func (a audit) write(ctx context.Context, level slog.Level, message string, t *Task, more ...slog.Attr) {
	if !a.log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{slog.String("task", shown(t.ID)), slog.String("tool", t.Tool), slog.String("requestor", t.Owner)}
	a.log.LogAttrs(ctx, level, message, append(attrs, more...)...)
}

// shown cuts an id for the log: a caller may have made it up.
func shown(id string) string {
	if len(id) > 64 {
		return id[:64] + "…"
	}
	return id
}

func (a audit) created(ctx context.Context, t *Task) {
	a.write(ctx, slog.LevelInfo, "task created", t, slog.Duration("ttl", t.TTL))
}

func (a audit) ended(ctx context.Context, t *Task) {
	a.write(ctx, slog.LevelInfo, "task ended", t, slog.String("status", string(t.Status)), slog.String("message", t.StatusMessage))
}

// read records a retrieval: at debug level while the task is still working.
func (a audit) read(ctx context.Context, t *Task) {
	if t.Status.Terminal() {
		a.write(ctx, slog.LevelInfo, "task retrieved", t, slog.String("status", string(t.Status)))
		return
	}
	a.write(ctx, slog.LevelDebug, "task polled", t, slog.String("status", string(t.Status)))
}

func (a audit) cancelled(ctx context.Context, t *Task, c Cancel) {
	a.write(ctx, slog.LevelInfo, "task cancelled", t,
		slog.String("status", string(t.Status)), slog.String("reason", c.Reason), slog.Bool("forced", c.Force))
}

// removed records that a task is gone.
func (a audit) removed(ctx context.Context, how string, t *Task) {
	level := slog.LevelDebug
	if !t.Status.Terminal() {
		level = slog.LevelInfo // work was lost
	}
	a.write(ctx, level, how, t, slog.String("status", string(t.Status)))
}

// refused records an access that failed, with the reason, which the caller does not get. Of the refusals of an owner within a second it
// records the first, and then how many followed (LET03).
func (a audit) refused(ctx context.Context, op, owner, id string, err error) {
	t := Task{ID: id, Owner: owner}
	if Outage(err) || errors.Is(err, ErrLost) {
		if ctx.Err() == nil { // else the caller has gone, and nothing was refused or has failed
			a.failed(op, &t, err)
		}
		return
	}
	if !a.log.Enabled(ctx, slog.LevelWarn) || !a.refuses.First(owner) {
		return
	}
	why := err.Error()
	var missing *NotFoundError
	if errors.As(err, &missing) {
		t.Tool, why = missing.Tool, string(missing.Reason)
	}
	a.write(ctx, slog.LevelWarn, "task access refused", &t, slog.String("operation", op), slog.String("reason", why))
}

func (a audit) panicked(t *Task, value any) {
	a.write(context.Background(), slog.LevelError, "task handler panicked", t, slog.Any("panic", value), slog.String("stack", string(debug.Stack())))
}

// exited records that a handler called runtime.Goexit.
func (a audit) exited(t *Task) {
	a.write(context.Background(), slog.LevelError, "task handler ended its goroutine: runtime.Goexit", t)
}

// dropped records that the outcome of a run came too late.
func (a audit) dropped(t *Task, o Outcome, err error) {
	a.write(context.Background(), slog.LevelDebug, "late task outcome dropped", t, slog.String("outcome", string(o.Status)), slog.Any("error", err))
}

func (a audit) failed(what string, t *Task, err error) {
	a.write(context.Background(), slog.LevelError, "task "+what+" failed", t, slog.Any("error", err))
}
