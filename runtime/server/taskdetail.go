package server

import (
	"context"
	"fmt"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// detail is a task with what it holds in its status: the result, the error, or the open questions (EXT07) that a client with
// these abilities can be asked.
func (s *Server) detail(w *wire, t *task.Task, can ability) TaskView {
	v := w.view(t)
	v.ServerInfo = s.infoFor(w)
	switch t.Status {
	case task.Completed, task.Failed:
		if result, err := w.ending(t); err != nil {
			v.Status, v.Error = string(task.Failed), appendErrorObject(nil, asRPC(err))
		} else {
			result.ServerInfo = v.ServerInfo
			v.Result = w.AppendCallResult(nil, &result)
		}
	case task.InputRequired:
		requests, err := w.inputRequests(w.askable(t.Questions, can))
		if err != nil {
			s.log.Error("questions can not be shown", "task", t.ID, "error", err)
			requests = []byte("{}")
		}
		v.InputRequests = requests
	}
	return v
}

// askable are the questions that a client with these abilities can be asked (EXT18).
func (w *wire) askable(all []task.Question, can ability) (some []task.Question) {
	for i := range all {
		if w.refuses(can, &all[i]) == nil {
			some = append(some, all[i])
		}
	}
	return some
}

func appendErrorObject(b []byte, err *rpc.Error) []byte {
	b = check.AppendInt(append(b, `{"code":`...), int64(err.Code))
	b = check.AppendString(append(b, `,"message":`...), err.Message)
	if len(err.Data) > 0 {
		b = append(append(b, `,"data":`...), err.Data...)
	}
	return append(b, '}')
}

// asked names an open question of a task.
type asked struct{ task, name string }

// expect lets answers to a question be checked as they arrive, until the returned function is called. Whoever asks the same
// at the same time will be refused, and changes nothing here.
func (s *Server) expect(q asked, check answerCheck) (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.checks[q] != nil {
		return func() {}
	}
	s.checks[q] = check
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.checks, q)
	}
}

func (s *Server) checkOf(q asked) answerCheck {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.checks[q]
}

// updateTask takes answers to a task's questions (EXT10). Names that are not open are ignored; an answer that breaks its
// question's schema refuses them all, so that none is lost.
func (r *request) updateTask(b []byte) ([]byte, error) {
	s, owner, id := r.p.s, r.p.owner, r.params.TaskID
	t, _, err := s.engine.Watch(r.entry, owner, id)
	if err != nil {
		return b, r.taskError(err)
	}
	answers, err := r.answers(&t)
	if err != nil {
		return b, err
	}
	// What was read is recorded, whether or not the client waits for the acknowledgement.
	if t, err = s.engine.Answer(context.WithoutCancel(r.entry), owner, id, answers...); err != nil {
		return b, r.taskError(err)
	}
	v := r.wire.view(&t)
	return r.wire.AppendTaskUpdated(b, &v), nil
}

// answers reads the answers to what is open.
func (r *request) answers(t *task.Task) ([]task.Answer, error) {
	given, err := r.inputResponses()
	if err != nil {
		return nil, err
	}
	var answers []task.Answer
	var wrong []string
	for _, q := range t.Questions {
		raw, ok := given[q.Name]
		if !ok {
			continue
		}
		data, err := r.wire.readAnswer(q.Method, raw, r.p.s.cfg.limits)
		if check := r.p.s.checkOf(asked{t.ID, q.Name}); err == nil && check != nil {
			err = check(data)
		}
		if err != nil {
			for _, text := range violations(err) {
				wrong = append(wrong, fmt.Sprintf("answer to %q: %s", q.Name, text))
			}
			continue
		}
		answers = append(answers, task.Answer{Name: q.Name, Data: data})
	}
	if len(wrong) > 0 {
		slices.Sort(wrong)
		return nil, invalid("invalid inputResponses", wrong)
	}
	return answers, nil
}

// tellListens leaves a change of a task with the subscriptions to it.
func (s *Server) tellListens(t *task.Task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.taskListens[t.ID] {
		l.taskChanged(t.ID)
	}
}
