package streamhttp

import (
	"cmp"
	"slices"
	"sync/atomic"
)

// kind is what gives way together where a limit is reached: all of one kind, whoever reads it, before the next. Within a kind the streams follow
// in the order of use, and those of one use by their age.
type kind uint8

const (
	overStreams   kind = iota // streams that were written to their end
	notifications             // and all else of which nobody waits for the outcome
	answers                   // with their streams; of a batch in flight, errors take their place
	remains                   // withdrawals of questions, and errors in place of answers
	questions                 // somebody waits for the answer to each (CAN30)
	kinds
)

func (e *storedEvent) kind() kind {
	switch {
	case e.question != nil:
		return questions
	case e.withdrawal || e.gaveUp:
		return remains
	case e.answer || e.long != nil:
		return answers
	}
	return notifications
}

// round is one search for what gives way.
type round struct {
	kept   *atomic.Int64 // bytes
	limit  int64
	looked int // how many sessions, streams and events were looked at; oldestNotification, which passes each event once, does not count
	gave   int // how many events and streams gave way
	each   int // of so many that were looked at, at least one has to give way, so that a search is worth its cost: see done
}

// begin begins with a kind. Where somebody waits for it, a search may cost more for each that gives way, so that little more of it gives way than must.
func (r *round) begin(k kind) {
	if r.each = 32; k > notifications {
		r.each = 1024
	}
}

// enough reports whether what is kept fits the limit.
func (r *round) enough() bool { return r.kept.Load() <= r.limit }

// done reports whether no more of a kind is to give way: it is enough, and where many were looked at, so many gave way that the search cost little for each.
func (r *round) done() bool { return r.enough() && r.gave >= r.looked/r.each }

// usedStream is a stream, and what it is kept for.
type usedStream struct {
	*stream
	use      use
	attended bool // somebody reads it
}

// use is what a stream is kept for. The first ones give way first.
type use uint8

const (
	writtenWhole use = iota // all of it was written to a connection, which may have been lost; or it is a listener without an open question
	unwritten               // it is over, and its answer was not written
	asking                  // it is a listener, or was one, and has an open question
	inFlight                // its request is in flight
)

// byUse are the streams in the order in which they give way, without those that are about to be read for the first time. s.mu is held.
func (s *session) byUse() (all []usedStream) {
	for st := range s.streams.values() {
		if idle, use := st.idle(); !st.fresh() {
			all = append(all, usedStream{st, use, !idle})
		}
	}
	slices.SortFunc(all, func(a, b usedStream) int { return cmp.Or(cmp.Compare(a.use, b.use), cmp.Compare(a.number, b.number)) })
	return all
}

// dropKind forgets what all streams, in the order of byUse, keep of a kind, until that is enough. The stream of a request in flight stays: its client
// comes back for the answer. s.mu is held.
func (s *session) dropKind(k kind, r *round, all []usedStream) {
	for _, st := range all {
		if r.done() {
			return
		}
		r.looked++
		switch {
		case k == overStreams && st.use != writtenWhole:
		case k == overStreams && st.attended:
			r.gave += st.forgetWritten()
		case k == overStreams, k == answers && st.use == unwritten && !st.attended:
			s.lose(st.stream)
			r.gave++
		default:
			st.dropKind(k, r)
		}
	}
}

// dropBacklog is dropKind for messages that no listener has taken. s.mu is held.
func (s *session) dropBacklog(k kind, r *round) {
	r.looked += len(s.backlog)
	s.backlog = slices.DeleteFunc(s.backlog, func(e storedEvent) bool {
		if e.kind() != k || r.done() {
			return false
		}
		loseQuestions(e)
		s.uncount(e)
		r.gave++
		return true
	})
}
