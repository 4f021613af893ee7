package servertest

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Question is what a tool asks of its client: of the user, of the model, or for roots.
type Question struct {
	// Name is its name in the handler, as in the manifest's elicitations. Instance distinguishes several askings of one question (server.Named).
	Name, Instance string
	Method         string // such as elicitation/create
	Message        string // to the user
	Schema         json.RawMessage
	Params         json.RawMessage // the whole params of the request
	Task           string          // the id of the task that asks, "" inline
}

// Answer is the client's answer to a question. The zero Answer is Ignore.
type Answer struct {
	action  server.Action
	content any // of an accepted question
	result  any // the whole answer, if not nil
	err     *rpc.Error
}

// Accept answers a question to the user with the user's input: a value of its generated type, or anything that json.Marshal encodes in
// the same way.
func Accept(content any) Answer { return Answer{action: server.Accepted, content: content} }

// Decline is the answer of a user who says no.
func Decline() Answer { return Answer{action: server.Declined} }

// Dismiss is the answer of a user who closes the question.
func Dismiss() Answer { return Answer{action: server.Dismissed} }

// Reply is the whole answer to a question that is not to the user, sampling/createMessage or roots/list.
func Reply(result any) Answer { return Answer{result: result} }

// Refuse answers with a JSON-RPC error. Only revisions with a session have a form for it.
func Refuse(err *rpc.Error) Answer { return Answer{err: err} }

// Ignore leaves the question open. Without a session an inline call ends with that, as ErrIgnored.
func Ignore() Answer { return Answer{} }

func (a *Answer) ignores() bool { return a.action == "" && a.result == nil && a.err == nil }

type answerFunc = func(ctx context.Context, q *Question) Answer

// Answer has the client give that answer to the question from now on, whenever it is asked, in every revision, inline and by a task.
// The name "" stands for all questions that have no answer of their own, and "name#instance" for one that server.Named tells apart. A question without any answer fails the test.
func (c *Client) Answer(question string, a Answer) {
	c.AnswerFunc(question, func(context.Context, *Question) Answer { return a })
}

// AnswerFunc is Answer with a function that may look at the question, and wait. It is called in a goroutine of its own; ctx ends when the
// server no longer waits, or the client is closed: then it has to return, and its answer is not sent.
func (c *Client) AnswerFunc(question string, answer func(ctx context.Context, q *Question) Answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers[question] = answer
}

// asked handles a request of the server: a ping or a question.
func (c *Client) asked(msg *rpc.Message) {
	method, id := string(msg.Method), msg.ID
	op, known := c.opOf(method)
	switch asked := c.outgoing(method); {
	case method == c.method(wire.OpPing):
		c.write(rpc.AppendResult(nil, id, nil))
		return
	case !known || asked.Capability == "":
		c.broken("the request %s, which %s does not have", method, c.revision.Version)
	case !declared(c.capabilities, asked.Capability):
		c.broken("the request %s, whose capability the client did not declare", method)
	case !c.revision.Handshake:
		c.broken("the request %s: in %s questions are in results", method, c.revision.Version)
	default:
		c.question(op, id, inputRequest{method, json.RawMessage(msg.Params)})
		return
	}
	c.write(rpc.AppendError(nil, id, rpc.Errorf(rpc.CodeMethodNotFound, "unknown method %q", method)))
}

// outgoing returns the revision's request or notification of the server with that name; of an unknown one all is zero.
func (c *Client) outgoing(method string) (o wire.Outgoing) {
	for _, o := range c.revision.Outgoing {
		if o.Name == method {
			return o
		}
	}
	return o
}

// question answers a question that came as a request, in a goroutine of its own.
func (c *Client) question(op wire.Op, id rpc.ID, asked inputRequest) {
	ctx, cancel := context.WithCancel(c.ctx)
	c.mu.Lock()
	name, twice := c.names[id], c.questions[id] != nil
	c.questions[id] = cancel
	c.mu.Unlock()
	if twice {
		c.broken("a second request with the id %s", id)
	}
	c.work.Go(func() {
		defer cancel()
		a := c.answerTo(ctx, name, &asked, relatedTask(c.revision, asked.Params))
		switch {
		case ctx.Err() != nil || a.ignores():
		case a.err != nil:
			c.write(rpc.AppendError(nil, id, a.err))
		default:
			c.write(rpc.AppendResult(nil, id, c.encode(a.json())))
		}
	})
}

// answerTo returns the answer of the test's function for the question.
func (c *Client) answerTo(ctx context.Context, name string, asked *inputRequest, task string) Answer {
	q := &Question{Method: asked.Method, Params: asked.Params, Task: task}
	q.Name, q.Instance, _ = strings.Cut(name, "#")
	params := membersOf(asked.Params)
	q.Message, q.Schema = textOf(params["message"]), params["requestedSchema"]
	c.mu.Lock()
	var answer answerFunc
	for _, known := range []string{name, q.Name, ""} {
		if answer = c.answers[known]; answer != nil {
			break
		}
	}
	c.mu.Unlock()
	if answer == nil {
		c.t.Errorf("servertest: nobody answers the question %q (%s %s): say Client.Answer(%[1]q, …) before the call", q.Name, q.Method, q.Params)
		return Dismiss()
	}
	return answer(ctx, q)
}

// json returns the answer as a value for json.Marshal.
func (a *Answer) json() any {
	switch {
	case a.result != nil:
		return a.result
	case a.content != nil:
		return object{"action": a.action, "content": a.content}
	}
	return object{"action": a.action}
}

// answerAll returns the answers to questions that came in a result, which are asked all at once. missing says that some have no answer.
func (c *Client) answerAll(ctx context.Context, asked map[string]inputRequest, task string) (given object, missing bool) {
	var mu sync.Mutex
	var all sync.WaitGroup
	given = object{}
	for name, request := range asked {
		all.Go(func() {
			a := c.answerTo(ctx, name, &request, task)
			if a.err != nil {
				c.t.Errorf("servertest: the question %q is refused with an error, for which %s has no form: use Decline or Ignore", name, c.revision.Version)
			}
			mu.Lock()
			defer mu.Unlock()
			if a.err != nil || a.ignores() {
				missing = true
			} else {
				given[name] = a.json()
			}
		})
	}
	all.Wait()
	return given, missing || ctx.Err() != nil
}

// relatedTask returns the id of the task that a question belongs to, "" for none.
func relatedTask(w *wire.Revision, params json.RawMessage) string {
	related := membersOf(membersOf(params)["_meta"])[w.Meta.RelatedTask]
	return textMember(related, "taskId")
}
