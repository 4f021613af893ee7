package server

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// taskJournal is the journal of a call that runs as a task: what an inline run recorded before there was a task, then the task's
// own.
type taskJournal struct{ call *Call }

// Do implements journal.
func (j taskJournal) Do(ctx context.Context, name string, fn func(ctx context.Context) ([]byte, error)) ([]byte, error) {
	if e := j.call.local.earlier.entry(name); e != nil {
		return e.step()
	}
	return j.call.taskRun.Do(ctx, name, fn)
}

// Ask implements journal. While the question is open, answers that come with a request are validated by check.
func (j taskJournal) Ask(ctx context.Context, q task.Question, check answerCheck) ([]byte, error) {
	data, err := j.call.local.earlier.answer(j.call, &q, check)
	if data != nil || err != nil {
		return data, err
	}
	defer j.call.s.expect(questionID{j.call.TaskID(), q.Name}, check)()
	if j.call.taskRun.Settled(q) {
		return j.call.taskRun.Ask(ctx, q)
	}
	if refused := j.call.revision.unsupported(j.call.can, &q); refused != nil { // what came from inline runs was no answer to q
		return nil, refused
	}
	began := time.Now()
	j.call.observeQuestion(QuestionAsked, q.Name, began, nil)
	data, err = j.call.lendSlot(ctx, func() ([]byte, error) { return j.call.taskRun.Ask(ctx, q) })
	j.call.observeQuestion(QuestionEnded, q.Name, began, err)
	return data, err
}

// earlierJournal is what inline runs recorded before the call became a task (EXT17).
type earlierJournal struct {
	Entries []recordedEntry            `json:"notes,omitempty"`
	Given   map[string]json.RawMessage `json:"given,omitempty"` // answers that no run has used
}

func (j *earlierJournal) empty() bool { return len(j.Entries)+len(j.Given) == 0 }

// has reports whether something is recorded under the name, or an answer was given to a question of that name.
func (j *earlierJournal) has(name string) bool { return j.entry(name) != nil || j.Given[name] != nil }

func (j *earlierJournal) entry(name string) *recordedEntry {
	for i := range j.Entries {
		if j.Entries[i].Name == name {
			return &j.Entries[i]
		}
	}
	return nil
}

// step returns the value of a recorded step.
func (e *recordedEntry) step() ([]byte, error) {
	if len(e.Question) > 0 { // it is the answer to a question
		return nil, e.changed()
	}
	return e.Data, nil
}

// changed is the error of a handler that asks or does something else under the name of the entry.
func (e *recordedEntry) changed() error {
	what := "step"
	if len(e.Question) > 0 {
		what = "question"
	}
	return &task.NameError{Name: e.Name, Why: otherBefore, Recorded: what}
}

// answer returns the answer to q, nil for none. A recorded answer to another question of the same name does not count (TSK29).
func (j *earlierJournal) answer(call *Call, q *task.Question, check answerCheck) ([]byte, error) {
	if e := j.entry(q.Name); e != nil {
		inline := *q
		inline.Payload = call.revision.paramsOf(q) // an inline run asks in its own revision alone
		switch string(e.Question) {
		case hashOf(&inline):
			return e.Data, nil
		case "": // a step
			return nil, e.changed()
		}
	}
	if raw, ok := j.Given[q.Name]; ok {
		if data, err := call.accept(q, raw, check); err == nil {
			return data, nil
		}
	}
	return nil, nil
}
