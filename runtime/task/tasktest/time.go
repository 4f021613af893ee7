package tasktest

import (
	"context"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

var timeChecks = []check{
	{"TSK15ExpiredTasksAreGone", expiredIsGone},
	{"TSK15ExpiryTellsWhatIsNext", expiryTellsNext},
	{"TSK15ExpiryIsBounded", expiryIsBounded},
	{"TSK14UnlimitedTasksStay", unlimitedStays},
	{"CAN20RunningTimeIsCountedOverAllRuns", runningTimeIsCounted},
	{"TSK19DeadlinesAreOfTheStoresClock", deadlinesAreTheStores},
	{"TSK09EveryChangeIsHinted", changesAreHinted},
	{"TSK09AllWatchersAreHinted", allWatchersAreHinted},
	{"TSK09WatchMissesNothing", watchMissesNothing},
}

func expiredIsGone(p *probe) {
	t := p.createWith(task.Task{Owner: ada, TTL: time.Minute})
	l := p.begin(t.ID).Lease
	_, changed, err := p.Watch(p.ctx, ada, t.ID)
	p.must(err, "watch")
	rest := p.waitMost(time.Minute)
	p.status(t.ID, task.Working, "before it expires")
	p.wait(rest)
	for name, err := range p.requests(ada, t.ID) {
		p.refuses(err, task.ErrNotFound, name+" of an expired task that is not removed yet")
	}
	_, err = p.Finish(p.ctx, l, task.Outcome{Status: task.Completed})
	p.refuses(err, task.ErrNotFound, "finish of an expired task")
	page, err := p.List(p.ctx, ada, "", 10)
	p.must(err, "list")
	p.equal(len(page.Tasks), 0, "listed tasks")
	p.orphaned()
	removed := p.expireAll(0)
	if len(removed) != 1 || removed[0].ID != t.ID || removed[0].Status != task.Working {
		p.Errorf("removed %v, want the task as it was", removed)
	}
	p.hinted(changed, "removal")
	for name, err := range p.requests(ada, t.ID) {
		p.refuses(err, task.ErrNotFound, name+" of a removed task")
	}
	p.equal(len(p.expireAll(0)), 0, "tasks removed twice")
}

// deadlinesAreTheStores asks with the clock of a process that is an hour late.
func deadlinesAreTheStores(p *probe) {
	b := p.begin(p.create(ada).ID)
	if !p.isNow(b.Now) {
		p.Errorf("begin says that it is %v, and it is %v", b.Now, time.Now())
	}
	asked := time.Now().Add(-time.Hour)
	t, err := p.Ask(p.ctx, b.Lease, task.Question{Name: "q", AskedAt: asked, Deadline: asked.Add(time.Minute)})
	p.must(err, "ask")
	if q := t.Questions[0]; !p.isNow(q.AskedAt) || q.Deadline.Sub(q.AskedAt) != time.Minute {
		p.Errorf("asked at %v by a clock that showed %v, the question is open for %v", q.AskedAt, asked, q.Deadline.Sub(q.AskedAt))
	}
}

func runningTimeIsCounted(p *probe) {
	id := p.createWith(task.Task{Owner: ada, TTL: time.Hour, Timeout: time.Hour}).ID
	l := p.begin(id).Lease
	p.wait(5 * time.Second)
	p.must(p.Record(p.ctx, l, "step", nil), "record")
	ran := p.get(id).Ran
	p.passed(ran, 5*time.Second, "when a step was recorded")
	p.wait(5 * time.Second)
	t, err := p.Ask(p.ctx, l, task.Question{Name: "q"})
	p.must(err, "ask")
	p.passed(t.Ran-ran, 5*time.Second, "when a question was asked")
	ran = t.Ran
	p.wait(10 * time.Second)
	t, err = p.Answer(p.ctx, ada, id, []task.Answer{{Name: "q"}})
	p.must(err, "answer")
	p.equal(t.Ran, ran, "running time while a question was open")
	p.wait(5 * time.Second)
	t, err = p.Park(p.ctx, l)
	p.must(err, "park")
	p.passed(t.Ran-ran, 5*time.Second, "when the run was parked")
	ran = t.Ran
	p.wait(10 * time.Second)
	b := p.begin(id)
	p.equal(b.Task.Ran, ran, "running time while nobody ran the task")
	p.wait(5 * time.Second)
	t, err = p.Describe(p.ctx, b.Lease, "half way")
	p.must(err, "describe")
	p.passed(t.Ran-ran, 5*time.Second, "when the second run changed the task")
	p.wait(lease)
	p.equal(p.begin(id).Task.Ran, t.Ran, "running time of a run that vanished, which is known up to its last change")
	untimed, l := p.begun()
	p.wait(5 * time.Second)
	t, err = p.Park(p.ctx, l)
	p.must(err, "park")
	p.equal(t.Ran, time.Duration(0), "running time of a task without a timeout: "+untimed)
}

func expiryTellsNext(p *probe) {
	x, err := p.Expire(p.ctx, 10)
	p.must(err, "expire")
	p.equal(x.Next.IsZero(), true, "next expiry of an empty store is none")
	expires := map[time.Duration]time.Time{}
	for _, ttl := range []time.Duration{3 * time.Minute, time.Minute, 2 * time.Minute} {
		t := p.createWith(task.Task{Owner: ada, TTL: ttl})
		expires[ttl], _ = t.ExpiresAt()
	}
	for _, ttl := range []time.Duration{time.Minute, 2 * time.Minute, 3 * time.Minute} {
		x, err := p.Expire(p.ctx, 10)
		p.must(err, "expire")
		p.equal(x.Next.UnixNano(), expires[ttl].UnixNano(), "next expiry")
		p.wait(time.Minute)
	}
}

func expiryIsBounded(p *probe) {
	for range 20 {
		p.createWith(task.Task{Owner: ada, TTL: time.Minute})
	}
	stay := p.create(ada).ID
	p.wait(time.Minute)
	total := 0
	for range 20 {
		x, err := p.Expire(p.ctx, 3)
		p.must(err, "expire")
		if len(x.Removed) > 3 {
			p.Errorf("%d tasks removed at once, want at most 3", len(x.Removed))
		}
		if total += len(x.Removed); len(x.Removed) == 0 {
			break
		}
	}
	p.equal(total, 20, "removed tasks")
	p.get(stay)
}

func unlimitedStays(p *probe) {
	id := p.createWith(task.Task{Owner: ada, TTL: task.Unlimited}).ID
	p.equal(len(p.expireAll(p.ages())), 0, "removed tasks")
	p.equal(p.get(id).TTL, task.Unlimited, "ttl")
}

// hinted waits for a hint; stores may take their time.
func (p *probe) hinted(changed <-chan struct{}, what string) {
	p.Helper()
	p.settle()
	select {
	case <-changed:
	case <-time.After(p.patience):
		p.Errorf("%s: no hint", what)
	}
}

func changesAreHinted(p *probe) {
	id, l := p.begun()
	for _, change := range []struct {
		what string
		make func() (task.Task, error)
	}{
		{"describe", func() (task.Task, error) { return p.Describe(p.ctx, l, "now") }},
		{"ask", func() (task.Task, error) { return p.Ask(p.ctx, l, question("a")) }},
		{"second ask", func() (task.Task, error) { return p.Ask(p.ctx, l, question("b")) }},
		{"answer", func() (task.Task, error) { return p.Answer(p.ctx, ada, id, []task.Answer{{Name: "a"}}) }},
		{"withdraw", func() (task.Task, error) { return p.Withdraw(p.ctx, l, "b") }},
		{"cancel wish", func() (task.Task, error) { return p.Cancel(p.ctx, ada, id, task.Cancel{}) }},
		{"finish", func() (task.Task, error) { return p.Finish(p.ctx, l, task.Outcome{Status: task.Completed}) }},
	} {
		_, changed, err := p.Watch(p.ctx, ada, id)
		p.must(err, "watch")
		_, err = change.make()
		p.must(err, change.what)
		p.hinted(changed, change.what)
	}
}

func allWatchersAreHinted(p *probe) {
	id := p.create(ada).ID
	ctx, stop := context.WithCancel(p.ctx)
	_, _, err := p.Watch(ctx, ada, id)
	p.must(err, "watch")
	stop() // one that goes away takes nothing from the others
	var watchers []<-chan struct{}
	for range 100 {
		_, changed, err := p.Watch(p.ctx, ada, id)
		p.must(err, "watch")
		watchers = append(watchers, changed)
	}
	_, err = p.Cancel(p.ctx, ada, id, task.Cancel{Force: true})
	p.must(err, "cancel")
	for _, changed := range watchers {
		p.hinted(changed, "one of 100 watchers")
	}
}

// watchMissesNothing lets the end race with waiters that read and wait: each of them gets to see it.
func watchMissesNothing(p *probe) {
	for n := range 50 {
		id, l := p.begun()
		done := make(chan error, 8)
		for range cap(done) {
			go func() { done <- p.await(id) }()
		}
		if n%2 == 0 {
			p.settle() // all of them wait
		}
		_, err := p.Finish(p.ctx, l, task.Outcome{Status: task.Completed})
		p.must(err, "finish")
		for range cap(done) {
			p.must(<-done, "waiter")
		}
	}
}

func (p *probe) await(id string) error {
	ctx, stop := context.WithTimeout(p.ctx, p.patience)
	defer stop()
	for {
		t, changed, err := p.Watch(ctx, ada, id)
		if err != nil || t.Status.Terminal() {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
