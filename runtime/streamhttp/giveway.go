package streamhttp

import "github.com/mcpkiln/mcpkiln/runtime/rpc"

// trim forgets events while the limit is exceeded, in the order of their kinds: of an attached reader's only those that it has written. The last one that
// is left is forgotten only if it alone is too large. s.mu is held.
func (s *stream) trim() {
	if s.reader == 0 && s.limits.answer > 0 && s.bytes > s.limits.answer {
		s.giveUpTooLarge()
	}
	for s.bytes > s.limits.replay && s.oldestNotification() && s.events[s.passed].size() < s.bytes {
		s.dropOne(s.passed)
	}
	for k := answers; k < kinds && s.bytes > s.limits.replay; k++ {
		for i := 0; i < s.droppable() && s.exceeds(k); i++ {
			if s.is(i, k) && s.events[i].size() < s.bytes {
				s.dropOne(i)
			}
		}
	}
	for len(s.events) > 1 && s.events[0].size() == 0 && s.droppable() > 0 {
		s.pop()
	}
}

// exceeds reports whether events of the kind are to give way to the stream's own limit: questions do so only to what is kept, not to what an attached reader
// has still to write. s.mu is held.
func (s *stream) exceeds(k kind) bool {
	n := s.bytes
	if k == questions && s.reader != 0 {
		n -= s.due.all
	}
	return n > s.limits.replay
}

// droppable returns how many events may give way: the oldest, as far as an attached reader has written them; all without a reader. s.mu is held.
func (s *stream) droppable() int {
	if s.reader == 0 {
		return len(s.events)
	}
	return max(0, min(len(s.events), s.written-s.first+1))
}

// is reports whether event i is there still, and of the kind. s.mu is held.
func (s *stream) is(i int, k kind) bool { return s.events[i].size() > 0 && s.events[i].kind() == k }

// oldestNotification finds the oldest notification that may give way, and reports whether there is one: events[passed] is it then. What was passed is not
// looked at again. s.mu is held.
func (s *stream) oldestNotification() bool {
	for s.passed < s.droppable() && !s.is(s.passed, notifications) {
		if s.events[s.passed].size() == 0 {
			s.holes++
		}
		s.passed++
	}
	if s.holes > 0 && 2*s.holes >= s.passed {
		s.closeHoles()
	}
	return s.passed < s.droppable()
}

// closeHoles moves the events before the oldest notification together, so that the numbers of those that were dropped between them take no memory. Each
// gets the number of a later event that was dropped, so it is written to no reader again. s.mu is held.
func (s *stream) closeHoles() {
	to := s.passed
	for i := s.passed - 1; i >= 0; i-- {
		e := s.events[i]
		if e.size() == 0 {
			continue
		}
		if to--; to == i {
			continue
		}
		if e.moved == 0 {
			e.moved = s.first + i
		}
		s.events[to], s.events[i] = e, storedEvent{}
	}
	for range to {
		s.pop()
	}
	s.holes = 0
}

// dropOne drops event i, or keeps errors in place of the answers in it. s.mu is held.
func (s *stream) dropOne(i int) {
	switch s.events[i].kind() {
	case answers:
		if s.batched { // else it gives way with its stream
			s.giveUpAnswer(i)
		}
		return
	case questions:
		s.loseQuestion(i)
	}
	s.gaveWay = max(s.gaveWay, s.first+i)
	s.replace(i, storedEvent{})
	s.room.Broadcast() // AwaitRead may wait for it
}

// loseQuestion ends the wait for the answer if event i is a question, which is not kept any more (CAN30). A question that was written may have been
// read, so that its answer comes; if not, the client may show that when it comes back (loseUnreadQuestions). s.mu is held.
func (s *stream) loseQuestion(i int) {
	e, number := &s.events[i], s.first+i
	if e.question == nil {
		return
	}
	if e.moved != 0 {
		number = e.moved
	}
	if number > s.written {
		e.question.lose()
		return
	}
	e.question.forgotten = number
}

// leaveOutRead drops the events that the client, which has read up to event number after, had read before they were moved. s.mu is held.
func (s *stream) leaveOutRead(after int) {
	for i := range s.events {
		switch e := &s.events[i]; {
		case e.moved == 0:
		case e.moved <= after:
			s.replace(i, storedEvent{})
		default:
			e.moved = 0
		}
	}
}

// giveUpTooLarge keeps errors in place of the answers in each event that alone is larger than what a session keeps, and drops any other such event, so
// that the stream need not give way as a whole. s.mu is held.
func (s *stream) giveUpTooLarge() {
	tooLarge := func(i int) bool { return len(s.events[i].frame) > s.limits.answer }
	for i := range s.events {
		if tooLarge(i) && s.events[i].answer {
			s.giveUpAnswer(i)
		}
		if tooLarge(i) {
			s.gaveWay = max(s.gaveWay, s.first+i)
			s.loseQuestion(i)
			s.replace(i, storedEvent{})
		}
	}
}

// giveUpAnswer keeps errors in place of the answers in an event, if they are smaller. s.mu is held.
func (s *stream) giveUpAnswer(i int) {
	e := &s.events[i]
	e.gaveUp = true
	if errs := s.withoutAnswer(e.frame); len(errs) < len(e.frame) {
		s.gaveWay = max(s.gaveWay, s.first+i)
		s.replace(i, storedEvent{frame: errs, moved: e.moved, answer: true, gaveUp: true})
	}
}

// errNotKept answers a client that lost its connection before it had read a large answer.
var errNotKept = rpc.Errorf(rpc.CodeInternalError, "the request was served, but its answer is too large to be kept for a client that comes back")

// errRemoved answers a client that comes back for an answer in files.
var errRemoved = rpc.Errorf(rpc.CodeInternalError, "the request was served, but its answer is not here any more: it was in a file, which is removed once it was sent to its end, "+
	"or nobody reads it for a while")

// withoutAnswer returns a frame with an error in place of each answer.
func (s *stream) withoutAnswer(frame []byte) []byte {
	if !s.batched {
		return rpc.AppendError(nil, s.about, errNotKept)
	}
	var ids []rpc.ID
	rpc.WithoutAnswers(frame, func(id rpc.ID) bool {
		ids = append(ids, id)
		return true
	})
	return rpc.AppendErrors(nil, ids, errNotKept)
}

// pop takes the oldest event off the stream. s.mu is held.
func (s *stream) pop() {
	size := load{}.plus(&s.events[0])
	if s.first == s.unread {
		s.unread++
		s.behind = s.behind.minus(size)
	}
	s.bytes -= size.all
	s.events[0] = storedEvent{}
	s.events = s.events[1:]
	s.first++
	s.passed, s.holes = max(0, s.passed-1), max(0, s.holes-1)
}

// dropKind forgets events of the kind, the oldest first, until that is enough.
func (s *stream) dropKind(k kind, r *round) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.changed()
	if k == notifications {
		for !r.done() && s.oldestNotification() {
			s.dropOne(s.passed)
			s.recount()
			r.gave++
		}
		return
	}
	if k == answers && !s.batched {
		return // it gives way with its stream
	}
	for i := 0; i < s.droppable() && !r.done(); i++ {
		r.looked++
		if s.is(i, k) {
			s.dropOne(i)
			s.recount()
			r.gave++
		}
	}
}

// forgetWritten forgets all events that an attached reader has written, and returns how many there were.
func (s *stream) forgetWritten() (forgotten int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.droppable() {
		if s.reader != 0 && s.events[i].size() > 0 {
			s.loseQuestion(i)
			s.gaveWay = s.first + i
			s.replace(i, storedEvent{})
			forgotten++
		}
	}
	s.changed()
	return forgotten
}
