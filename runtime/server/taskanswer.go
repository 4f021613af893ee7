package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// A task's question is answered in one of two ways. A client with a session is asked on a stream (delivery.ask); its answer comes once, so it is recorded
// by Engine.Keep, which waits out an outage of the store. A client of a stateless revision sends tasks/update (updateTask), whose answers are recorded by
// Engine.Answer, which does not wait, since the client can send them again. The engine hands the answer to the handler.

// questionID names an open question of a task.
type questionID struct{ task, name string }

// ask asks the client and records its answer, unless the question is closed. held is the delivery's claim on the question, which lasts until claimed ends.
// ask reports whether the question need not be asked again; once ctx has ended, what it returns means nothing.
func (d *delivery) ask(ctx, claimed context.Context, held *claim, q task.Question) (closed bool) {
	s := d.peer.s
	if t, err := s.lookThroughOutage(ctx, d.owner, d.task); err != nil || !isOpen(&t, q.Name) {
		return true // it was answered before the stream had it, or its task is gone; any other error is the end of ctx or of the server
	}
	a, data, err := d.send(ctx, claimed, held, q)
	if err != nil {
		s.log.Debug("question not answered", "task", d.task, "question", q.Name, "error", err)
		// An unkept question (asking.unkept) is asked again when somebody reads. After any other error asking again is pointless: the deadline has passed,
		// the client or the server ends, middleware has given the question up, its params can not be read, or the transport took it in none of send's tries.
		return ctx.Err() == nil && !a.unkept.Load()
	}
	d.record(ctx, a.id, task.Answer{Name: q.Name, Data: data})
	return true
}

// record records the answer to the question with the id. The transport acknowledges an answer only when it is recorded (recordings), and refuses it after
// a failed try: an outage of the store that lasts longer than Keep waits. The next try follows while the delivery lasts, since a client may not send
// its answer again.
func (d *delivery) record(ctx context.Context, id rpc.ID, answer task.Answer) {
	engine, log := d.peer.s.engine, d.peer.s.log.With("task", d.task, "question", answer.Name)
	for {
		_, err := engine.Keep(context.WithoutCancel(ctx), d.owner, d.task, answer)
		if limit := (*task.LimitError)(nil); errors.As(err, &limit) { // the handler gets an *AnswerError instead
			answer.Data, _ = json.Marshal(reply{Error: rpc.Errorf(rpc.CodeInvalidRequest, "it can not be kept: %v", limit), Unusable: true})
			_, err = engine.Keep(context.WithoutCancel(ctx), d.owner, d.task, answer)
		}
		if err != nil {
			log.Debug("answer not recorded", "error", err)
		}
		if task.Outage(err) && ctx.Err() == nil && !isClosed(engine.Done()) {
			d.peer.recordings.retry(id)
			continue
		}
		if err == nil || errors.Is(err, task.ErrNotFound) { // a task that is gone takes no answer
			d.peer.recordings.end(id)
		} else {
			d.peer.recordings.fail(id)
		}
		return
	}
}

// The pauses between two tries to write a question double from the first to the last.
const (
	firstWritePause = 100 * time.Millisecond
	lastWritePause  = 3200 * time.Millisecond
)

// send asks the client. If the transport does not take the question, but the claim lasts, send tries again for a while: no other stream asks meanwhile
// (TSK19).
func (d *delivery) send(ctx, claimed context.Context, held *claim, q task.Question) (a *asking, data []byte, err error) {
	for pause := firstWritePause; ; pause *= 2 {
		// Here nobody but the delivery waits for the answer; inline, the handler does.
		a = &asking{about: d.about, parent: ctx, waiter: ctx, claimed: claimed, task: d.task, onCarrier: held.carriedBy}
		if data, err = a.send(q); err != nil {
			d.peer.recordings.end(a.id) // nothing is to be recorded
		}
		if err == nil || !a.unwritten || pause > lastWritePause || !pauseFor(claimed, pause) {
			return a, data, err
		}
	}
}

// pauseFor pauses; false: ctx ended.
func pauseFor(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// updateTask records answers to a task's questions (EXT10). Names that are not open are ignored. If one answer breaks its question's
// schema, all are refused, so that the client can send them again.
func (r *request) updateTask(b []byte) ([]byte, error) {
	s, owner, id := r.p.s, r.p.owner, r.params.TaskID
	t, err := s.engine.Look(r.ctx, owner, id)
	if err != nil {
		return b, r.taskError(err)
	}
	answers, err := r.answers(&t)
	if err != nil {
		return b, err
	}
	// The answers are recorded, whether or not the client waits for the acknowledgement.
	if t, err = s.engine.Answer(context.WithoutCancel(r.ctx), owner, id, answers...); err != nil {
		return b, r.taskError(err)
	}
	r.view = r.revision.view(&t)
	r.view.ServerInfo = r.revision.resultInfo
	return r.revision.AppendTaskUpdated(b, &r.view), nil
}

// answers reads and checks the answers in the request to open questions of the task.
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
		data, err := r.revision.readAnswer(q.Method, raw, r.p.s.cfg.limits)
		if err == nil {
			err = r.checkAnswer(t, &q, raw, data)
		}
		if own, ok := errors.AsType[*rpc.Error](err); ok { // over a limit: the whole request is refused
			return nil, own
		}
		if err != nil {
			wrong = append(wrong, wrongAnswer(q.Name, err)...)
			continue
		}
		answers = append(answers, task.Answer{Name: q.Name, Data: data})
	}
	if len(wrong) > 0 {
		return nil, invalidAnswers(wrong)
	}
	return answers, nil
}

// wrongAnswer returns what is wrong with the answer to a question.
func wrongAnswer(name string, err error) []string {
	if answer, ok := errors.AsType[*AnswerError](err); ok {
		err = answer.Err // without the name, which is put before each violation
	}
	texts := violations(err)
	for i, text := range texts {
		texts[i] = fmt.Sprintf("answer to %q: %s", name, text)
	}
	return texts
}

// invalidAnswers refuses a request whose answers are wrong.
func invalidAnswers(wrong []string) *rpc.Error {
	return invalid("invalid inputResponses", slices.Sorted(slices.Values(wrong)))
}

// checkAnswer validates an answer as the handler that waits for it will. If none waits in this process, because the run is parked or elsewhere, the
// answer is validated against the form that the client was sent.
func (r *request) checkAnswer(t *task.Task, q *task.Question, raw json.RawMessage, data []byte) error {
	if check := r.p.s.checkOf(questionID{t.ID, q.Name}); check != nil {
		return check(data, r) // r has the account in which what is decoded counts
	}
	if q.Method != askMethod {
		return nil // only an elicitation is kept with the schema of its answer
	}
	params, err := r.revision.askParams(q, "") // only the form is needed, so no related task
	if err != nil {
		return nil // it can not be put in this revision, so the client was not asked, and there is no form
	}
	return checkForm(params, raw, r.p.s.cfg.limits)
}

// expect registers the check that validates answers to a question as they arrive, until done is called. It replaces that of an earlier run of the task
// whose asking has not returned yet; within one run, Call.reserve refuses a second asking under the same name.
func (s *Server) expect(q questionID, check answerCheck) (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checks[q] = &check
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.checks[q] == &check {
			delete(s.checks, q)
		}
	}
}

// checkOf returns the check of answers to a question; nil: there is none.
func (s *Server) checkOf(q questionID) answerCheck {
	s.mu.Lock()
	defer s.mu.Unlock()
	if check := s.checks[q]; check != nil {
		return *check
	}
	return nil
}
