package streamhttp

import (
	"net/http"
	"time"
)

// respond answers the POST of a request: with its answer alone if no message precedes it and it comes soon, else with a
// stream that the client can resume.
func (s *session) respond(w http.ResponseWriter, r *http.Request, st *stream, reader uint64) *refusal {
	defer s.release(st, reader)
	if !s.await(w, r, st) {
		if r.Context().Err() != nil {
			abort()
		}
		return s.gone()
	}
	d := s.h.pools.downlink(s.h, w)
	defer s.h.pools.putDownlink(d)
	st.pace.Store(&d.pace)
	defer st.pace.CompareAndSwap(&d.pace, nil)
	if answer, ok := st.alone(); ok {
		if !s.respondAlone(d, st, reader, answer) {
			abort()
		}
		return nil
	}
	if s.over() && st.unanswered() {
		return s.gone()
	}
	if err := d.beginStream(); err != nil {
		if s.sessionless {
			s.End(failed(err))
		}
		return unflushed()
	}
	if s.primed {
		st.start()
		d.buf = appendPriming(d.buf, st.id(0), s.h.opts.retry)
	}
	if !s.pump(r, d, st, reader) {
		abort()
	}
	return nil
}

// respondAlone answers with JSON, and reports whether that was written as a whole.
func (s *session) respondAlone(d *downlink, st *stream, reader uint64, answer storedEvent) (whole bool) {
	var err error
	if answer.long != nil {
		err = d.copyJSON(answer.long)
	} else {
		err = d.writeAnswer(st.status, st.retry, answer.frame)
	}
	if err == nil && (answer.long != nil || len(answer.frame) > keptBuffer) {
		st.wrote(reader) // AwaitRead waits only for larger ones
	}
	s.log(err)
	s.remove(st)
	if err == nil && !st.batched {
		s.h.pools.putAnswer(answer.frame) // nobody can resume the stream. A frame that was not written as a whole, HTTP/2 may still be reading
	}
	s.h.pools.putAlarm(st.alarm)
	return err == nil
}

// await returns true when there is something to send, or when that takes so long that a stream is better, and false if the client is gone, or the
// session has ended without it. Where there can be no stream, it waits as long as it takes.
func (s *session) await(w http.ResponseWriter, r *http.Request, st *stream) bool {
	if !st.quiet() {
		return true
	}
	streams := canFlush(w)
	if streams {
		if s.h.opts.prime <= 0 {
			return true
		}
		s.h.undecided.add(&st.late, time.Now())
		defer s.h.undecided.remove(&st.late)
	}
	for {
		if s.ended.Closed() {
			return !st.quiet()
		}
		select { // of two channels, which costs half of one that has the end of the session and a timer, too: both wake the reader
		case <-st.wake:
		case <-r.Context().Done():
			return false
		}
		if !st.quiet() || streams && st.late.expired.Load() {
			return true
		}
	}
}

// pump writes what st has until it is over, the client is gone, or another connection resumes it. The end of the session ends a
// listener at once; what is in flight may still be answered within the grace period (CAN21). It reports whether the response is complete:
// everything was written, or the rest comes on another connection.
func (s *session) pump(r *http.Request, d *downlink, st *stream, reader uint64) (whole bool) {
	tick, stop := ticks(s.h.opts.keepAlive)
	defer stop()
	over := s.ended.Done()
	if st.listener {
		over = s.ending.Done()
	}
	for {
		b := st.take(reader)
		if b.takenOver {
			return true
		}
		if err := d.events(st, &b); err != nil {
			s.log(err)
			abort() // a part of a frame may have been written
		}
		if len(b.events) > 0 || b.long != nil {
			st.wrote(reader)
		}
		switch {
		case b.more:
			continue
		case b.ended || b.leave || over == nil: // nil: the session is over, and this round sent what was there
			d.clearDeadline()
			return b.ended || b.leave
		}
		d.buf = trimmed(d.buf) // it may be long
		select {
		case <-st.wake:
		case <-tick:
			d.buf = append(d.buf, comment...)
		case <-r.Context().Done():
			return false
		case <-over:
			over = nil // events that are there are sent still
		}
	}
}

// events sends what is in buf and the events of b. If there is nothing, it sends the HTTP header, unless that was sent.
func (d *downlink) events(st *stream, b *chunk) error {
	if len(b.events) > 0 {
		st.start()
	}
	for i, frame := range b.events {
		if frame == nil {
			continue
		}
		d.buf = appendEvent(d.buf, st.id(b.first+i), frame)
		if len(d.buf) >= flushAt {
			if err := d.flush(); err != nil {
				return err
			}
		}
	}
	if b.long != nil {
		return d.copyEvent(st, b.first, b.long)
	}
	return d.flush()
}

// flushAt is how many bytes are collected before they are sent.
const flushAt = 32 << 10

// ticks returns a ticker, or a nil channel for no period.
func ticks(every time.Duration) (tick <-chan time.Time, stop func()) {
	if every <= 0 {
		return nil, func() {}
	}
	t := time.NewTicker(every)
	return t.C, t.Stop
}

func (s *session) log(err error) {
	if err != nil {
		s.h.opts.logger.Debug("the client is gone", "error", err)
	}
}
