package tasktest

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// stateFaults are faults in how a task comes to be and ends.
var stateFaults = []fault{
	{"create returns before the task is stored", []string{"TSK04CreatedTaskIsFoundEverywhere"},
		func(s task.Store) task.Store { return &lateCreate{Store: s} }},
	{"results are reformatted", []string{"TSK10OutcomeIsKeptVerbatim"},
		func(s task.Store) task.Store { return &compacting{s} }},
	{"kinds of ends are lost", []string{"TSK16ListLeavesPayloadsOut"},
		func(s task.Store) task.Store { return &kindless{s} }},
	{"a late finish is accepted", []string{"TSK07TerminalStatesAbsorb", "TSK07OneOfManyEndsATask", "TSK18ForcedCancelIsImmediate"},
		func(s task.Store) task.Store { return &lastWins{s} }},
	{"cancel always forces", []string{"EXT11CooperativeCancelLeavesTheWorkToDecide", "LeaseHeartbeatTellsWhatToStop"},
		func(s task.Store) task.Store { return &forcing{s} }},
	{"cancels are acknowledged and forgotten", []string{"EXT11ARunThatParksCarriesOutTheCancel", "EXT11ACancelOutlivesTheRunThatWasToHearIt",
		"EXT11CancelOfWhatNobodyRunsIsImmediate", "LeaseHeartbeatTellsWhatToStop"}, func(s task.Store) task.Store { return &polite{s} }},
	{"every task has the same machine", []string{"TSK07TheTasksOwnMachineDecides"},
		func(s task.Store) task.Store { return &levelling{s} }},
	{"empty results become none", []string{"TSK10OutcomeIsKeptVerbatim"},
		func(s task.Store) task.Store { return &emptying{s} }},
}

type lateCreate struct{ task.Store }

func (s *lateCreate) Create(ctx context.Context, t task.Task, q task.Quota) (task.Task, error) {
	go func() {
		time.Sleep(time.Millisecond)
		s.Store.Create(ctx, t, q)
	}()
	return task.NewState(t, time.Now()).Task, nil
}

type polite struct{ task.Store }

func (s *polite) Cancel(ctx context.Context, owner, id string, c task.Cancel) (task.Task, error) {
	if c.Force {
		return s.Store.Cancel(ctx, owner, id, c)
	}
	t, err := s.Get(ctx, owner, id)
	t.CancelRequested, t.CancelReason = true, c.Reason
	return t, err
}

type levelling struct{ task.Store }

func (s *levelling) Create(ctx context.Context, t task.Task, q task.Quota) (task.Task, error) {
	t.Machine = Machine()
	return s.Store.Create(ctx, t, q)
}

type compacting struct{ task.Store }

func (s *compacting) Finish(ctx context.Context, l task.Lease, o task.Outcome) (task.Task, error) {
	var b bytes.Buffer
	if json.Compact(&b, o.Result) == nil {
		o.Result = b.Bytes()
	}
	return s.Store.Finish(ctx, l, o)
}

type emptying struct{ task.Store }

func (s *emptying) Finish(ctx context.Context, l task.Lease, o task.Outcome) (task.Task, error) {
	if len(o.Result) == 0 {
		o.Result = nil
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

type forcing struct{ task.Store }

func (s *forcing) Cancel(ctx context.Context, owner, id string, c task.Cancel) (task.Task, error) {
	c.Force = true
	return s.Store.Cancel(ctx, owner, id, c)
}
