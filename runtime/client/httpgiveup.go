package client

import (
	"container/list"
	"context"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"
)

// stream is the HTTP request of one round.
type stream struct {
	header      http.Header // headers that repeat values of the request, which the link must not read after send
	cancel      context.CancelFunc
	release     context.CancelFunc // has its cancellation not wait any longer, and closes it; nil: it was not given up
	kept        *list.Element      // its place in httpLink.kept; guarded by the link
	lingerTimer *time.Timer        // ends it some time after its answer; guarded by the link
	written     chan struct{}      // closed when the request has been sent, or never will be
	begun       chan struct{}      // closed when the response has begun, or never will
	ended       chan struct{}      // closed when the response has ended
	wrote       sync.Once
	first       sync.Once
	// answering: the body of the response is the answer, not a stream of events.
	answering atomic.Bool
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

// maxEnding is how many requests may have been given up whose cancellation is still being sent. With more, new requests have to wait, because each
// cancellation takes a connection. It counts no more when it has been sent, whatever the server does then.
const maxEnding = 128

// maxKept is how many streams of requests that were given up are kept open for what may still come. For one more, the oldest is closed.
const maxKept = 1024

// awaitRoom waits until fewer than maxEnding requests are ending; false: the request is over before it was sent.
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

// noticeSent counts the end of sending one cancellation; the stream of its request is kept.
func (l *httpLink) noticeSent(st *stream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ending--; l.room != nil && l.ending < maxEnding {
		close(l.room)
		l.room = nil
	}
	l.keep(st)
}

// keep counts a stream that is kept open; the lock is held.
func (l *httpLink) keep(st *stream) {
	if l.kept.Len() >= maxKept {
		l.kept.Remove(l.kept.Front()).(*stream).release()
	}
	st.kept = l.kept.PushBack(st)
}

// unkeep counts the end of a stream that was kept.
func (l *httpLink) unkeep(st *stream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept.Remove(st.kept)
}

// giveUp closes the stream of a request. If that does not cancel it, the notification is sent before, but after the request.
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
	ctx, release := context.WithCancel(l.ctx)
	st.release = release
	if notice == nil {
		l.keep(st)
	} else {
		l.ending++
	}
	l.posts.Add(1)
	l.work.Go(func() {
		defer release()
		defer l.unkeep(st)
		defer st.cancel()
		if notice == nil {
			defer l.posts.Done()
			st.awaitTaskID(ctx)
		} else {
			l.takeBack(ctx, st, notice)
		}
	})
	return true
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

// beginWait is how long takeBack waits for the response to a request that was given up.
const beginWait = time.Minute

// takeBack sends the cancellation of a request. The server may ignore it because it has not seen the request; so it is sent once more if
// the response begins only afterwards, and before its stream is closed.
func (l *httpLink) takeBack(ctx context.Context, st *stream, notice []byte) {
	st.reached(ctx)
	seen := isClosed(st.begun)
	sent := sync.OnceFunc(func() { l.noticeSent(st) })
	trace := &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { sent() }}
	l.postNotice(httptrace.WithClientTrace(ctx, trace), notice)
	sent() // it could not be sent, or its http.RoundTripper does not report that it was
	l.posts.Done()
	if seen || ctx.Err() != nil { // the server does not even answer the notice
		return
	}
	timer := time.NewTimer(beginWait)
	defer timer.Stop()
	select {
	case <-st.begun:
	case <-timer.C:
	case <-ctx.Done():
	}
	if !isClosed(st.ended) && l.mayPost() {
		l.postNotice(l.ctx, notice)
		l.posts.Done()
	}
}

// mayPost counts a message that is about to be sent; false: the session ends, and the server learns that instead.
func (l *httpLink) mayPost() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing {
		return false
	}
	l.posts.Add(1)
	return true
}

func (l *httpLink) postNotice(ctx context.Context, notice []byte) {
	if err := l.post(ctx, notice); err != nil {
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
