package client

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// stream is the HTTP request of one round.
type stream struct {
	header  http.Header // what of the request's values headers repeat: the values are not the link's when send has returned
	cancel  context.CancelFunc
	last    *time.Timer   // ends it some time after its answer; guarded by the link
	written chan struct{} // closed when the request has been sent, or never will be
	begun   chan struct{} // closed when the server has begun to answer, or never will
	ended   chan struct{} // closed when the response has ended
	wrote   sync.Once
	first   sync.Once
	// answering: what the server sends is its answer, and not a stream of events with that at its end.
	answering atomic.Bool
}

func (st *stream) write() { st.wrote.Do(func() { close(st.written) }) }

func (st *stream) begin() {
	st.write()
	st.first.Do(func() { close(st.begun) })
}

// reached waits until the server has probably seen the request: it has begun to answer, or the request was sent a moment ago. That it was
// sent not every http.RoundTripper tells.
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

// sending is how long it is waited for that a request was sent.
const sending = time.Second

// arrival is how long a request that was sent may take to be seen. The notification that gives it up comes on another connection.
const arrival = 20 * time.Millisecond

// maxEnding is how many requests may be given up whose server is still being told. Who gives up faster than that waits before the next one,
// because each takes a connection.
const maxEnding = 128

// awaitRoom waits until not too many requests are ending; false: the request is over before it was sent.
func (l *httpLink) awaitRoom(ctx context.Context, r *round) bool {
	for {
		l.mu.Lock()
		if l.ending < maxEnding {
			l.mu.Unlock()
			return true
		}
		if l.room == nil {
			l.room = make(chan struct{})
		}
		room := l.room
		l.mu.Unlock()
		select {
		case <-room:
		case <-r.entry.Done():
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// endingDone is the end of giving up one request.
func (l *httpLink) endingDone() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ending--; l.room != nil && l.ending < maxEnding {
		close(l.room)
		l.room = nil
	}
}

// giveUp closes the stream of a request. Where that tells the server nothing, the notification goes first, and behind the request.
func (l *httpLink) giveUp(r *round, notice []byte, named bool) (answerable bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	st := l.streams[r]
	if st == nil || named {
		return st != nil
	}
	if l.closing || notice == nil && !r.call.tasks {
		st.cancel()
		return true
	}
	l.ending++
	l.posts.Add(1)
	l.work.Go(func() {
		defer l.endingDone()
		defer st.cancel()
		if notice == nil {
			defer l.posts.Done()
			st.awaitTaskID(l.ctx)
		} else {
			l.takeBack(st, notice)
		}
	})
	return true
}

// How long the stream of a request that may have become a task is listened to after it was given up. A server that has made the task has
// answered: that is on its way, or a body that has begun.
const (
	taskOnItsWay = 250 * time.Millisecond
	taskBegun    = time.Second
)

// lastWord waits a moment for an answer that names a task, which can be cancelled by nothing else.
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

// beginWait is how long a request that was given up may take to be seen by the server, until nobody looks any more.
const beginWait = time.Minute

// takeBack tells the server that a request was given up. It may ignore that because it has not seen the request; so it is told once more if
// its response begins only afterwards.
func (l *httpLink) takeBack(st *stream, notice []byte) {
	st.reached(l.ctx)
	seen := isClosed(st.begun)
	l.postNotice(notice)
	l.posts.Done()
	if seen {
		return
	}
	timer := time.NewTimer(beginWait)
	defer timer.Stop()
	select {
	case <-st.begun:
	case <-timer.C:
	case <-l.ctx.Done():
	}
	if !isClosed(st.ended) && l.mayPost() {
		l.postNotice(notice)
		l.posts.Done()
	}
}

// mayTell counts a notice that is sent from now on; false: the session ends, and the server is told that instead.
func (l *httpLink) mayPost() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing {
		return false
	}
	l.posts.Add(1)
	return true
}

func (l *httpLink) postNotice(notice []byte) {
	if err := l.post(l.ctx, notice); err != nil {
		l.s.cfg.logger.Debug("a cancellation was not sent", "error", err)
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
