package tasktest

import (
	"context"
	"strconv"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// listFaults are faults in what owners and operators see.
var listFaults = []fault{
	{"owners are not compared", []string{"TSK21ForeignTasksAreNotFound", "TSK17UnknownAndForeignLookTheSame"},
		func(s task.Store) task.Store { return &ownerless{Store: s, owners: map[string]string{}} }},
	{"pages are counted by offset", []string{"TSK16PagesAreStableWhileTasksComeAndGo", "TSK17BadCursorsAreRefused"},
		func(s task.Store) task.Store { return &offsets{s} }},
	{"lists carry results", []string{"TSK16ListLeavesPayloadsOut"},
		func(s task.Store) task.Store { return &fullLists{s} }},
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

func (s *fullLists) ListAll(ctx context.Context, f task.Filter, cursor string, limit int) (task.Page, error) {
	p, err := s.Store.ListAll(ctx, f, cursor, limit)
	for i := range p.Tasks {
		if t, err := s.Get(ctx, p.Tasks[i].Owner, p.Tasks[i].ID); err == nil {
			p.Tasks[i] = t
		}
	}
	return p, err
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

type undercounting struct{ task.Store }

func (s *undercounting) Count(ctx context.Context, f task.Filter) (map[task.Status]int, error) {
	n, err := s.Store.Count(ctx, f)
	delete(n, task.Failed)
	return n, err
}
