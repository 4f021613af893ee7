package tasktest

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

var leaseChecks = []check{
	{"LeaseIsExclusive", leaseIsExclusive},
	{"LeaseFencesOldEpochs", leaseFences},
	{"LeaseOfAnotherNodeIsRefused", leaseOfAnotherNode},
	{"LeaseThatRanOutStillWritesUntilTaken", lateWriterWithoutRival},
	{"LeaseHeartbeatExtends", heartbeatExtends},
	{"LeaseHeartbeatTellsWhatToStop", heartbeatReportsLost},
	{"LeaseParkGivesItBack", parkGivesBack},
	{"EXT15OrphansAreThoseThatWaitForARun", orphans},
	{"LeaseBeginRacesHaveOneWinner", beginRace},
	{"LeaseRunsThatVanishAreCounted", crashesAreCounted},
}

func leaseIsExclusive(p *probe) {
	id, l := p.begun()
	p.equal([]any{l.Task, l.Node, l.Epoch}, []any{id, node, uint64(1)}, "first lease")
	for _, n := range []string{node, "node-2"} {
		_, err := p.Begin(p.ctx, id, n, lease)
		p.refuses(err, task.ErrLease, "begin by "+n+" while leased")
	}
	_, err := p.Begin(p.ctx, "unknown", node, lease)
	p.refuses(err, task.ErrNotFound, "begin of an unknown task")
}

// taken is a task whose first run went silent and was replaced.
func (p *probe) taken() (id string, old, current task.Lease) {
	p.Helper()
	id, old = p.begun()
	p.wait(lease)
	b, err := p.Begin(p.ctx, id, "node-2", lease)
	p.must(err, "begin after the lease ran out")
	if b.Lease.Epoch <= old.Epoch {
		p.Errorf("the epoch went from %d to %d", old.Epoch, b.Lease.Epoch)
	}
	return id, old, b.Lease
}

// writes are all calls that need a lease.
func (p *probe) writes(l task.Lease) map[string]error {
	errs := map[string]error{}
	_, errs["ask"] = p.Ask(p.ctx, l, question("late"))
	_, errs["withdraw"] = p.Withdraw(p.ctx, l, "late")
	_, errs["describe"] = p.Describe(p.ctx, l, "late")
	_, errs["park"] = p.Park(p.ctx, l)
	_, errs["finish"] = p.Finish(p.ctx, l, task.Outcome{Status: task.Completed, Result: []byte("late")})
	_, errs["entry"] = p.Entry(p.ctx, l, "late")
	errs["record"] = p.Record(p.ctx, l, "late", nil)
	return errs
}

func leaseFences(p *probe) {
	id, old, current := p.taken()
	p.unchanged(id, "a writer with an old epoch", func() {
		for name, err := range p.writes(old) {
			p.refuses(err, task.ErrLease, name+" with an old epoch")
		}
		beat, err := p.Heartbeat(p.ctx, []task.Lease{old}, time.Hour)
		p.must(err, "heartbeat")
		p.equal(beat.Lost, []task.Lease{old}, "lost leases")
	})
	_, err := p.Finish(p.ctx, current, task.Outcome{Status: task.Completed, Result: []byte("new")})
	p.must(err, "finish by the current run")
	for name, err := range p.writes(old) {
		p.refuses(err, task.ErrLease, name+" with an old epoch after the end")
	}
	p.equal(string(p.get(id).Result), "new", "result")
}

func leaseOfAnotherNode(p *probe) {
	id, l := p.begun()
	l.Node = "node-2"
	p.unchanged(id, "a writer with a forged lease", func() {
		for name, err := range p.writes(l) {
			p.refuses(err, task.ErrLease, name+" by another node")
		}
	})
}

func lateWriterWithoutRival(p *probe) {
	_, l := p.begun()
	p.wait(2 * lease)
	_, err := p.Finish(p.ctx, l, task.Outcome{Status: task.Completed})
	p.must(err, "finish after the lease ran out, with nobody else")
}

func heartbeatExtends(p *probe) {
	id, l := p.begun()
	for range 3 {
		p.wait(lease - time.Second)
		beat, err := p.Heartbeat(p.ctx, []task.Lease{l}, lease)
		p.must(err, "heartbeat")
		p.equal(beat, task.Beat{}, "beat")
	}
	_, err := p.Begin(p.ctx, id, "node-2", lease)
	p.refuses(err, task.ErrLease, "begin while the heart beats")
	p.equal(p.get(id).Version, uint64(1), "version after heartbeats, which are no change")
}

func heartbeatReportsLost(p *probe) {
	_, fine := p.begun()
	wished, asked := p.begun()
	_, err := p.Cancel(p.ctx, ada, wished, task.Cancel{})
	p.must(err, "cooperative cancel")
	ended, gone := p.begun()
	_, err = p.Cancel(p.ctx, ada, ended, task.Cancel{Force: true})
	p.must(err, "cancel")
	unknown := task.Lease{Task: "unknown", Node: node, Epoch: 1}
	beat, err := p.Heartbeat(p.ctx, []task.Lease{fine, asked, gone, unknown}, lease)
	p.must(err, "heartbeat")
	p.equal(beat.Cancel, []task.Lease{asked}, "leases with a wish to cancel")
	p.equal(beat.Lost, []task.Lease{gone, unknown}, "lost leases")
}

func parkGivesBack(p *probe) {
	id, l := p.begun()
	p.must(p.Record(p.ctx, l, "step", []byte("1")), "record")
	_, err := p.Park(p.ctx, l)
	p.must(err, "park")
	for name, err := range p.writes(l) {
		p.refuses(err, task.ErrLease, name+" after park")
	}
	b, err := p.Begin(p.ctx, id, "node-2", lease)
	p.must(err, "begin of a parked task")
	if b.Lease.Epoch <= l.Epoch || len(b.Journal) != 1 {
		p.Errorf("begun again with epoch %d after %d and journal %v", b.Lease.Epoch, l.Epoch, b.Journal)
	}
}

func (p *probe) orphaned(want ...string) {
	p.Helper()
	ids, err := p.Orphans(p.ctx, 100)
	p.must(err, "orphans")
	slices.Sort(ids)
	slices.Sort(want)
	if !slices.Equal(ids, want) {
		p.Errorf("orphans are %v, want %v", ids, want)
	}
}

func orphans(p *probe) {
	p.orphaned()
	silent, _ := p.begun()
	parked, l := p.begun()
	waiting, lw := p.begun()
	over, lo := p.begun()
	_, err := p.Ask(p.ctx, lw, question("q"))
	p.must(err, "ask")
	_, err = p.Finish(p.ctx, lo, task.Outcome{Status: task.Completed})
	p.must(err, "finish "+over)
	p.orphaned()
	_, err = p.Park(p.ctx, l)
	p.must(err, "park")
	_, err = p.Park(p.ctx, lw)
	p.must(err, "park with a question open")
	p.orphaned(parked)
	p.wait(lease)
	p.orphaned(parked, silent)
	_, err = p.Answer(p.ctx, ada, waiting, []task.Answer{{Name: "q"}})
	p.must(err, "answer")
	p.orphaned(parked, silent, waiting)
	if ids, err := p.Orphans(p.ctx, 2); err != nil || len(ids) != 2 {
		p.Errorf("two orphans of three: %v, %v", ids, err)
	}
	p.begin(parked)
	p.orphaned(silent, waiting)
	p.overdueOrphan(silent, waiting)
}

// overdueOrphan: a task whose question has run out of time needs a run to tell its handler so. One that never began is an
// orphan when its creator has had its time.
func (p *probe) overdueOrphan(others ...string) {
	id, l := p.begun()
	q := question("q")
	q.Deadline = time.Now().Add(p.scaled(lease / 3))
	_, err := p.Ask(p.ctx, l, q)
	p.must(err, "ask with a deadline")
	_, err = p.Park(p.ctx, l)
	p.must(err, "park")
	p.orphaned(others...)
	p.wait(lease / 3)
	p.orphaned(append(others, id)...)
	fresh := p.create(ada).ID
	p.orphaned(append(others, id)...)
	p.wait(lease)
	ids, err := p.Orphans(p.ctx, 100)
	p.must(err, "orphans")
	if !slices.Contains(ids, fresh) {
		p.Errorf("a task that never began is not among the orphans %v", ids)
	}
}

func beginRace(p *probe) {
	for range 20 {
		id := p.create(ada).ID
		var won atomic.Int32
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if _, err := p.Begin(p.ctx, id, node, lease); err == nil {
					won.Add(1)
				}
			})
		}
		all.Wait()
		p.equal(won.Load(), int32(1), "winners of four concurrent begins")
	}
}

// crashesAreCounted: a run that parked has ended in order, one whose lease ran out has not.
func crashesAreCounted(p *probe) {
	id := p.createWith(task.Task{Owner: ada, TTL: time.Hour, Reruns: 2}).ID
	b := p.begin(id)
	p.equal([]any{b.Crashes, b.Task.Reruns}, []any{0, 2}, "crashes before the first run, and how many may be")
	_, err := p.Park(p.ctx, b.Lease)
	p.must(err, "park")
	for n := range 3 {
		p.equal(p.begin(id).Crashes, n, "crashes")
		p.wait(lease)
	}
}
