package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/internal/questionname"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// asking is one question on its way to the client: an elicitation, or any other request to the client.
type asking struct {
	about     subject
	from      *Call           // whose handler asks, inline; nil: a task's question is delivered
	parent    context.Context // of what the question belongs to: the request, the session, or the delivery of a task's question
	waiter    context.Context // of whoever waits for the answer; it may end before parent
	claimed   context.Context // ends with the claim on a task's question: another stream asks then, and an answer on this one still counts; nil inline
	task      string          // "" inline
	onCarrier func(Carrier)   // called with the stream that has the question, if the transport knows it; may be nil
	carrier   Carrier         // that stream; nil: there is none, or the transport does not know it
	clock     *inflight.Entry // the call, whose timeout is paused until the question is answered or withdrawn; nil for none
	id        rpc.ID
	unkept    atomic.Bool             // the transport could not keep the question until the client reads it (Attended.Ask)
	unwritten bool                    // the transport did not take the question
	unwait    context.CancelCauseFunc // ends waiter
}

// send asks the client and waits for the answer, which it returns as a reply. When parent or waiter ends or the deadline passes first, the client is
// notified that nobody waits any more (CAN19). The time to answer begins when the client can be asked (LET09); the call's timeout is paused from now
// on (CAN28). A task's question keeps its deadline, whichever client is asked.
func (a *asking) send(q task.Question) ([]byte, error) {
	p, since := a.about.peer, time.Now()
	if a.clock != nil {
		a.clock.Pause()
		defer a.clock.Resume()
	}
	if err := a.untilBegun(q.Deadline); err != nil {
		return nil, err
	}
	if a.task == "" {
		q.Deadline = q.Deadline.Add(time.Since(since))
	}
	params, err := p.revision.askParams(&q, a.task)
	if err != nil {
		return nil, err
	}
	a.waiter, a.unwait = context.WithCancelCause(a.waiter)
	defer a.unwait(nil)
	a.id = rpc.IntID(p.outgoing.Add(1))
	if a.task != "" && p.streams {
		p.recordings.begin(a.id) // the answer may come before the question was written to its end
	}
	questionname.Report(a.parent, a.id, q.Name)
	method := p.revision.nameOf(q.Method)
	if p.s.middleware != nil {
		return a.pass(method, params, &q)
	}
	answer, err := a.request(method, params, q.Deadline)
	if err != nil {
		return nil, err
	}
	defer p.dropAnswer(&answer)
	return p.readReply(q.Method, answer)
}

// request sends the question and waits for its answer, which counts for the client until dropAnswer.
func (a *asking) request(method string, params []byte, deadline time.Time) (answer inflight.Response, err error) {
	p := a.about.peer
	left := time.Until(deadline)
	if left <= 0 {
		return answer, task.ErrUnanswered
	}
	entry, err := p.s.tracker.Register(a.parent, p.key(a.id, inflight.Outgoing),
		inflight.Info{Kind: inflight.Kind{Method: method, Timeout: left}, Principal: p.who.principal})
	if err != nil {
		return answer, err
	}
	if p.inputEnded() {
		p.dropUnsent(entry)
		return answer, errInputEnded
	}
	entry.Follow(a.waiter)
	if err := a.write(method, params); err != nil {
		a.closeCarrier()
		p.dropUnsent(entry)
		return answer, err
	}
	if a.claimed != nil {
		defer context.AfterFunc(a.claimed, a.closeCarrier)()
	}
	answer, err = entry.Await()
	if a.closeCarrier(); err != nil {
		return answer, a.withdraw(err)
	}
	return answer, nil
}

// dropUnsent ends a question that could not be written. A client that guessed its id may have answered it all the same.
func (p *peer) dropUnsent(question *inflight.Entry) {
	question.Retire()
	if answer, err := question.Await(); err == nil {
		p.dropAnswer(&answer)
	}
}

// untilBegun waits until the client has said that it is initialized, and may be asked (LET09).
func (a *asking) untilBegun(deadline time.Time) error {
	if a.about.peer.hasBegun() {
		return nil
	}
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-a.about.peer.begun.Done():
		return nil
	case <-timer.C:
		return task.ErrUnanswered
	case <-a.parent.Done():
	case <-a.waiter.Done():
	}
	return a.ended()
}

// ended is why nobody waits any more, nil while somebody does.
func (a *asking) ended() error {
	if err := context.Cause(a.parent); err != nil {
		return err
	}
	return context.Cause(a.waiter)
}

// Err lets an asking be a subject's ctx.
func (a *asking) Err() error { return a.ended() }

func (a *asking) write(method string, params []byte) error {
	a.about.ctx = a
	if p := a.about.peer; method == p.revision.names[wire.OpElicit] {
		p.pagesSent.add(member(params, "elicitationId"))
	}
	m := outgoing{frame: rpc.AppendRequest(nil, a.id, method, params), question: a}
	var err error
	if a.from != nil {
		err = a.from.write(&a.about, m)
	} else {
		err = a.about.write(m)
	}
	switch cause := a.ended(); {
	case err == nil && a.onCarrier != nil && a.carrier != nil:
		a.onCarrier(a.carrier)
	case err == errSilenced && cause != nil:
		return cause
	case err != errSilenced:
		a.unwritten = err != nil
	}
	return err
}

// endUnkept ends the wait for the answer to a question that the client can not read any more (CAN30).
func (a *asking) endUnkept(err error) {
	a.unkept.Store(true)
	a.unwait(err)
}

// closeCarrier tells the stream that has the question that it is over.
func (a *asking) closeCarrier() {
	if a.carrier != nil {
		a.carrier.Close()
	}
}

// askParams are the params of a question's request; related is the id of the task that asks, "" for none.
func (rev *revision) askParams(q *task.Question, related string) ([]byte, error) {
	if q.Method != askMethod {
		return rev.relate(rev.paramsOf(q), related), nil
	}
	var asked questionPayload
	if err := json.Unmarshal(q.Payload, &asked); err != nil {
		return nil, fmt.Errorf("question %q: %w", q.Name, err)
	}
	return rev.AppendElicit(nil, &wire.Elicit{Message: asked.Message, RequestedSchema: asked.Schema, RelatedTask: related}), nil
}

// relate adds to params that a handler made the _meta that names their task (TSK13).
func (rev *revision) relate(params []byte, id string) []byte {
	if id == "" || rev.Meta.RelatedTask == "" {
		return params
	}
	var meta map[string]json.RawMessage
	members := membersOf(params)
	if members == nil {
		members = map[string]json.RawMessage{}
	}
	if json.Unmarshal(members[rev.metaMember], &meta) != nil || meta == nil {
		meta = map[string]json.RawMessage{}
	}
	_, own := metaOf(rev.Revision, id)
	meta[rev.Meta.RelatedTask] = own[rev.Meta.RelatedTask]
	members[rev.metaMember], _ = json.Marshal(meta) // raw JSON does not fail
	related, _ := json.Marshal(members)
	return related
}

// withdraw tells the client that nobody waits for its answer any more (CAN19).
func (a *asking) withdraw(err error) error {
	var cause *inflight.Cause
	if errors.As(err, &cause) && cause.Source == inflight.SourceDisconnect {
		return err
	}
	reason := "nobody waits for the answer any more"
	if ended := a.ended(); a.unkept.Load() && ended != nil {
		return ended // the client has not read it
	} else if ended != nil {
		err = ended
	} else if cause != nil && cause.Source == inflight.SourceTimeout {
		err, reason = task.ErrUnanswered, "nobody answered in time"
	}
	rev := a.about.peer.revision
	params := rev.AppendCancelled(nil, &wire.Cancelled{RequestID: a.id, Reason: reason, RelatedTask: a.task})
	question := subject{peer: a.about.peer, id: a.about.id, withdrawn: a.carrier} // the question was sent, so its cancellation is sent, too, whatever has ended (CAN19)
	_ = question.send(notification{revision: rev, op: wire.OpCancelled, params: params})
	return err
}

// readReply reads the client's answer. A JSON-RPC error is an answer, and is recorded as one.
func (p *peer) readReply(method string, answer inflight.Response) ([]byte, error) {
	if answer.Err != nil {
		return json.Marshal(reply{Error: answer.Err, Unusable: answer.Unusable})
	}
	data, err := p.revision.readAnswer(method, answer.Result, p.s.cfg.limits)
	if err != nil {
		return json.Marshal(reply{Error: malformedAnswer(err.Error()), Unusable: true})
	}
	return data, nil
}

// malformedAnswer says why an answer could not be read.
func malformedAnswer(why string) *rpc.Error { return rpc.Errorf(rpc.CodeInvalidParams, "%s", why) }
