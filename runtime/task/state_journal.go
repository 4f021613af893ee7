package task

import (
	"bytes"
	"slices"
	"time"
)

// entry finds name in the journal, nil if it is not there.
func (s *State) entry(name string) *Entry {
	for i := range s.Journal {
		if s.Journal[i].Name == name {
			return &s.Journal[i]
		}
	}
	return nil
}

// size is how many bytes the entry counts. The name counts twice, because the entry of a question has it twice.
func (e *Entry) size() int64 {
	return int64(2*len(e.Name) + len(e.Data) + len(e.Question.Method) + len(e.Question.Payload))
}

// Entry reads one entry of the journal.
func (s *State) Entry(l Lease, name string) (Entry, error) {
	if err := s.checkLease(l); err != nil {
		return Entry{}, err
	}
	if e := s.entry(name); e != nil {
		return *e, nil
	}
	return Entry{}, &NameError{Name: name, Why: "is not in the journal"}
}

// Record journals the value of a step.
func (s *State) Record(l Lease, name string, data []byte, now time.Time) error {
	if err := s.checkLease(l); err != nil {
		return err
	}
	if s.entry(name) != nil {
		return &NameError{Name: name, Why: "is recorded already"}
	}
	s.Journal = append(s.Journal, Entry{Name: name, Kind: Done, Data: data})
	s.count(now)
	return nil
}

// Ask journals and opens a question.
func (s *State) Ask(l Lease, q Question, now time.Time) error {
	if err := s.checkLease(l); err != nil {
		return err
	}
	if e := s.entry(q.Name); e != nil {
		return e.sameQuestion(q)
	}
	if s.Task.Status != InputRequired {
		if err := s.Task.move(InputRequired, s.Task.StatusMessage, now); err != nil {
			return err
		}
	} else {
		s.Task.touch(now)
	}
	if !q.AskedAt.IsZero() && !q.Deadline.IsZero() {
		q.Deadline = now.Add(q.Deadline.Sub(q.AskedAt))
	}
	q.AskedAt = now
	s.Journal = append(s.Journal, Entry{Name: q.Name, Kind: Open, Question: q})
	s.Task.Questions = append(slices.Clip(s.Task.Questions), q)
	s.count(now)
	return nil
}

// sameQuestion refuses another question under the name of e, which is one question for the life of the task (EXT09). Deadlines may
// differ, since each run computes its own; the first one counts.
func (e *Entry) sameQuestion(q Question) error {
	if e.Kind == Done {
		return &NameError{q.Name, "is the name of a step, not of a question", "step"}
	}
	if e.Question.Method != q.Method || !bytes.Equal(e.Question.Payload, q.Payload) {
		return &NameError{q.Name, "is the name of another question of this task; give each question its own name and always ask it in the same words", "question"}
	}
	return nil
}

// Answer answers open questions and reports whether one was open.
func (s *State) Answer(answers []Answer, now time.Time) (bool, error) {
	any := false
	for _, a := range answers {
		if e := s.entry(a.Name); e != nil && e.Kind == Open && !s.Task.Status.Terminal() {
			e.Kind, e.Data, any = Answered, a.Data, true
			s.closeQuestion(a.Name)
		}
	}
	if !any {
		return false, nil
	}
	return true, s.resume(now)
}

// Withdraw closes an open question without an answer. One that was answered meanwhile stays answered.
func (s *State) Withdraw(l Lease, name string, now time.Time) error {
	if err := s.checkLease(l); err != nil {
		return err
	}
	e := s.entry(name)
	if e == nil || e.Kind != Open {
		return nil
	}
	e.Kind = Withdrawn
	if e.Question.overdue(now) {
		e.Kind = Unanswered
	}
	s.closeQuestion(name)
	return s.resume(now)
}

// closeQuestion replaces the list of open questions, since snapshots share the old one.
func (s *State) closeQuestion(name string) {
	open := make([]Question, 0, len(s.Task.Questions))
	for _, q := range s.Task.Questions {
		if q.Name != name {
			open = append(open, q)
		}
	}
	s.Task.Questions = open
}

// resume makes the task's status working again once no question is open (TSK19, EXT10).
func (s *State) resume(now time.Time) error {
	s.count(now)
	if len(s.Task.Questions) == 0 {
		return s.Task.move(Working, s.Task.StatusMessage, now)
	}
	s.Task.touch(now)
	return nil
}
