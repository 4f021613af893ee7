package streamhttp

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// oneLock is an http.ResponseWriter of the application that has one lock for writing and for deadlines: a channel, which a bubble sees through.
type oneLock struct {
	http.ResponseWriter
	lock chan struct{}
}

func newOneLock(w http.ResponseWriter) *oneLock { return &oneLock{w, make(chan struct{}, 1)} }

func (l *oneLock) locked() (unlock func()) {
	l.lock <- struct{}{}
	return func() { <-l.lock }
}

// Write implements io.Writer.
func (l *oneLock) Write(b []byte) (int, error) {
	defer l.locked()()
	return l.ResponseWriter.Write(b)
}

func (l *oneLock) FlushError() error {
	defer l.locked()()
	return http.NewResponseController(l.ResponseWriter).Flush()
}

func (l *oneLock) SetWriteDeadline(t time.Time) error {
	defer l.locked()()
	return http.NewResponseController(l.ResponseWriter).SetWriteDeadline(t)
}

func (l *oneLock) SetReadDeadline(t time.Time) error {
	defer l.locked()()
	return http.NewResponseController(l.ResponseWriter).SetReadDeadline(t)
}

// A client that does not read holds up nobody else, and loses its connection after the write timeout, also where writing and deadlines have one lock.
func TestTSK28AResponseWriterWithOneLockHoldsUpNoOtherResponse(t *testing.T) {
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, dial := newLargeBubble(t, WithWriteTimeout(time.Second), WithMiddleware(func(next http.Handler) http.Handler {
					return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(newOneLock(w), r) })
				}))
				session := f.initialize()
				request := rawRequest("1.1", callBody("1", "large", "x"), session, accept)
				if version == "2026-07-28" {
					request = rawRequest("1.1", callBody2026("1", "large", "x"), append(headers2026("tools/call", "large"), accept)...)
				}
				slow := dial(request)
				time.Sleep(1500 * time.Millisecond)
				start := time.Now()
				f.want(f.call2026("2", "echo", "others go on"), 200, "others go on")
				f.want(f.post(callBody("2", "echo", "others go on"), session), 200, "others go on")
				if took := time.Since(start); took > 0 {
					t.Errorf("others took %v", took)
				}
				if resp, err := http.ReadResponse(slow, nil); err == nil {
					if n, err := io.Copy(io.Discard, resp.Body); err == nil {
						t.Errorf("the slow client got all: %d bytes", n)
					}
				}
			})
		})
	}
}

// A response that is given up holds up neither who gives it up nor others, and its deadline never strikes what is written next.
func TestTSK28GivingUpDoesNotWaitForTheResponseWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newOneLock(deadlined{})
		unlock := l.locked() // it writes
		var p pace
		p.begin(*http.NewResponseController(l), time.Now(), true)
		time.Sleep(time.Second)
		if !p.giveUp(time.Second) || p.giveUp(time.Second) {
			t.Error("it is not given up once")
		}
		ended := false
		go func() {
			if ended = p.end(); !ended {
				t.Error("it is not known to be given up")
			}
		}()
		synctest.Wait()
		if ended {
			t.Error("its deadline comes later")
		}
		unlock()
		synctest.Wait()
		if !ended {
			t.Error("it does not end")
		}
	})
}

// A body that has not arrived in time holds up no others, and its deadline never strikes what is read next.
func TestTSK28ALateBodyDoesNotWaitForTheResponseWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newOneLock(deadlined{})
		unlock := l.locked()
		late := newFrame(nil)
		late.from = l
		bodies := deadlines[*frame]{after: time.Second, expire: (*frame).stopReading}
		bodies.add(&late.arrival, time.Now())
		time.Sleep(time.Second)
		synctest.Wait()
		if !bodies.mu.TryLock() {
			defer unlock()
			t.Fatal("others wait")
		}
		bodies.mu.Unlock()
		unlock()
		late.stopping.Wait()
		if expired, _ := bodies.remove(&late.arrival); !expired || !late.stopped {
			t.Errorf("it has expired: %v, its reading was stopped: %v", expired, late.stopped)
		}
	})
}

// deadlined has deadlines.
type deadlined struct{ http.ResponseWriter }

func (deadlined) SetReadDeadline(time.Time) error  { return nil }
func (deadlined) SetWriteDeadline(time.Time) error { return nil }
