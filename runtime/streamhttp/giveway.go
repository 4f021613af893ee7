package streamhttp

import "github.com/mcpkiln/mcpkiln/runtime/rpc"

// trim forgets the oldest events while the limit is exceeded: written ones always, others when nobody reads. The newest, which may be the answer, is
// forgotten only if it alone is too large. Open questions give way last, since somebody waits for each. s.mu is held.
func (s *stream) trim() {
	if s.reader == 0 && s.limits.answer > 0 && s.bytes > s.limits.answer {
		s.giveUpTooLarge()
	}
	last := s.first + len(s.events) - 1
	for len(s.events) > 1 && (s.bytes > s.limits.replay || s.events[0].size() == 0) && (s.first <= s.written || s.reader == 0) {
		switch question := s.events[0].question != nil; {
		case s.bytes <= s.limits.replay:
			s.shift()
		case s.giveUpAnswers():
		case question && s.reader == 0 && !s.ended && s.first <= last: // beyond last it was moved already: only questions are left
			s.moveBack()
		default:
			s.shift()
		}
	}
}

// moveBack puts the oldest event, a question, behind all others, with a number of its own. s.mu is held.
func (s *stream) moveBack() {
	e := s.events[0]
	if e.question.first == 0 {
		e.question.first = s.first
	}
	s.pop()
	s.push(e)
}

// loseQuestion ends the wait for the answer if event i is a question, which is not kept any more (CAN30). A question that was written may have been
// read, so that its answer comes; if not, the client may show that when it comes back (loseUnreadQuestions). s.mu is held.
func (s *stream) loseQuestion(i int) {
	c, number := s.events[i].question, s.first+i
	if c == nil {
		return
	}
	if c.first != 0 {
		number = c.first
	}
	if number > s.written {
		c.lose()
		return
	}
	c.forgotten = number
}

// leaveOutRead drops the questions that the client, which has read up to event number after, had read before they were moved. s.mu is held.
func (s *stream) leaveOutRead(after int) {
	for i, e := range s.events {
		switch c := e.question; {
		case c == nil || c.first == 0:
		case c.first <= after:
			s.replace(i, storedEvent{})
		default:
			c.first = 0
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

// giveUpAnswers keeps errors in place of the answers in the oldest array that still has its answers, and reports whether there was one. It spares what
// an attached reader has still to write, and the newest event, unless an array of errors would give way instead. s.mu is held.
func (s *stream) giveUpAnswers() bool {
	n := len(s.events) - 1
	if s.events[0].gaveUp {
		n++
	}
	if s.reader != 0 {
		n = min(n, s.written-s.first+1)
	}
	for i := range n {
		if e := &s.events[i]; s.batched && e.answer && !e.gaveUp {
			s.giveUpAnswer(i)
			return true
		}
	}
	return false
}

// giveUpAnswer keeps errors in place of the answers in an event, if they are smaller. s.mu is held.
func (s *stream) giveUpAnswer(i int) {
	e := &s.events[i]
	e.gaveUp = true
	if errs := s.withoutAnswer(e.frame); len(errs) < len(e.frame) {
		s.gaveWay = max(s.gaveWay, s.first+i)
		s.replace(i, storedEvent{frame: errs, answer: true, gaveUp: true})
	}
}

// errNotKept answers a client that lost its connection before it had read a large answer.
var errNotKept = rpc.Errorf(rpc.CodeInternalError, "the request was served, but its answer is too large to be kept for a client that comes back")

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

// shift forgets the oldest event, which no reader is writing. s.mu is held.
func (s *stream) shift() {
	s.loseQuestion(0)
	if s.events[0].size() > 0 {
		s.gaveWay = s.first
		s.room.Broadcast() // AwaitRead may wait for it
	}
	s.pop()
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
}

// forgetNotifications forgets events of which nobody waits for the outcome. Questions that are left behind dropped events move behind these, whose numbers
// then take no memory.
func (s *stream) forgetNotifications() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.events {
		if e := &s.events[i]; e.question == nil && !e.withdrawal && !e.answer && e.long == nil && e.size() > 0 {
			s.gaveWay = s.first + i
			s.replace(i, storedEvent{})
		}
	}
	for s.trim(); !s.ended && len(s.events) > 1 && s.events[0].question != nil && s.events[1].size() == 0; s.trim() {
		s.moveBack()
	}
	s.changed()
}

// forgetEvents forgets the events of a stream whose request is in flight: errors in place of the answers of a batch give way only when there is nothing
// else.
func (s *stream) forgetEvents() {
	s.mu.Lock()
	defer s.mu.Unlock()
	errs := false
	for i := range s.events {
		if e := &s.events[i]; s.batched && e.answer && !e.gaveUp {
			s.giveUpAnswer(i)
			errs = true
		}
	}
	for !errs && len(s.events) > 0 {
		s.shift()
	}
	s.changed()
}

// forgetWritten forgets what an attached reader has written, and a resumption might ask for.
func (s *stream) forgetWritten() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.reader != 0 && len(s.events) > 0 && s.first <= s.written {
		s.shift()
	}
	s.recount()
}
