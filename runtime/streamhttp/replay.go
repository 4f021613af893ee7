package streamhttp

import (
	"cmp"
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
	size := len(s.backlog[i].frame) + eventSize
	s.backlog = slices.Delete(s.backlog, i, i+1)
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

// prune forgets what readers have written, then what streams without a reader keep, until the rest is within bounds.
func (s *session) prune() {
	s.mu.Lock()
	defer s.mu.Unlock()
	enough := func() bool { return s.kept.Load() <= s.limit() }
	if !enough() {
		s.forgetWritten()
		s.forgetUnattended(enough)
	}
	surplus := len(s.streams) - keptStreams - len(s.active) - len(s.listeners)
	if surplus <= 0 {
		return
	}
	for _, st := range s.unattended() {
		if surplus == 0 || st.use == inFlight {
			return
		}
		s.lose(st.stream)
		surplus--
	}
}

// forgetUnattended forgets what is kept in streams without reader until that is enough: streams that were written to their end; notifications; answers,
// with their streams; questions. The stream of a request in flight stays: its client comes back for the answer. s.mu is held.
func (s *session) forgetUnattended(enough func() bool) {
	all := s.unattended()
	for _, forget := range []func(st *unattended){
		func(st *unattended) {
			if st.use == writtenWhole {
				s.lose(st.stream)
			} else {
				st.forgetNotifications()
			}
		},
		func(st *unattended) {
			switch st.use {
			case unwritten:
				s.lose(st.stream)
			case inFlight:
				st.forgetEvents()
			}
		},
	} {
		for i := range all {
			if enough() {
				return
			}
			forget(&all[i])
		}
	}
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

// forgetWritten frees what attached readers have written. s.mu is held.
func (s *session) forgetWritten() {
	for _, st := range s.streams {
		st.forgetWritten()
	}
}

// dropIdle frees the backlog, and what is kept in streams that nobody reads.
func (s *session) dropIdle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	loseQuestions(s.takeBacklog()...)
	s.forgetUnattended(func() bool { return false })
}

// unattended is a stream without reader.
type unattended struct {
	*stream
	use use
}

// unattended are the streams without reader, in the order in which they give way. s.mu is held.
func (s *session) unattended() (all []unattended) {
	for _, st := range s.streams {
		if idle, use := st.idle(); idle && !st.fresh() {
			all = append(all, unattended{st, use})
		}
	}
	slices.SortFunc(all, func(a, b unattended) int { return cmp.Or(cmp.Compare(a.use, b.use), cmp.Compare(a.number, b.number)) })
	return all
}

// relieve forgets messages that are kept for clients that may resume, when they are too many in all: first those that were written to
// attached clients, then those in idle sessions, of the tenant with the most sessions before others, in the session that was unused for
// the longest time before others; then those in the other sessions, in no order. It forgets somewhat more than it must, so that it need
// not look again soon. Messages that attached clients are about to read take their part of the total, and are not forgotten.
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
	enough := func() bool { return h.kept.Load() <= total-total/8 }
	for _, s := range h.roster.sessions {
		if enough() {
			return
		}
		s.mu.Lock()
		s.forgetWritten()
		s.mu.Unlock()
	}
	for _, t := range h.roster.largest() {
		for s := t.idle.first; s != nil && !enough(); s = s.after {
			s.dropIdle()
		}
	}
	for _, s := range h.roster.sessions {
		if enough() {
			return
		}
		s.dropIdle()
	}
}
