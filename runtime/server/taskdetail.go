package server

import (
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// detail is a task with what it holds in its status: the result, the error, or the open questions (EXT07) that a client with
// these abilities can be asked.
func (s *Server) detail(rev *revision, t *task.Task, can ability) wire.TaskView {
	v := rev.view(t)
	v.ServerInfo = rev.resultInfo
	switch t.Status {
	case task.Completed, task.Failed:
		if result, err := rev.ending(t, can); err != nil {
			v.Status, v.Error = string(task.Failed), rpc.AppendErrorObject(nil, asRPC(err))
		} else {
			result.ServerInfo = v.ServerInfo
			v.Result = rev.AppendCallResult(nil, &result)
		}
	case task.InputRequired:
		requests, err := rev.inputRequests(rev.askable(t.Questions, can))
		if err != nil {
			s.log.Error("questions can not be shown", "task", t.ID, "error", err)
			requests = []byte("{}")
		}
		v.InputRequests = requests
	}
	return v
}

// askable are the questions that a client with these abilities can be asked (EXT18).
func (rev *revision) askable(all []task.Question, can ability) (some []task.Question) {
	for i := range all {
		if rev.refuses(can, &all[i]) == nil {
			some = append(some, all[i])
		}
	}
	return some
}

// notifyListens queues a change of a task for the subscriptions to it.
func (s *Server) notifyListens(t *task.Task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.taskListens[t.ID] {
		l.queue(topic{wire.OpTaskStatus, t.ID})
	}
}
