package tasktest

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// fault is a store with one fault, and the checks that have to notice.
type fault struct {
	name    string
	noticed []string
	open    func(task.Store) task.Store
}

var faults = []fault{
	{"create returns before the task is stored", []string{"TSK04CreatedTaskIsFoundEverywhere"},
		func(s task.Store) task.Store { return &lateCreate{Store: s} }},
	{"results are reformatted", []string{"TSK10OutcomeIsKeptVerbatim"},
		func(s task.Store) task.Store { return &compacting{s} }},
	{"kinds of ends are lost", []string{"TSK16ListLeavesPayloadsOut"},
		func(s task.Store) task.Store { return &kindless{s} }},
	{"a late finish is accepted", []string{"TSK07TerminalStatesAbsorb", "TSK07OneOfManyEndsATask", "TSK18ForcedCancelIsImmediate"},
		func(s task.Store) task.Store { return &lastWins{s} }},
	{"any epoch may write", []string{"LeaseFencesOldEpochs"},
		func(s task.Store) task.Store { return &fenceless{Store: s, current: map[string]task.Lease{}} }},
	{"a leased task begins again", []string{"LeaseIsExclusive", "LeaseBeginRacesHaveOneWinner"},
		func(s task.Store) task.Store { return &shared{s} }},
	{"owners are not compared", []string{"TSK21ForeignTasksAreNotFound", "TSK17UnknownAndForeignLookTheSame"},
		func(s task.Store) task.Store { return &ownerless{Store: s, owners: map[string]string{}} }},
	{"pages are counted by offset", []string{"TSK16PagesAreStableWhileTasksComeAndGo", "TSK17BadCursorsAreRefused"},
		func(s task.Store) task.Store { return &offsets{s} }},
	{"lists carry results", []string{"TSK16ListLeavesPayloadsOut"},
		func(s task.Store) task.Store { return &fullLists{s} }},
	{"watchers are not told", []string{"TSK09EveryChangeIsHinted", "TSK09AllWatchersAreHinted", "TSK09WatchMissesNothing", "TSK15ExpiredTasksAreGone"},
		func(s task.Store) task.Store { return &silent{s} }},
	{"nothing expires", []string{"TSK15ExpiredTasksAreGone", "TSK15ExpiryIsBounded", "TSK22QuotaOfStoredTasks"},
		func(s task.Store) task.Store { return &eternal{s} }},
	{"quotas are ignored", []string{"TSK22QuotaOfUnfinishedTasks", "TSK22QuotaOfStoredTasks"},
		func(s task.Store) task.Store { return &generous{s} }},
	{"bytes are not counted", []string{"TSK28QuotaOfBytes", "TSK28EveryEndGivesBytesBack", "TSK28SmallGrowthIsNeverRefused", "TSK28QuotaOfEverybodysBytes", "TSK28KeysTellRequestorsApart", "TSK28DiscardRemovesAnOwnersTasks"},
		func(s task.Store) task.Store { return &weightless{s} }},
	{"keys are ignored", []string{"TSK28KeysTellRequestorsApart"},
		func(s task.Store) task.Store { return &keyless{s} }},
	{"nothing is discarded", []string{"TSK28DiscardRemovesAnOwnersTasks"},
		func(s task.Store) task.Store { return &hoarding{s} }},
	{"cancel always forces", []string{"EXT11CooperativeCancelLeavesTheWorkToDecide", "LeaseHeartbeatTellsWhatToStop"},
		func(s task.Store) task.Store { return &forcing{s} }},
	{"one answer closes all questions", []string{"EXT10PartialAnswersKeepInputRequired", "JournalIsReplayedByTheNextRun"},
		func(s task.Store) task.Store { return &eager{s} }},
	{"heartbeats say that all is well", []string{"LeaseHeartbeatTellsWhatToStop", "LeaseFencesOldEpochs"},
		func(s task.Store) task.Store { return &deaf{s} }},
	{"no orphans are found", []string{"EXT15OrphansAreThoseThatWaitForARun"},
		func(s task.Store) task.Store { return &orphanless{s} }},
	{"every task has the same machine", []string{"TSK07TheTasksOwnMachineDecides"},
		func(s task.Store) task.Store { return &levelling{s} }},
	{"operators see one owner's tasks", []string{"OperatorsSeeEveryTaskOnceInOrder", "OperatorsFilter"},
		func(s task.Store) task.Store { return &blinkered{s} }},
	{"operators' filters are ignored", []string{"OperatorsFilter"},
		func(s task.Store) task.Store { return &unfiltered{s} }},
	{"operators' pages are counted by offset", []string{"OperatorsPagesAreStableWhileTasksComeAndGo", "OperatorsBadCursorsAreRefused"},
		func(s task.Store) task.Store { return &allOffsets{s} }},
	{"operators' lists carry results", []string{"OperatorsSeeEveryTaskOnceInOrder"},
		func(s task.Store) task.Store { return &fullLists{s} }},
	{"what is over is not counted", []string{"OperatorsCountByStatus"},
		func(s task.Store) task.Store { return &undercounting{s} }},
	{"nobody is told of cancels", []string{"DUR03InterruptersTellOfCancels"},
		func(s task.Store) task.Store { return &mute{s} }},
	{"creators have all the time in the world", []string{"EXT15OrphansAreThoseThatWaitForARun"},
		func(s task.Store) task.Store { return &graceful{s} }},
	{"empty results become none", []string{"TSK10OutcomeIsKeptVerbatim"},
		func(s task.Store) task.Store { return &emptying{s} }},
	{"deadlines are kept by the asker's clock", []string{"TSK19DeadlinesAreOfTheStoresClock"},
		func(s task.Store) task.Store { return &clockless{s} }},
	{"crashes are forgotten", []string{"LeaseRunsThatVanishAreCounted"},
		func(s task.Store) task.Store { return &carefree{s} }},
	{"running time is forgotten", []string{"CAN20RunningTimeIsCountedOverAllRuns"},
		func(s task.Store) task.Store { return &timeless{s} }},
	{"journals are lost", []string{"JournalIsReplayedByTheNextRun", "LeaseParkGivesItBack"},
		func(s task.Store) task.Store { return &forgetful{s} }},
}

type levelling struct{ task.Store }

func (s *levelling) Create(ctx context.Context, t task.Task, q task.Quota) (task.Task, error) {
	t.Machine = Machine()
	return s.Store.Create(ctx, t, q)
}

type lateCreate struct{ task.Store }

func (s *lateCreate) Create(ctx context.Context, t task.Task, q task.Quota) (task.Task, error) {
	go func() {
		time.Sleep(time.Millisecond)
		s.Store.Create(ctx, t, q)
	}()
	return task.NewState(t, time.Now()).Task, nil
}

type compacting struct{ task.Store }

func (s *compacting) Finish(ctx context.Context, l task.Lease, o task.Outcome) (task.Task, error) {
	var b bytes.Buffer
	if json.Compact(&b, o.Result) == nil {
		o.Result = b.Bytes()
	}
	return s.Store.Finish(ctx, l, o)
}

type kindless struct{ task.Store }

func (s *kindless) Finish(ctx context.Context, l task.Lease, o task.Outcome) (task.Task, error) {
	o.Kind = 0
	return s.Store.Finish(ctx, l, o)
}

type lastWins struct{ task.Store }

func (s *lastWins) Finish(ctx context.Context, l task.Lease, o task.Outcome) (task.Task, error) {
	t, err := s.Store.Finish(ctx, l, o)
	if t.Status.Terminal() {
		return t, nil
	}
	return t, err
}

type fenceless struct {
	task.Store
	mu      sync.Mutex
	current map[string]task.Lease
}

func (s *fenceless) Begin(ctx context.Context, id, node string, d time.Duration) (task.Begun, error) {
	b, err := s.Store.Begin(ctx, id, node, d)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.current[id] = b.Lease
	}
	return b, err
}

func (s *fenceless) Finish(ctx context.Context, l task.Lease, o task.Outcome) (task.Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Store.Finish(ctx, s.current[l.Task], o)
}

type shared struct{ task.Store }

func (s *shared) Begin(ctx context.Context, id, node string, d time.Duration) (task.Begun, error) {
	return s.Store.Begin(ctx, id, node, 0)
}

type ownerless struct {
	task.Store
	mu     sync.Mutex
	owners map[string]string
}

func (s *ownerless) Create(ctx context.Context, t task.Task, q task.Quota) (task.Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owners[t.ID] = t.Owner
	return s.Store.Create(ctx, t, q)
}

func (s *ownerless) Get(ctx context.Context, _, id string) (task.Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Store.Get(ctx, s.owners[id], id)
}

type offsets struct{ task.Store }

func (s *offsets) List(ctx context.Context, owner, cursor string, limit int) (task.Page, error) {
	all, err := s.Store.List(ctx, owner, "", 1<<20)
	from, _ := strconv.Atoi(cursor)
	from = min(from, len(all.Tasks))
	p := task.Page{Tasks: all.Tasks[from:min(from+limit, len(all.Tasks))]}
	if from+limit < len(all.Tasks) {
		p.Next = strconv.Itoa(from + limit)
	}
	return p, err
}

type fullLists struct{ task.Store }

func (s *fullLists) List(ctx context.Context, owner, cursor string, limit int) (task.Page, error) {
	p, err := s.Store.List(ctx, owner, cursor, limit)
	for i := range p.Tasks {
		if t, err := s.Get(ctx, owner, p.Tasks[i].ID); err == nil {
			p.Tasks[i] = t
		}
	}
	return p, err
}

type silent struct{ task.Store }

func (s *silent) Watch(ctx context.Context, owner, id string) (task.Task, <-chan struct{}, error) {
	t, err := s.Get(ctx, owner, id)
	return t, make(chan struct{}), err
}

type eternal struct{ task.Store }

func (s *eternal) Expire(ctx context.Context, _ int) (task.Expiry, error) {
	return s.Store.Expire(ctx, 0)
}

type generous struct{ task.Store }

func (s *generous) Create(ctx context.Context, t task.Task, _ task.Quota) (task.Task, error) {
	return s.Store.Create(ctx, t, task.Quota{})
}

type weightless struct{ task.Store }

func (s *weightless) Create(ctx context.Context, t task.Task, q task.Quota) (task.Task, error) {
	q.Bytes, q.AllBytes = 0, 0
	return s.Store.Create(ctx, t, q)
}

type keyless struct{ task.Store }

func (s *keyless) Create(ctx context.Context, t task.Task, q task.Quota) (task.Task, error) {
	q.Key = ""
	return s.Store.Create(ctx, t, q)
}

type hoarding struct{ task.Store }

func (s *hoarding) Discard(context.Context, string) ([]task.Task, error) { return nil, nil }

type forcing struct{ task.Store }

func (s *forcing) Cancel(ctx context.Context, owner, id string, c task.Cancel) (task.Task, error) {
	c.Force = true
	return s.Store.Cancel(ctx, owner, id, c)
}

type eager struct{ task.Store }

func (s *eager) Answer(ctx context.Context, owner, id string, answers []task.Answer) (task.Task, error) {
	t, err := s.Get(ctx, owner, id)
	if err != nil {
		return t, err
	}
	for _, q := range t.Questions {
		answers = append(answers, task.Answer{Name: q.Name})
	}
	return s.Store.Answer(ctx, owner, id, answers)
}

type deaf struct{ task.Store }

func (s *deaf) Heartbeat(ctx context.Context, leases []task.Lease, d time.Duration) (task.Beat, error) {
	_, err := s.Store.Heartbeat(ctx, leases, d)
	return task.Beat{}, err
}

type orphanless struct{ task.Store }

func (s *orphanless) Orphans(context.Context, int) ([]string, error) { return nil, nil }

type forgetful struct{ task.Store }

func (s *forgetful) Begin(ctx context.Context, id, node string, d time.Duration) (task.Begun, error) {
	b, err := s.Store.Begin(ctx, id, node, d)
	b.Journal = nil
	return b, err
}

type blinkered struct{ task.Store }

func (s *blinkered) ListAll(ctx context.Context, f task.Filter, cursor string, limit int) (task.Page, error) {
	if len(f.Owners) == 0 {
		f.Owners = []string{ada}
	}
	return s.Store.ListAll(ctx, f, cursor, limit)
}

func (s *blinkered) Count(ctx context.Context, f task.Filter) (map[task.Status]int, error) {
	f.Owners = []string{ada}
	return s.Store.Count(ctx, f)
}

type unfiltered struct{ task.Store }

func (s *unfiltered) Count(ctx context.Context, _ task.Filter) (map[task.Status]int, error) {
	return s.Store.Count(ctx, task.Filter{})
}

type allOffsets struct{ task.Store }

func (s *allOffsets) ListAll(ctx context.Context, f task.Filter, cursor string, limit int) (task.Page, error) {
	all, err := s.Store.ListAll(ctx, f, "", 1<<20)
	from, _ := strconv.Atoi(cursor)
	from = min(from, len(all.Tasks))
	p := task.Page{Tasks: all.Tasks[from:min(from+limit, len(all.Tasks))]}
	if from+limit < len(all.Tasks) {
		p.Next = strconv.Itoa(from + limit)
	}
	return p, err
}

func (s *fullLists) ListAll(ctx context.Context, f task.Filter, cursor string, limit int) (task.Page, error) {
	p, err := s.Store.ListAll(ctx, f, cursor, limit)
	for i := range p.Tasks {
		if t, err := s.Get(ctx, p.Tasks[i].Owner, p.Tasks[i].ID); err == nil {
			p.Tasks[i] = t
		}
	}
	return p, err
}

type undercounting struct{ task.Store }

func (s *undercounting) Count(ctx context.Context, f task.Filter) (map[task.Status]int, error) {
	n, err := s.Store.Count(ctx, f)
	delete(n, task.Failed)
	return n, err
}

// telling is a store that tells of every cancel.
type telling struct {
	task.Store
	mu   sync.Mutex
	hint func(string)
}

func (s *telling) Interrupts(hint func(string)) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hint = hint
	return func() {}
}

func (s *telling) Cancel(ctx context.Context, owner, id string, c task.Cancel) (task.Task, error) {
	t, err := s.Store.Cancel(ctx, owner, id, c)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hint != nil {
		s.hint(id)
	}
	return t, err
}

type mute struct{ task.Store }

func (s *mute) Interrupts(func(string)) (stop func()) { return func() {} }

type graceful struct{ task.Store }

func (s *graceful) Create(ctx context.Context, t task.Task, q task.Quota) (task.Task, error) {
	t.Grace = 24 * time.Hour
	return s.Store.Create(ctx, t, q)
}

type emptying struct{ task.Store }

func (s *emptying) Finish(ctx context.Context, l task.Lease, o task.Outcome) (task.Task, error) {
	if len(o.Result) == 0 {
		o.Result = nil
	}
	return s.Store.Finish(ctx, l, o)
}

type timeless struct{ task.Store }

func (s *timeless) Begin(ctx context.Context, id, node string, d time.Duration) (task.Begun, error) {
	b, err := s.Store.Begin(ctx, id, node, d)
	b.Task.Ran = 0
	return b, err
}

type carefree struct{ task.Store }

func (s *carefree) Begin(ctx context.Context, id, node string, d time.Duration) (task.Begun, error) {
	b, err := s.Store.Begin(ctx, id, node, d)
	b.Crashes = 0
	return b, err
}

type clockless struct{ task.Store }

func (s *clockless) Ask(ctx context.Context, l task.Lease, q task.Question) (task.Task, error) {
	q.AskedAt = time.Time{}
	return s.Store.Ask(ctx, l, q)
}
