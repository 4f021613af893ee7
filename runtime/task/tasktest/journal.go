package tasktest

import (
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

var journalChecks = []check{
	{"JournalKeepsStepsByName", journalKeepsSteps},
	{"TSK19QuestionMakesTheTaskInputRequired", questionOpens},
	{"EXT09QuestionNamesAreUniqueForLife", questionNamesAreUnique},
	{"EXT10PartialAnswersKeepInputRequired", partialAnswers},
	{"EXT10UnknownAndAnsweredNamesAreIgnored", unknownAnswers},
	{"JournalIsReplayedByTheNextRun", journalIsReplayed},
	{"JournalWithdrawnQuestions", withdrawn},
	{"JournalSnapshotsDoNotChange", snapshotsDoNotChange},
}

func question(name string) task.Question {
	return task.Question{Name: name, Method: "ask/it", Payload: []byte(`{"message":"?"}`)}
}

func names(questions []task.Question) []string {
	list := make([]string, 0, len(questions))
	for _, q := range questions {
		list = append(list, q.Name)
	}
	return list
}

func journalKeepsSteps(p *probe) {
	_, l := p.begun()
	p.must(p.Record(p.ctx, l, "step", []byte("value")), "record")
	p.refusesName(p.Record(p.ctx, l, "step", []byte("other")), "record under a taken name")
	e, err := p.Entry(p.ctx, l, "step")
	p.must(err, "entry")
	p.equal([]any{e.Name, e.Kind, string(e.Data)}, []any{"step", task.Done, "value"}, "entry")
	_, err = p.Entry(p.ctx, l, "missing")
	p.refusesName(err, "entry that is not there")
}

func questionOpens(p *probe) {
	id, l := p.begun()
	p.wait(time.Second)
	t, err := p.Ask(p.ctx, l, question("q"))
	p.must(err, "ask")
	p.equal([]any{t.Status, names(t.Questions)}, []any{task.InputRequired, []string{"q"}}, "asking task")
	q := t.Questions[0]
	p.equal([]any{q.Method, string(q.Payload)}, []any{"ask/it", `{"message":"?"}`}, "question")
	p.passed(q.AskedAt.Sub(t.CreatedAt), time.Second, "question asked")
	t, err = p.Answer(p.ctx, ada, id, []task.Answer{{Name: "q", Data: []byte("yes")}})
	p.must(err, "answer")
	p.equal([]any{t.Status, len(t.Questions)}, []any{task.Working, 0}, "answered task")
	e, err := p.Entry(p.ctx, l, "q")
	p.must(err, "entry")
	p.equal([]any{e.Kind, string(e.Data)}, []any{task.Answered, "yes"}, "entry")
}

func questionNamesAreUnique(p *probe) {
	id, l := p.begun()
	p.must(p.Record(p.ctx, l, "step", nil), "record")
	first, err := p.Ask(p.ctx, l, question("q"))
	p.must(err, "ask")
	again, err := p.Ask(p.ctx, l, question("q"))
	p.must(err, "ask the same again")
	p.equal(again, first, "task after the same question")
	p.unchanged(id, "a name for two things", func() {
		other := question("q")
		other.Payload = []byte("else")
		_, err := p.Ask(p.ctx, l, other)
		p.refusesName(err, "another question under a name")
		_, err = p.Ask(p.ctx, l, question("step"))
		p.refusesName(err, "a question under a step's name")
		p.refusesName(p.Record(p.ctx, l, "q", nil), "a step under a question's name")
	})
	_, err = p.Answer(p.ctx, ada, id, []task.Answer{{Name: "q"}})
	p.must(err, "answer")
	t, err := p.Ask(p.ctx, l, question("q"))
	p.must(err, "ask what was answered")
	p.equal(t.Status, task.Working, "task after an answered question")
}

func partialAnswers(p *probe) {
	id, l := p.begun()
	for _, name := range []string{"a", "b", "c"} {
		_, err := p.Ask(p.ctx, l, question(name))
		p.must(err, "ask")
	}
	p.equal(names(p.get(id).Questions), []string{"a", "b", "c"}, "open questions")
	t, err := p.Answer(p.ctx, ada, id, []task.Answer{{Name: "b"}})
	p.must(err, "partial answer")
	p.equal([]any{t.Status, names(t.Questions)}, []any{task.InputRequired, []string{"a", "c"}}, "after a part")
	t, err = p.Answer(p.ctx, ada, id, []task.Answer{{Name: "c"}, {Name: "a"}})
	p.must(err, "the rest")
	p.equal([]any{t.Status, len(t.Questions)}, []any{task.Working, 0}, "after all")
}

func unknownAnswers(p *probe) {
	id, l := p.begun()
	for _, name := range []string{"a", "b"} {
		_, err := p.Ask(p.ctx, l, question(name))
		p.must(err, "ask")
	}
	_, err := p.Answer(p.ctx, ada, id, []task.Answer{{Name: "a", Data: []byte("first")}})
	p.must(err, "answer")
	p.unchanged(id, "an answer to nothing", func() {
		for _, answers := range [][]task.Answer{nil, {{Name: "never-issued"}}, {{Name: "a", Data: []byte("second")}}} {
			_, err := p.Answer(p.ctx, ada, id, answers)
			p.must(err, "answer")
		}
	})
	e, err := p.Entry(p.ctx, l, "a")
	p.must(err, "entry")
	p.equal(string(e.Data), "first", "the first answer counts")
}

func journalIsReplayed(p *probe) {
	id, l := p.begun()
	p.must(p.Record(p.ctx, l, "step", []byte("1")), "record")
	for _, name := range []string{"a", "b"} {
		_, err := p.Ask(p.ctx, l, question(name))
		p.must(err, "ask")
	}
	_, err := p.Park(p.ctx, l)
	p.must(err, "park")
	_, err = p.Answer(p.ctx, ada, id, []task.Answer{{Name: "a", Data: []byte("yes")}})
	p.must(err, "answer of a parked task")
	b := p.begin(id)
	got := map[string]task.EntryKind{}
	for _, e := range b.Journal {
		got[e.Name] = e.Kind
	}
	p.equal(got, map[string]task.EntryKind{"step": task.Done, "a": task.Answered, "b": task.Open}, "journal")
	p.equal(names(b.Task.Questions), []string{"b"}, "open questions")
}

func withdrawn(p *probe) {
	_, l := p.begun()
	late := question("late")
	late.Deadline = time.Now().Add(p.scaled(time.Second))
	for _, q := range []task.Question{late, question("q"), question("answered")} {
		_, err := p.Ask(p.ctx, l, q)
		p.must(err, "ask")
	}
	p.wait(time.Second)
	_, err := p.Answer(p.ctx, ada, l.Task, []task.Answer{{Name: "answered"}})
	p.must(err, "answer")
	var t task.Task
	for _, name := range []string{"late", "q", "answered"} {
		t, err = p.Withdraw(p.ctx, l, name)
		p.must(err, "withdraw")
	}
	p.equal([]any{t.Status, len(t.Questions)}, []any{task.Working, 0}, "task without open questions")
	for name, kind := range map[string]task.EntryKind{"late": task.Unanswered, "q": task.Withdrawn, "answered": task.Answered} {
		e, err := p.Entry(p.ctx, l, name)
		p.must(err, "entry")
		p.equal(e.Kind, kind, "kind of "+name)
	}
}

func snapshotsDoNotChange(p *probe) {
	id, l := p.begun()
	for _, name := range []string{"a", "b"} {
		_, err := p.Ask(p.ctx, l, question(name))
		p.must(err, "ask")
	}
	before := p.get(id)
	_, err := p.Answer(p.ctx, ada, id, []task.Answer{{Name: "a"}})
	p.must(err, "answer")
	_, err = p.Ask(p.ctx, l, question("c"))
	p.must(err, "ask")
	p.equal(names(before.Questions), []string{"a", "b"}, "questions of an old snapshot")
}
