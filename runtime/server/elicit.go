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

// elicit sends q to the client and waits for the answer, which it returns as a reply. taskID is the task that q belongs to, "" inline.
// When ctx ends or the deadline passes first, the client is told that nobody waits any more (CAN19).
func (p *peer) elicit(ctx context.Context, q task.Question, taskID string) ([]byte, error) {
	left := time.Until(q.Deadline)
	if left <= 0 {
		return nil, task.ErrUnanswered
	}
	id := rpc.IntID(p.outgoing.Add(1))
	entry, err := p.s.tracker.Register(p.ctx, p.key(id, inflight.Outgoing),
		inflight.Info{Method: p.wire.names[OpElicit], Principal: p.principal, Timeout: left})
	if err != nil {
		return nil, err
	}
	entry.Follow(ctx)
	if err := p.sendQuestion(ctx, id, q, taskID); err != nil {
		entry.Retire()
		return nil, err
	}
	answer, err := entry.Await()
	if err != nil {
		return nil, p.giveUp(ctx, id, err)
	}
	return p.readReply(answer)
}

func (p *peer) sendQuestion(ctx context.Context, id rpc.ID, q task.Question, taskID string) error {
	var asked prompt
	if err := json.Unmarshal(q.Payload, &asked); err != nil {
		return fmt.Errorf("question %q: %w", q.Name, err)
	}
	params := p.wire.AppendElicit(nil, &Elicit{Message: asked.Message, RequestedSchema: asked.Schema, RelatedTask: taskID})
	frame := rpc.AppendRequest(nil, id, p.wire.names[OpElicit], params)
	p.gate.RLock()
	defer p.gate.RUnlock()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return p.conn.WriteFrame(frame)
}

// giveUp takes back a question that nobody waits for.
func (p *peer) giveUp(ctx context.Context, id rpc.ID, err error) error {
	reason := "nobody answered in time"
	if ctx.Err() != nil {
		err = context.Cause(ctx)
		reason = "nobody waits for the answer any more"
	}
	var cause *inflight.Cause
	if !errors.As(err, &cause) || cause.Source != inflight.SourceDisconnect {
		params := p.wire.AppendCancelled(nil, &Cancelled{RequestID: id, Reason: reason})
		p.write(rpc.AppendNotification(nil, p.wire.names[OpCancelled], params))
	}
	if ctx.Err() == nil && cause != nil && cause.Source == inflight.SourceTimeout {
		return task.ErrUnanswered
	}
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
