package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// asking is one question on its way to the client.
type asking struct {
	peer *peer
	call context.Context // what the question belongs to: the request, or the delivery of a task's question
	wait context.Context // of whoever waits; it may end earlier
	id   rpc.ID
	task string // "" inline
}

// elicit sends q to the client and waits for the answer, which it returns as a reply. When call or wait ends or the
// deadline passes first, the client is told that nobody waits any more (CAN19).
func (p *peer) elicit(call, wait context.Context, q task.Question, taskID string) ([]byte, error) {
	left := time.Until(q.Deadline)
	if left <= 0 {
		return nil, task.ErrUnanswered
	}
	a := &asking{peer: p, call: call, wait: wait, id: rpc.IntID(p.outgoing.Add(1)), task: taskID}
	entry, err := p.s.tracker.Register(call, p.key(a.id, inflight.Outgoing),
		inflight.Info{Method: p.wire.names[OpElicit], Principal: p.principal, Timeout: left})
	if err != nil {
		return nil, err
	}
	entry.Follow(wait)
	if err := a.send(q); err != nil {
		entry.Retire()
		return nil, err
	}
	answer, err := entry.Await()
	if err != nil {
		return nil, a.giveUp(err)
	}
	return p.readReply(answer)
}

// ended is why nobody waits any more, nil while somebody does.
func (a *asking) ended() error {
	if err := context.Cause(a.call); err != nil {
		return err
	}
	return context.Cause(a.wait)
}

func (a *asking) send(q task.Question) error {
	var asked prompt
	if err := json.Unmarshal(q.Payload, &asked); err != nil {
		return fmt.Errorf("question %q: %w", q.Name, err)
	}
	w := a.peer.wire
	params := w.AppendElicit(nil, &Elicit{Message: asked.Message, RequestedSchema: asked.Schema, RelatedTask: a.task})
	frame := rpc.AppendRequest(nil, a.id, w.names[OpElicit], params)
	a.peer.gate.RLock()
	defer a.peer.gate.RUnlock()
	if err := a.ended(); err != nil {
		return err // nothing is written for a call that is over (CAN02)
	}
	return a.peer.conn.WriteFrame(frame)
}

// giveUp takes the question back from the client, if that is still there.
func (a *asking) giveUp(err error) error {
	var cause *inflight.Cause
	if errors.As(err, &cause) && cause.Source == inflight.SourceDisconnect {
		return err
	}
	reason := "nobody waits for the answer any more"
	if ended := a.ended(); ended != nil {
		err = ended
	} else if cause != nil && cause.Source == inflight.SourceTimeout {
		err, reason = task.ErrUnanswered, "nobody answered in time"
	}
	w := a.peer.wire
	params := w.AppendCancelled(nil, &Cancelled{RequestID: a.id, Reason: reason})
	a.peer.write(rpc.AppendNotification(nil, w.names[OpCancelled], params))
	return err
}

// readReply reads the client's answer. A JSON-RPC error is an answer too; it is journaled like one.
func (p *peer) readReply(answer inflight.Response) ([]byte, error) {
	r := reply{Error: answer.Err}
	if answer.Err == nil {
		var result ElicitResult
		if err := check.Decode(answer.Result, p.s.cfg.limits, p.wire.ReadElicitResult, &result); err != nil {
			r.Error = rpc.Errorf(rpc.CodeInvalidParams, "the client's answer: %v", err)
		}
		r.Action, r.Content = Action(result.Action), result.Content
	}
	return json.Marshal(r)
}
