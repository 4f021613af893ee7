package client

import (
	"container/list"
	"context"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// stream is the HTTP request of one round.
type stream struct {
	header  http.Header // headers that repeat values of the request, which the link must not read after send
	cancel  context.CancelFunc
	written chan struct{} // closed when the request has been sent, or never will be
	begun   chan struct{} // closed when the response has begun, or never will
	ended   chan struct{} // closed when the response has ended
	wrote   sync.Once
	first   sync.Once
	// answering: the body of the response is the answer, not a stream of events.
	answering atomic.Bool

	// What follows is guarded by the link.
	lingerTimer *time.Timer        // closes it some time after its answer
	endedLater  bool               // it was given up, and a goroutine of its own ends it
	ending      bool               // httpLink.ending counts it
	kept        *list.Element      // its place in keptIn; nil: it has none
	keptIn      *list.List         // of httpLink: kept, keptAgain or answered
	release     context.CancelFunc // has the stream closed early
	named       bool               // its response names the session that it begins, which is the current one
}

func (st *stream) noteWritten() { st.wrote.Do(func() { close(st.written) }) }

func (st *stream) noteBegun() {
	st.noteWritten()
	st.first.Do(func() { close(st.begun) })
}

// reached waits until the server has probably seen the request: the response has begun, or the request was sent a moment ago. Not every
// http.RoundTripper reports that it was sent.
func (st *stream) reached(ctx context.Context) {
	timer := time.NewTimer(sending)
	defer timer.Stop()
	select {
	case <-st.written:
	case <-timer.C:
	case <-ctx.Done():
	}
	timer.Reset(arrival)
	select {
	case <-st.begun:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// sending is how long to wait for a request to be sent.
const sending = time.Second

// arrival is how long a request that was sent may take to be seen by the server. Its cancellation comes on another connection.
const arrival = 20 * time.Millisecond

// maxEnding is how many requests may be ending: they were given up and their cancellation is being sent, which takes a connection, or they are being
// closed. With more, new requests have to wait. A request whose cancellation was sent is not ending but kept (maxKept), whatever the server does then. But
// while the server answers cancellations, the unanswered ones count, too: else a slow server would have ever more connections to read that are closed here.
const maxEnding = 128

// maxSilence is how long a server that answers cancellations may take from one answer to the next. After that, no answer is waited for.
const maxSilence = time.Second

// maxKept is how many streams are kept open for what may still come, in each of three lists: of requests that were given up, each with the request for its
// cancellation; of those whose cancellation was sent again; and of requests that were answered. The answered ones must not push out one whose answer may
// name a task (CAN11). For one more in a list, the oldest is closed.
const maxKept = 512

// awaitRoom waits until fewer than maxEnding requests are ending; false: the request is over before it was sent.
func (l *httpLink) awaitRoom(ctx context.Context, r *round) bool {
	for {
		l.mu.Lock()
		if l.hasRoom() {
			l.mu.Unlock()
			return true
		}
		if l.room == nil {
			l.room = make(chan struct{})
		}
		room := l.room
		l.mu.Unlock()
		silence := time.NewTimer(maxSilence)
		select {
		case <-room:
		case <-silence.C:
		case <-r.entry.Done():
		case <-ctx.Done():
		}
		silence.Stop()
		if r.entry.Err() != nil || ctx.Err() != nil {
			return false
		}
	}
}

// hasRoom reports whether a request may be sent; the lock is held.
func (l *httpLink) hasRoom() bool {
	n := l.ending
	if time.Now().Before(l.patience) {
		n += l.unanswered
	}
	return n < maxEnding
}

// wake wakes those that wait for room, if there is some; the lock is held.
func (l *httpLink) wake() {
	if l.room != nil && l.hasRoom() {
		close(l.room)
		l.room = nil
	}
}

// countEnding counts a stream that is ending; the lock is held.
func (l *httpLink) countEnding(st *stream) {
	if !st.ending {
		st.ending = true
		l.ending++
	}
}

// keep keeps a stream open until release is called; the lock is held.
func (l *httpLink) keep(st *stream, in *list.List, release context.CancelFunc) {
	l.forget(st)
	if in.Len() >= maxKept {
		oldest := in.Front().Value.(*stream)
		oldest.release()
		l.forget(oldest)
		l.countEnding(oldest)
	}
	st.release, st.keptIn, st.kept = release, in, in.PushBack(st)
}

// forget removes a stream from its list, and from those that are ending; the lock is held.
func (l *httpLink) forget(st *stream) {
	if st.kept != nil {
		st.keptIn.Remove(st.kept)
		st.kept = nil
	}
	if st.ending {
		st.ending = false
		l.ending--
		l.wake()
	}
}

// giveUp closes the stream of a request. If that does not cancel the request, the notification that does is sent before, but after the request.
func (l *httpLink) giveUp(r *round, notice []byte, willNameTask bool) (answerable bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	st := l.streams[r]
	if st == nil || willNameTask {
		return st != nil
	}
	renews := r.call.op.Op == wire.OpInitialize && l.session != "" && !st.named // the session that its answer will name is to be deleted
	if l.closing || notice == nil && !r.call.mayBeTask && !renews {
		l.countEnding(st)
		st.cancel()
		return true
	}
	st.endedLater = true
	l.posts.Add(1)
	if notice != nil {
		l.countEnding(st)
		l.work.Go(func() {
			l.sendCancellation(st, notice)
			l.end(st)
		})
		return true
	}
	ctx, release := context.WithCancel(l.ctx)
	l.keep(st, &l.kept, release)
	l.work.Go(func() {
		defer release()
		if renews {
			awaitResponse(ctx, st.ended)
		} else {
			st.awaitTaskID(ctx)
		}
		l.posts.Done()
		l.end(st)
	})
	return true
}

// end closes a stream that was given up, and counts it until that is done.
func (l *httpLink) end(st *stream) {
	st.cancel()
	<-st.ended
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(st)
}

// How long the stream of a request that may have become a task is read after it was given up. A server that has created the task has
// answered: the answer is on its way, or its body has begun.
const (
	taskOnItsWay = 250 * time.Millisecond
	taskBegun    = time.Second
)

// awaitTaskID waits a moment for an answer that names a task, because tasks/cancel needs its id.
func (st *stream) awaitTaskID(ctx context.Context) {
	timer := time.NewTimer(taskOnItsWay)
	defer timer.Stop()
	for more := taskBegun; ; more = 0 {
		select {
		case <-st.ended:
			return
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if more == 0 || !st.answering.Load() {
			return
		}
		timer.Reset(more)
	}
}

// beginWait is how long a response to a request that was given up is waited for.
const beginWait = time.Minute

// awaitResponse waits until reached is closed, at the beginning or the end of a response; at most for beginWait, or until ctx ends.
func awaitResponse(ctx context.Context, reached <-chan struct{}) {
	timer := time.NewTimer(beginWait)
	defer timer.Stop()
	select {
	case <-reached:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// sendCancellation sends the cancellation of a request. The server may ignore that because it has not seen the request yet: so the cancellation is sent once
// more if the response begins only afterwards.
func (l *httpLink) sendCancellation(st *stream, notice []byte) {
	st.reached(l.ctx)
	seen := isClosed(st.begun)
	kept, release := context.WithCancel(l.ctx)
	defer release()
	l.tell(kept, release, st, &l.kept, notice)
	if seen {
		return
	}
	awaitResponse(kept, st.begun)
	if l.mayTellAgain(st) {
		again, release := context.WithCancel(l.ctx)
		defer release()
		l.tell(again, release, st, &l.keptAgain, notice)
	}
}

// tell sends the notification that cancels a request, and returns when that has been answered, or ctx has ended. The stream counts as ending until the
// notification was sent, and then is kept in the list until release is called, which ends ctx: else a slow server would have ever more of these open.
func (l *httpLink) tell(ctx context.Context, release context.CancelFunc, st *stream, in *list.List, notice []byte) {
	defer l.posts.Done()
	sent := sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.keep(st, in, release)
		if l.unanswered++; l.unanswered == 1 && !l.patience.IsZero() {
			l.patience = time.Now().Add(maxSilence)
		}
	})
	trace := &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { sent() }}
	err := l.post(httptrace.WithClientTrace(ctx, trace), notice)
	if err != nil {
		l.s.cfg.logger.Debug("a cancellation was not sent", "error", err)
	}
	sent() // now at the latest: it could not be sent, or its http.RoundTripper does not report that it was
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unanswered--; err == nil {
		l.patience = time.Now().Add(maxSilence)
	}
	l.wake()
}

// mayTellAgain counts a cancellation that is about to be sent once more; false: the request is over, or the link is being closed.
func (l *httpLink) mayTellAgain(st *stream) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing || isClosed(st.ended) {
		return false
	}
	l.forget(st)
	l.countEnding(st)
	l.posts.Add(1)
	return true
}

// mayPost counts a message that is about to be sent; false: the link is being closed.
func (l *httpLink) mayPost() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing {
		return false
	}
	l.posts.Add(1)
	return true
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
