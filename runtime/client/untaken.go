package client

import (
	"cmp"
	"errors"
	"slices"
)

// untaken is the result of a question that was asked as a task. The server has to fetch it, and the host is told whether it did.
type untaken struct {
	task, session string    // the task's id, and the HTTP session whose task it is
	asked         *Question // as the handler got it
	err           error     // why sending it has failed, for the latest time; nil: it has not
}

// keepUntaken keeps the question of a task that has a result. As with answers, so many are kept as fit into maxAnswers and maxAnswerBytes, and at least one
// (VAL07).
func (s *Session) keepUntaken(u *untaken) {
	r := &s.receiver
	r.mu.Lock()
	r.untaken = append(r.untaken, u)
	number, bytes, kept := 0, 0, 0
	for _, u := range slices.Backward(r.untaken) {
		number, bytes = number+1, bytes+len(u.asked.Params)
		if number > 1 && (number > maxAnswers || bytes > maxAnswerBytes) {
			break
		}
		kept = number
	}
	over := slices.Clone(r.untaken[:len(r.untaken)-kept])
	r.untaken = slices.Delete(r.untaken, 0, len(over))
	r.mu.Unlock()
	s.tellUntaken(over, errors.New("the server has not fetched the result, and too many others wait for it since"))
}

// resultSent records the end of sending the result of a task. If it may still be fetched, the host is told later.
func (s *Session) resultSent(id, session string, err error) {
	r := &s.receiver
	r.mu.Lock()
	i := slices.IndexFunc(r.untaken, func(u *untaken) bool { return u.task == id && u.session == session })
	if i < 0 {
		r.mu.Unlock()
		return
	}
	u := r.untaken[i]
	u.err = err
	over := err == nil || refused(err)
	if over {
		r.untaken = slices.Delete(r.untaken, i, i+1)
	}
	r.mu.Unlock()
	if over {
		s.tellAnswered(u.asked, err)
	}
}

// taskRemoved is called when the engine has forgotten a task, so that nobody can fetch its result any more.
func (s *Session) taskRemoved(id string) {
	r := &s.receiver
	r.mu.Lock()
	var over []*untaken
	if i := slices.IndexFunc(r.untaken, func(u *untaken) bool { return u.task == id }); i >= 0 {
		over = append(over, r.untaken[i])
		r.untaken = slices.Delete(r.untaken, i, i+1)
	}
	r.mu.Unlock()
	why := errors.New("the server has not fetched the result, and the time for which it is kept has passed, or the server's session is over")
	if tell := func() { s.tellUntaken(over, why) }; len(over) > 0 && !s.spawn(tell) {
		tell()
	}
}

// tellUntaken tells the host that results were not fetched: because the session is over, else because of why.
func (s *Session) tellUntaken(over []*untaken, why error) {
	if s.usable() != nil {
		why = s.endCause()
	}
	for _, u := range over {
		s.tellAnswered(u.asked, cmp.Or(u.err, why))
	}
}
