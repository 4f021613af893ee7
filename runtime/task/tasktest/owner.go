package tasktest

import (
	"errors"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

var ownerChecks = []check{
	{"TSK21ForeignTasksAreNotFound", foreignIsNotFound},
	{"TSK17UnknownAndForeignLookTheSame", refusalsLookTheSame},
	{"TSK21NoOwnerIsAnOwnerToo", noOwner},
	{"TSK22QuotaOfUnfinishedTasks", runningQuota},
	{"TSK22QuotaOfStoredTasks", keptQuota},
}

func foreignIsNotFound(p *probe) {
	id, l := p.begun()
	_, err := p.Ask(p.ctx, l, question("q"))
	p.must(err, "ask")
	p.unchanged(id, "a stranger", func() {
		for _, stranger := range []string{bob, "", "ad", "adaa"} {
			for name, err := range p.requests(stranger, id) {
				p.refuses(err, task.ErrNotFound, name+" by a stranger")
			}
			page, err := p.List(p.ctx, stranger, "", 10)
			p.must(err, "list")
			p.equal(len(page.Tasks), 0, "tasks in a stranger's list")
		}
	})
}

// requests are all calls on a task that need its owner.
func (p *probe) requests(owner, id string) map[string]error {
	errs := map[string]error{}
	_, errs["get"] = p.Get(p.ctx, owner, id)
	_, errs["cancel"] = p.Cancel(p.ctx, owner, id, task.Cancel{Force: true})
	_, errs["cooperative cancel"] = p.Cancel(p.ctx, owner, id, task.Cancel{})
	_, errs["answer"] = p.Answer(p.ctx, owner, id, []task.Answer{{Name: "q"}})
	_, _, errs["watch"] = p.Watch(p.ctx, owner, id)
	return errs
}

func refusalsLookTheSame(p *probe) {
	id := p.create(ada).ID
	foreign, unknown := p.requests(bob, id), p.requests(bob, "unknown")
	for name, err := range unknown {
		if err == nil || foreign[name] == nil || err.Error() != foreign[name].Error() {
			p.Errorf("%s: unknown is %v, foreign is %v: they have to read the same", name, err, foreign[name])
			continue
		}
		var reason *task.NotFoundError
		if !errors.As(foreign[name], &reason) || reason.Reason != task.Foreign {
			p.Errorf("%s: the audit log is not told that the task is foreign: %v", name, foreign[name])
		}
	}
}

func noOwner(p *probe) {
	id := p.create("").ID
	_, err := p.Get(p.ctx, "", id)
	p.must(err, "get without an owner")
	_, err = p.Get(p.ctx, ada, id)
	p.refuses(err, task.ErrNotFound, "get by somebody else")
}

func (p *probe) refusesLimit(err error, what string) {
	p.Helper()
	var limit *task.LimitError
	if !errors.As(err, &limit) || limit.Max != 2 {
		p.Errorf("%s: error is %v, want a LimitError of 2", what, err)
	}
}

func (p *probe) createIn(q task.Quota, owner, id string) error {
	_, err := p.Create(p.ctx, task.Task{ID: id, Owner: owner, TTL: time.Minute}, q)
	return err
}

func runningQuota(p *probe) {
	q := task.Quota{Running: 2}
	p.must(p.createIn(q, ada, "1"), "first")
	p.must(p.createIn(q, ada, "2"), "second")
	p.refusesLimit(p.createIn(q, ada, "3"), "third")
	_, err := p.Get(p.ctx, ada, "3")
	p.refuses(err, task.ErrNotFound, "get of a refused task")
	p.must(p.createIn(q, bob, "4"), "another owner's first")
	_, err = p.Cancel(p.ctx, ada, "1", task.Cancel{Force: true})
	p.must(err, "cancel")
	p.must(p.createIn(q, ada, "5"), "third after a cancel")
	_, err = p.Finish(p.ctx, p.begin("2").Lease, task.Outcome{Status: task.Completed})
	p.must(err, "finish")
	p.must(p.createIn(q, ada, "6"), "fourth after a finish")
	p.refusesLimit(p.createIn(q, ada, "7"), "fifth")
	p.expireAll(time.Minute)
	p.must(p.createIn(q, ada, "8"), "after expiry")
}

func keptQuota(p *probe) {
	q := task.Quota{Kept: 2}
	p.must(p.createIn(q, ada, "1"), "first")
	_, err := p.Cancel(p.ctx, ada, "1", task.Cancel{Force: true})
	p.must(err, "cancel")
	p.must(p.createIn(q, ada, "2"), "second")
	p.refusesLimit(p.createIn(q, ada, "3"), "third, with one finished")
	p.expireAll(time.Minute)
	p.must(p.createIn(q, ada, "4"), "after expiry")
	p.must(p.createIn(q, ada, "5"), "second after expiry")
	p.refusesLimit(p.createIn(q, ada, "6"), "third after expiry")
}

// expireAll lets d pass and removes what is due.
func (p *probe) expireAll(d time.Duration) []task.Task {
	p.Helper()
	p.wait(d)
	var all []task.Task
	for {
		x, err := p.Expire(p.ctx, 7)
		p.must(err, "expire")
		all = append(all, x.Removed...)
		if len(x.Removed) < 7 {
			return all
		}
	}
}
