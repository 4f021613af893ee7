package tasktest

import (
	"errors"
	"strings"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

var quotaChecks = []check{
	{"TSK28QuotaOfBytes", byteQuota},
	{"TSK28EveryEndGivesBytesBack", bytesComeBack},
	{"TSK28SmallGrowthIsNeverRefused", smallGrowth},
	{"TSK28QuotaOfEverybodysBytes", allBytesQuota},
	{"TSK28KeysTellRequestorsApart", keyedQuota},
	{"TSK28DiscardRemovesAnOwnersTasks", discard},
}

// roomy lets a requestor keep some 100,000 bytes.
var roomy = task.Quota{Bytes: 100_000}

const half = 50_000

func (p *probe) full(err error, what string) {
	p.Helper()
	var limit *task.LimitError
	if !errors.As(err, &limit) || !strings.Contains(limit.What, "bytes") {
		p.Errorf("%s: error is %v, want a LimitError that speaks of bytes", what, err)
	}
}

// room checks that a requestor has room for exactly one more task of half.
func (p *probe) room(q task.Quota, owner, what string) {
	p.Helper()
	p.made++
	t := task.Task{ID: taskID(p.made), Owner: owner, TTL: time.Hour, Args: make([]byte, half)}
	_, err := p.Create(p.ctx, t, q)
	p.must(err, "room "+what)
	p.made++
	t.ID = taskID(p.made)
	_, err = p.Create(p.ctx, t, q)
	p.full(err, "more than there is room for, "+what)
	_, err = p.Cancel(p.ctx, owner, taskID(p.made-1), task.Cancel{Force: true})
	p.must(err, "cancel")
}

func (p *probe) begunIn(q task.Quota) task.Lease {
	p.Helper()
	p.made++
	p.must(p.createIn(q, ada, taskID(p.made)), "create")
	return p.begin(taskID(p.made)).Lease
}

func byteQuota(p *probe) {
	l, large := p.begunIn(roomy), make([]byte, 100_000)
	id := l.Task
	p.unchanged(id, "what does not fit", func() {
		p.full(p.Record(p.ctx, l, "step", large), "record")
		_, err := p.Ask(p.ctx, l, task.Question{Name: "q", Payload: large})
		p.full(err, "ask")
		_, err = p.Describe(p.ctx, l, string(large))
		p.full(err, "describe")
		_, err = p.Finish(p.ctx, l, task.Outcome{Status: task.Completed, Result: large})
		p.full(err, "finish")
	})
	_, err := p.Ask(p.ctx, l, question("q"))
	p.must(err, "ask")
	_, err = p.Answer(p.ctx, ada, id, []task.Answer{{Name: "q", Data: large}})
	p.full(err, "answer")
	p.status(id, task.InputRequired, "after an answer that does not fit")
	p.must(p.Record(p.ctx, l, "step", large[:half]), "record")
	p.full(p.Record(p.ctx, l, "step 2", large[:half]), "second record")
	_, err = p.Create(p.ctx, task.Task{ID: "bobs", Owner: bob, TTL: time.Hour, Args: large[:half]}, roomy)
	p.must(err, "another owner's")
}

func bytesComeBack(p *probe) {
	l := p.begunIn(roomy)
	p.must(p.Record(p.ctx, l, "step", make([]byte, half)), "record")
	_, err := p.Finish(p.ctx, l, task.Outcome{Status: task.Completed, Result: []byte("small")})
	p.must(err, "finish")
	p.room(roomy, ada, "after a journal is done with")
	p.room(roomy, ada, "after a cancel")
	l = p.begunIn(roomy)
	_, err = p.Finish(p.ctx, l, task.Outcome{Status: task.Completed, Result: make([]byte, 90_000)})
	p.must(err, "finish")
	_, err = p.Create(p.ctx, task.Task{ID: "none", Owner: ada, TTL: time.Hour, Args: make([]byte, half)}, roomy)
	p.full(err, "beside a kept result")
	p.expireAll(time.Minute)
	p.room(roomy, ada, "after expiry")
}

func smallGrowth(p *probe) {
	q := task.Quota{Bytes: 2 << 10}
	a, b := p.begunIn(q), p.begunIn(q)
	p.full(p.createIn(q, ada, "third"), "create when all is used up")
	_, err := p.Ask(p.ctx, a, question("q"))
	p.must(err, "small question")
	_, err = p.Answer(p.ctx, ada, a.Task, []task.Answer{{Name: "q", Data: []byte("yes")}})
	p.must(err, "small answer")
	_, err = p.Finish(p.ctx, a, task.Outcome{Status: task.Completed, Result: []byte("result")})
	p.must(err, "small result")
	_, err = p.Cancel(p.ctx, ada, b.Task, task.Cancel{Force: true, Reason: "enough"})
	p.must(err, "cancel")
}

func allBytesQuota(p *probe) {
	q := task.Quota{AllBytes: 100_000}
	_, err := p.Create(p.ctx, task.Task{ID: "adas", Owner: ada, TTL: time.Minute, Args: make([]byte, half)}, q)
	p.must(err, "ada's")
	_, err = p.Create(p.ctx, task.Task{ID: "bobs", Owner: bob, TTL: time.Hour, Args: make([]byte, half)}, q)
	p.full(err, "bob's")
	p.expireAll(time.Minute)
	p.room(q, bob, "after expiry")
}

func keyedQuota(p *probe) {
	east, west := roomy, roomy
	east.Key, west.Key = "east", "west"
	p.room(east, "", "in the east")
	large := task.Task{ID: "large", TTL: time.Hour, Args: make([]byte, half)}
	_, err := p.Create(p.ctx, large, east)
	p.must(err, "in the east")
	p.room(west, "", "in the west")
	large.ID = "one more"
	_, err = p.Create(p.ctx, large, east)
	p.full(err, "one more in the east")
	_, err = p.Get(p.ctx, "", "large")
	p.must(err, "get: keys are for quotas alone")
	p.equal(p.begin("large").Account, east.Account(""), "the account of a run")
}

func discard(p *probe) {
	l := p.begunIn(roomy)
	p.must(p.Record(p.ctx, l, "step", make([]byte, half)), "record")
	ended := p.begunIn(roomy)
	_, err := p.Finish(p.ctx, ended, task.Outcome{Status: task.Completed})
	p.must(err, "finish")
	p.must(p.createIn(roomy, bob, "bobs"), "create")
	_, changed, err := p.Watch(p.ctx, ada, l.Task)
	p.must(err, "watch")
	gone, err := p.Discard(p.ctx, ada)
	p.must(err, "discard")
	p.equal(len(gone), 2, "tasks removed")
	p.hinted(changed, "discard")
	_, err = p.Get(p.ctx, ada, l.Task)
	p.refuses(err, task.ErrNotFound, "get of what was discarded")
	_, err = p.Finish(p.ctx, l, task.Outcome{Status: task.Completed})
	p.refuses(err, task.ErrNotFound, "finish of what was discarded")
	_, err = p.Get(p.ctx, bob, "bobs")
	p.must(err, "get of another owner's")
	p.equal(len(p.expireAll(time.Minute)), 1, "tasks left to expire")
	p.room(roomy, ada, "after discarding")
	gone, err = p.Discard(p.ctx, "nobody")
	p.must(err, "discard of nobody's")
	p.equal(len(gone), 0, "nobody's tasks")
}
