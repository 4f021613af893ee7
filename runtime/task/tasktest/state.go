package tasktest

import (
	"errors"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

var stateChecks = []check{
	{"TSK04CreatedTaskIsFoundEverywhere", createdIsFound},
	{"TSK08CreatedTaskKeepsItsFields", createdKeepsFields},
	{"TSK05TakenIDIsRefused", takenIDIsRefused},
	{"TSK07EveryEdge", everyEdge},
	{"TSK07TheTasksOwnMachineDecides", ownMachine},
	{"TSK07TerminalStatesAbsorb", terminalAbsorbs},
	{"TSK07OneOfManyEndsATask", oneOfManyEnds},
	{"TSK10OutcomeIsKeptVerbatim", outcomeIsVerbatim},
	{"TSK12StatusOfAnErrorResultIsTheCallers", statusIsTheCallers},
	{"TSK18ForcedCancelIsImmediate", forcedCancel},
	{"EXT11CooperativeCancelLeavesTheWorkToDecide", cooperativeCancel},
	{"EXT11CancelOfWhatNobodyRunsIsImmediate", cancelWithoutRun},
	{"EXT11ARunThatParksCarriesOutTheCancel", cancelThenPark},
	{"EXT11ACancelOutlivesTheRunThatWasToHearIt", cancelThenCrash},
	{"TSK08DescribeChangesMessageAndTime", describe},
}

func createdIsFound(p *probe) {
	t := p.create(ada)
	p.equal(p.get(t.ID), t, "get after create")
	if page, err := p.List(p.ctx, ada, "", 10); err != nil || len(page.Tasks) != 1 || page.Tasks[0].ID != t.ID {
		p.Errorf("list after create: %v, %v", page, err)
	}
	seen, _, err := p.Watch(p.ctx, ada, t.ID)
	p.must(err, "watch")
	p.equal(seen, t, "watch after create")
	p.equal(p.begin(t.ID).Task.ID, t.ID, "begin after create")
}

func createdKeepsFields(p *probe) {
	t := p.createWith(task.Task{
		Owner: ada, TTL: time.Hour, PollInterval: time.Second, Timeout: time.Minute, Uncancellable: true,
		Args: []byte(`{"a":1}`), Meta: []byte("meta"),
	})
	for _, t := range []task.Task{t, p.get(t.ID), p.begin(t.ID).Task} {
		p.equal(t.Status, task.Working, "status")
		p.equal([]any{t.Owner, t.Tool, t.TTL, t.PollInterval, t.Timeout, t.Uncancellable, string(t.Args), string(t.Meta)},
			[]any{ada, "tool", p.scaled(time.Hour), time.Second, time.Minute, true, `{"a":1}`, "meta"}, "fields")
		if !p.isNow(t.CreatedAt) || !t.UpdatedAt.Equal(t.CreatedAt) {
			p.Errorf("times are %v and %v, want now, %v", t.CreatedAt, t.UpdatedAt, time.Now())
		}
	}
}

func takenIDIsRefused(p *probe) {
	t := p.create(ada)
	_, err := p.Create(p.ctx, task.Task{ID: t.ID, Owner: bob, TTL: time.Hour}, task.Quota{Running: 1})
	p.refuses(err, task.ErrExists, "create with a taken id")
	p.equal(p.get(t.ID), t, "the first task")
	_, err = p.Create(p.ctx, task.Task{ID: "another", Owner: bob, TTL: time.Hour}, task.Quota{Running: 1})
	p.must(err, "create after a refused one")
}

// reach brings a new task into a status.
func (p *probe) reach(s task.Status) (string, task.Lease) {
	p.Helper()
	id, l := p.begun()
	var err error
	switch s {
	case task.InputRequired:
		_, err = p.Ask(p.ctx, l, question("q"))
	case task.Completed, task.Failed:
		_, err = p.Finish(p.ctx, l, task.Outcome{Status: s})
	case task.Cancelled:
		_, err = p.Cancel(p.ctx, ada, id, task.Cancel{Force: true})
	}
	p.must(err, "reach "+string(s))
	p.status(id, s, "reach")
	return id, l
}

// move tries to bring a task from where it is to a status, in the one way there is.
func (p *probe) move(id string, l task.Lease, to task.Status) (t task.Task, err error) {
	switch to {
	case task.InputRequired:
		return p.Ask(p.ctx, l, question("another"))
	case task.Working:
		return p.Answer(p.ctx, ada, id, []task.Answer{{Name: "q"}})
	case task.Cancelled:
		return p.Cancel(p.ctx, ada, id, task.Cancel{Force: true})
	}
	return p.Finish(p.ctx, l, task.Outcome{Status: to})
}

func everyEdge(p *probe) {
	for _, from := range task.Statuses() {
		for _, to := range task.Statuses() {
			id, l := p.reach(from)
			before := p.get(id)
			p.wait(time.Second)
			t, err := p.move(id, l, to)
			if !Machine().Allows(from, to) {
				if from != to { // asking again and answering nothing are no transitions
					p.status(id, from, "after a forbidden move to "+string(to))
				}
				continue
			}
			p.must(err, string(from)+" to "+string(to))
			p.equal(t, p.get(id), "returned and stored task")
			p.equal(t.Status, to, "from "+string(from))
			if !t.UpdatedAt.After(before.UpdatedAt) || t.Version <= before.Version || !t.CreatedAt.Equal(before.CreatedAt) {
				p.Errorf("%s to %s: version and times went from %+v to %+v", from, to, before, t)
			}
		}
	}
}

// ownMachine asks in a task whose machine knows no questions.
func ownMachine(p *probe) {
	t := p.createWith(task.Task{Owner: ada, TTL: time.Hour, Machine: machineOf([]task.Edge{
		{From: task.Working, To: task.Completed}, {From: task.Working, To: task.Failed}, {From: task.Working, To: task.Cancelled},
	})})
	l := p.begin(t.ID).Lease
	p.unchanged(t.ID, "a question that the machine does not allow", func() {
		_, err := p.Ask(p.ctx, l, question("q"))
		if want := (task.EdgeError{From: task.Working, To: task.InputRequired}); !isEdge(err, want) {
			p.Errorf("ask: %v, want %v", err, &want)
		}
	})
	_, err := p.Finish(p.ctx, l, task.Outcome{Status: task.Completed})
	p.must(err, "finish")
}

func isEdge(err error, want task.EdgeError) bool {
	var edge *task.EdgeError
	return errors.As(err, &edge) && *edge == want
}

func terminalAbsorbs(p *probe) {
	for _, s := range []task.Status{task.Completed, task.Failed, task.Cancelled} {
		id, l := p.reach(s)
		p.unchanged(id, "a call on a task that is "+string(s), func() {
			for _, to := range []task.Status{task.Completed, task.Failed, task.Cancelled, task.InputRequired} {
				_, err := p.move(id, l, to)
				p.refusesTerminal(err, s, "move to "+string(to))
			}
			_, err := p.Cancel(p.ctx, ada, id, task.Cancel{})
			p.refusesTerminal(err, s, "cooperative cancel")
			_, err = p.Describe(p.ctx, l, "late")
			p.refusesTerminal(err, s, "describe")
			_, err = p.Park(p.ctx, l)
			p.refusesTerminal(err, s, "park")
			p.refusesTerminal(p.Record(p.ctx, l, "step", nil), s, "record")
			_, err = p.Begin(p.ctx, id, node, lease)
			p.refusesTerminal(err, s, "begin")
			_, err = p.Answer(p.ctx, ada, id, []task.Answer{{Name: "q"}})
			p.must(err, "answer, which ignores what is not open")
		})
		t, err := p.Cancel(p.ctx, ada, id, task.Cancel{Force: true})
		p.refusesTerminal(err, s, "cancel")
		p.equal(t.ID, id, "the task beside the error")
	}
}

// oneOfManyEnds lets finishes and a cancel race: exactly one wins, and what it wrote stays.
func oneOfManyEnds(p *probe) {
	for range 50 {
		id, l := p.begun()
		won := make(chan task.Status, 4)
		var all sync.WaitGroup
		for _, end := range []func() (task.Task, error){
			func() (task.Task, error) { return p.move(id, l, task.Completed) },
			func() (task.Task, error) { return p.move(id, l, task.Failed) },
			func() (task.Task, error) { return p.move(id, l, task.Cancelled) },
			func() (task.Task, error) { return p.move(id, l, task.Completed) },
		} {
			all.Go(func() {
				if t, err := end(); err == nil {
					won <- t.Status
				}
			})
		}
		all.Wait()
		close(won)
		if len(won) != 1 {
			p.Errorf("%d of 4 concurrent ends won, want 1", len(won))
			return
		}
		p.status(id, <-won, "after the race")
	}
}

func outcomeIsVerbatim(p *probe) {
	id, l := p.begun()
	_, err := p.Finish(p.ctx, l, task.Outcome{Status: task.Completed, Message: "done", Result: []byte(`{ "a" : 1 }`)})
	p.must(err, "finish")
	t := p.get(id)
	p.equal([]any{string(t.Result), t.StatusMessage, t.Error}, []any{`{ "a" : 1 }`, "done", (*rpc.Error)(nil)}, "result")

	id, l = p.begun()
	want := &rpc.Error{Code: -32001, Message: "no", Data: []byte(`[1, 2]`)}
	_, err = p.Finish(p.ctx, l, task.Outcome{Status: task.Failed, Error: want})
	p.must(err, "finish with an error")
	p.equal(p.get(id).Error, want, "error")
	p.equal(p.get(id).Result, []byte(nil), "result beside an error")

	id, l = p.begun()
	_, err = p.Finish(p.ctx, l, task.Outcome{Status: task.Completed, Result: []byte{}})
	p.must(err, "finish with an empty result")
	p.equal(p.get(id).Result, []byte{}, "empty result")
}

func statusIsTheCallers(p *probe) {
	for _, s := range []task.Status{task.Completed, task.Failed} {
		id, l := p.begun()
		_, err := p.Finish(p.ctx, l, task.Outcome{Status: s, Result: []byte(`{"isError":true}`)})
		p.must(err, "finish")
		p.status(id, s, "finish with a result")
		p.equal(string(p.get(id).Result), `{"isError":true}`, "result")
	}
	id, l := p.begun()
	if _, err := p.Finish(p.ctx, l, task.Outcome{Status: task.Working}); err == nil {
		p.Errorf("a task finished as working")
	}
	p.status(id, task.Working, "after a finish that ends nothing")
}

func forcedCancel(p *probe) {
	id, l := p.begun()
	t, err := p.Cancel(p.ctx, ada, id, task.Cancel{Force: true, Reason: "enough"})
	p.must(err, "cancel")
	p.equal([]any{t.Status, t.CancelRequested, t.CancelReason}, []any{task.Cancelled, true, "enough"}, "cancelled task")
	if t.Error == nil || t.Error.Code != task.CodeCancelled {
		p.Errorf("TSK11: the error of a cancelled task is %v", t.Error)
	}
	p.unchanged(id, "a late result", func() {
		_, err := p.Finish(p.ctx, l, task.Outcome{Status: task.Completed, Result: []byte("late")})
		p.refusesTerminal(err, task.Cancelled, "finish after cancel")
	})
}

func cooperativeCancel(p *probe) {
	id, l := p.begun()
	t, err := p.Cancel(p.ctx, ada, id, task.Cancel{Reason: "please"})
	p.must(err, "cancel")
	p.equal([]any{t.Status, t.CancelRequested, t.CancelReason}, []any{task.Working, true, "please"}, "task after the wish")
	t, err = p.Cancel(p.ctx, ada, id, task.Cancel{Reason: "again"})
	p.must(err, "second cancel")
	p.equal(t.CancelReason, "please", "the first reason counts")
	_, err = p.Finish(p.ctx, l, task.Outcome{Status: task.Completed})
	p.must(err, "finish after the wish")
}

func cancelWithoutRun(p *probe) {
	id := p.create(ada).ID
	t, err := p.Cancel(p.ctx, ada, id, task.Cancel{})
	p.must(err, "cancel")
	p.equal(t.Status, task.Cancelled, "task that nobody ran")
	id = p.createWith(task.Task{Owner: ada, TTL: time.Hour, Uncancellable: true}).ID
	t, err = p.Cancel(p.ctx, ada, id, task.Cancel{})
	p.must(err, "cancel of an uncancellable task")
	p.equal([]any{t.Status, t.CancelRequested}, []any{task.Working, true}, "uncancellable task")

	id, l := p.asking(false)
	p.wait(lease)
	t, err = p.Cancel(p.ctx, ada, id, task.Cancel{Reason: "enough"})
	p.must(err, "cancel after the lease ran out")
	p.equal([]any{t.Status, t.CancelReason}, []any{task.Cancelled, "enough"}, "task whose run went silent")
	_, err = p.Park(p.ctx, l)
	p.refusesTerminal(err, task.Cancelled, "park by the silent run")
	id, _ = p.asking(true)
	p.wait(lease)
	t, err = p.Cancel(p.ctx, ada, id, task.Cancel{})
	p.must(err, "cancel of an uncancellable task after the lease ran out")
	p.equal([]any{t.Status, t.CancelRequested}, []any{task.InputRequired, true}, "uncancellable task whose run went silent")
}

// asking begins a task with an open question.
func (p *probe) asking(uncancellable bool) (string, task.Lease) {
	p.Helper()
	id := p.createWith(task.Task{Owner: ada, TTL: time.Hour, Uncancellable: uncancellable}).ID
	l := p.begin(id).Lease
	_, err := p.Ask(p.ctx, l, question("q"))
	p.must(err, "ask")
	return id, l
}

// cancelThenPark: a run that is being parked hears no cancel any more, and nobody would run the task until its question is answered.
func cancelThenPark(p *probe) {
	for _, asks := range []bool{true, false} {
		id, l := p.begun()
		if asks {
			id, l = p.asking(false)
		}
		_, err := p.Cancel(p.ctx, ada, id, task.Cancel{Reason: "enough"})
		p.must(err, "cancel")
		t, err := p.Park(p.ctx, l)
		p.must(err, "park")
		p.equal(t, p.get(id), "returned and stored task")
		p.equal([]any{t.Status, t.CancelReason, len(t.Questions)}, []any{task.Cancelled, "enough", 0}, "task after cancel and park")
		if t.Error == nil || t.Error.Code != task.CodeCancelled {
			p.Errorf("TSK11: the error of a cancelled task is %v", t.Error)
		}
	}
	id, l := p.asking(true)
	_, err := p.Cancel(p.ctx, ada, id, task.Cancel{})
	p.must(err, "cancel of an uncancellable task")
	_, err = p.Park(p.ctx, l)
	p.must(err, "park")
	p.status(id, task.InputRequired, "an uncancellable task after cancel and park")
	p.orphaned()
}

// cancelThenCrash: a task that is to be cancelled does not wait for the answer to its question.
func cancelThenCrash(p *probe) {
	id, _ := p.asking(false)
	uncancellable, _ := p.asking(true)
	for _, id := range []string{id, uncancellable} {
		_, err := p.Cancel(p.ctx, ada, id, task.Cancel{Reason: "enough"})
		p.must(err, "cancel")
	}
	p.orphaned()
	p.wait(lease)
	p.orphaned(id)
	b := p.begin(id)
	p.equal([]any{b.Task.CancelRequested, b.Task.CancelReason}, []any{true, "enough"}, "the cancel as the next run sees it")
	p.orphaned()
}

func describe(p *probe) {
	id, l := p.begun()
	p.wait(time.Second)
	t, err := p.Describe(p.ctx, l, "half way")
	p.must(err, "describe")
	p.equal([]any{t.Status, t.StatusMessage}, []any{task.Working, "half way"}, "described task")
	p.passed(t.UpdatedAt.Sub(t.CreatedAt), time.Second, "description")
	p.equal(p.get(id), t, "stored task")
}
