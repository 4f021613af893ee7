package streamhttp

import (
	"slices"
	"sync/atomic"
	"time"
)

// keptStreams is how many streams that are over a session keeps for resumption, whatever their size.
const keptStreams = 256

// keep appends to the backlog, whose oldest events give way, open questions last. As in streams, the bytes count in Endpoint.kept, and an event that
// alone is larger than what a session keeps is dropped. s.mu is held.
func (s *session) keep(events []storedEvent) {
	if s.why != nil {
		return
	}
	s.noteCarriers(nil, events...)
	before := s.backlogged
	for _, e := range events {
		if int64(len(e.frame)) > s.limit() {
			loseQuestions(e)
			continue
		}
		s.backlog = append(s.backlog, e)
		s.backlogged += len(e.frame) + eventSize
	}
	for i, n := 0, len(s.backlog); len(s.backlog) > 1 && s.backlogged > s.h.opts.replay; i++ {
		e := s.backlog[0]
		s.backlog[0] = storedEvent{} // or the array keeps it
		if s.backlog = s.backlog[1:]; e.question != nil && i < n {
			s.backlog = append(s.backlog, e)
			continue
		}
		s.backlogged -= len(e.frame) + eventSize
		loseQuestions(e)
	}
	s.h.kept.Add(int64(s.backlogged - before))
}

// loseQuestions ends the wait for the answers to those events that are questions: nobody has read them, and they are kept no longer.
func loseQuestions(events ...storedEvent) {
	for _, e := range events {
		if e.question != nil {
			e.question.lose()
		}
	}
}

// takeBacklog empties the backlog. s.mu is held.
func (s *session) takeBacklog() []storedEvent {
	events := s.backlog
	s.h.kept.Add(-int64(s.backlogged))
	s.backlog, s.backlogged = nil, 0
	return events
}

// dropQuestion drops a question from the backlog. s.mu is held.
func (s *session) dropQuestion(c *carrier) {
	i := slices.IndexFunc(s.backlog, func(e storedEvent) bool { return e.question == c })
	if i < 0 {
		return
	}
	s.uncount(s.backlog[i])
	s.backlog = slices.Delete(s.backlog, i, i+1)
}

// uncount notes that an event leaves the backlog. s.mu is held.
func (s *session) uncount(e storedEvent) {
	size := len(e.frame) + eventSize
	s.backlogged -= size
	s.h.kept.Add(-int64(size))
}

// bound frees what exceeds the limits of the session and of all sessions.
func (s *session) bound() {
	if s.kept.Load() > s.limit() {
		s.prune()
	}
	s.h.relieve()
}

// limit is how many bytes the streams of a session keep.
func (s *session) limit() int64 { return int64(4 * s.h.opts.replay) }

// prune makes what the session keeps fit its limits.
func (s *session) prune() {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := round{kept: &s.kept, limit: s.limit()}
	if !r.enough() {
		all := s.byUse()
		for k := overStreams; k < kinds && !r.enough(); k++ {
			r.begin(k)
			s.dropKind(k, &r, all)
		}
	}
	surplus := s.surplus()
	if surplus <= 0 {
		return
	}
	for _, st := range s.byUse() {
		if surplus == 0 || st.use == inFlight {
			return
		}
		if !st.attended {
			s.lose(st.stream)
			surplus--
		}
	}
}

// surplus is how many streams that are over are too many; not positive: none. s.mu is held.
func (s *session) surplus() int {
	return s.streams.size() - keptStreams - s.active.size() - len(s.listeners)
}

// lost is a stream of which nothing is kept any more, and the number of its last event.
type lost struct {
	stream uint64
	last   int
}

// rememberedLost is how many lost streams a session remembers, which takes 1 KiB. Older ones are treated as streams that never existed.
const rememberedLost = 64

// lose forgets a stream that its client may resume. s.mu is held.
func (s *session) lose(st *stream) {
	last := st.lastEvent()
	st.lose()
	s.unlist(st)
	if len(s.lost) == rememberedLost {
		s.lost = append(s.lost[:0], s.lost[1:]...)
	}
	s.lost = append(s.lost, lost{st.number, last})
}

// lacks reports whether the stream of the last event that the client has gave way, with events that the client has not read. s.mu is held.
func (s *session) lacks(id eventID) bool {
	return slices.ContainsFunc(s.lost, func(l lost) bool { return l.stream == id.stream && id.number < l.last })
}

// warnLost logs, at most once a second, that a client misses messages that were to be kept for it.
func (h *Endpoint) warnLost(id eventID) {
	if onceASecond(&h.warnedLost) {
		h.opts.logger.Warn("a client came back for messages that gave way to others: WithReplay and WithReplayTotal keep more bytes, but no more streams that are over than these",
			"after", string(id.appendTo(nil)), "streams", keptStreams)
	}
}

// onceASecond sets at to the current second, in Unix time, and reports whether it was another one.
func onceASecond(at *atomic.Int64) bool {
	now, last := time.Now().Unix(), at.Load()
	return now != last && at.CompareAndSwap(last, now)
}

// relieve makes what all sessions keep for clients that may resume fit its limit, kind by kind: first that of idle sessions, of the tenant with the most
// sessions before others, in the session that was unused for the longest time before others; then that of the other sessions, in no order. Streams that are
// over, and notifications, give way somewhat more than they must, so that it need not look again soon. Messages that attached clients are about to read take
// their part of the total, and are not forgotten.
func (h *Endpoint) relieve() {
	total := max(0, int64(h.opts.replayTotal)-h.unread.Used())
	if h.kept.Load() <= total {
		return
	}
	h.opts.logger.Debug("limit reached: messages for clients that may come back are dropped", "bytes", total)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.kept.Load() <= total {
		return // somebody else was faster
	}
	r := round{kept: &h.kept, limit: total - total/8}
	for k := overStreams; k < kinds; k++ {
		if k > notifications {
			r.limit = total
		}
		if r.begin(k); r.enough() {
			return
		}
		for s := range h.roster.givingWay() {
			if r.done() {
				break
			}
			s.mu.Lock()
			r.looked++
			if s.dropBacklog(k, &r); k == overStreams || s.kept.Load() > 0 {
				s.dropKind(k, &r, s.byUse())
			}
			s.mu.Unlock()
		}
	}
}
