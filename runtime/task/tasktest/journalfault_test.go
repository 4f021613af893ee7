package tasktest

import (
	"context"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// journalFaults are faults in questions and steps.
var journalFaults = []fault{
	{"one answer closes all questions", []string{"EXT10PartialAnswersKeepInputRequired", "JournalIsReplayedByTheNextRun"},
		func(s task.Store) task.Store { return &eager{s} }},
	{"journals are lost", []string{"JournalIsReplayedByTheNextRun", "LeaseParkGivesItBack"},
		func(s task.Store) task.Store { return &forgetful{s} }},
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

type forgetful struct{ task.Store }

func (s *forgetful) Begin(ctx context.Context, id, node string, d time.Duration) (task.Begun, error) {
	b, err := s.Store.Begin(ctx, id, node, d)
	b.Journal = nil
	return b, err
}
