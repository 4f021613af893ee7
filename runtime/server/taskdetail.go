package server

import (
	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// detail is a task with what it holds in its status: the result, the error, or the open questions (EXT07) that a client with
// these abilities can be asked.
func (s *Server) detail(w *wire, t *task.Task, can ability) TaskView {
	v := w.view(t)
	v.ServerInfo = s.infoFor(w)
	switch t.Status {
	case task.Completed, task.Failed:
		if result, err := w.ending(t); err != nil {
			v.Status, v.Error = string(task.Failed), appendErrorObject(nil, asRPC(err))
		} else {
			result.ServerInfo = v.ServerInfo
			v.Result = w.AppendCallResult(nil, &result)
		}
	case task.InputRequired:
		requests, err := w.inputRequests(w.askable(t.Questions, can))
		if err != nil {
			s.log.Error("questions can not be shown", "task", t.ID, "error", err)
			requests = []byte("{}")
		}
		v.InputRequests = requests
	}
	return v
}

// askable are the questions that a client with these abilities can be asked (EXT18).
func (w *wire) askable(all []task.Question, can ability) (some []task.Question) {
	for i := range all {
		if w.refuses(can, &all[i]) == nil {
			some = append(some, all[i])
		}
	}
	return some
}

func appendErrorObject(b []byte, err *rpc.Error) []byte {
	b = check.AppendInt(append(b, `{"code":`...), int64(err.Code))
	b = check.AppendString(append(b, `,"message":`...), err.Message)
	if len(err.Data) > 0 {
		b = append(append(b, `,"data":`...), err.Data...)
	}
	return append(b, '}')
}

// tellListens leaves a change of a task with the subscriptions to it.
func (s *Server) tellListens(t *task.Task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.taskListens[t.ID] {
		l.taskChanged(t.ID)
	}
}
