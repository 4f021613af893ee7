package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Asker makes requests of a client: a *Call while its handler runs, a *ClientSession outside of calls. Generated functions for
// sampling, roots and questions take both.
type Asker interface {
	// env returns the server, the client's revision, and the account in which its decoded answers count; nil: in none.
	env() (*Server, *revision, check.Account)
	// permits refuses a request that the manifest does not let the handler make.
	permits(q *task.Question) error
	// adapt returns q in the form in which the client is asked, or why it can not be asked.
	adapt(q task.Question) (task.Question, *UnsupportedError)
	ask(ctx context.Context, q task.Question, check answerCheck) ([]byte, error)
}

func (c *Call) env() (*Server, *revision, check.Account) { return c.s, c.revision, (*callAccount)(c) }

// ClientSession is one client that is connected, for messages to it outside of calls. It stays usable after the client is gone:
// then its methods return why. Its methods are safe for concurrent use.
//
// In a revision with a handshake the ClientSession is a session. Stateless revisions have none: there a client can be notified only while it
// listens (subscriptions/listen), and only what it subscribed to, which the server sends by itself. Such a client is one ClientSession for
// each subscription; Log and requests to it are *UnsupportedError.
type ClientSession struct {
	p *peer
	l *listen // nil: a session
}

// Sessions are the clients that are connected to this process at this moment and have finished their handshake, the oldest first.
func (s *Server) Sessions() iter.Seq[*ClientSession] {
	return func(yield func(*ClientSession) bool) {
		for _, cs := range s.clientSessions() {
			if !yield(cs) {
				return
			}
		}
	}
}

func (s *Server) clientSessions() (all []*ClientSession) {
	s.mu.Lock()
	for _, p := range s.peers {
		if p.agreed.Load() != nil && p.hasBegun() && !p.sessionless && !p.exchange {
			all = append(all, &ClientSession{p: p})
		}
	}
	for l := range s.listens {
		all = append(all, &ClientSession{p: l.peer, l: l})
	}
	s.mu.Unlock()
	slices.SortFunc(all, func(a, b *ClientSession) int { return cmp.Compare(a.p.id, b.p.id) })
	return all
}

// hasBegun reports whether the handshake is over, so that the client may be asked.
func (p *peer) hasBegun() bool { return p.begun.Closed() }

func (cs *ClientSession) revision() *revision {
	if cs.l != nil {
		return cs.l.revision
	}
	return cs.p.agreed.Load()
}

func (cs *ClientSession) can() ability {
	if cs.l != nil {
		return cs.l.can
	}
	return cs.p.can
}

// Session names the session as Call.Session does; "" in a stateless revision.
func (cs *ClientSession) Session() string { return cs.p.session(cs.revision()) }

// Principal is who opened the session or subscribed, "" without an identity.
func (cs *ClientSession) Principal() string { return cs.p.who.principal }

// Revision is the protocol revision of the client, such as "2025-11-25".
func (cs *ClientSession) Revision() string { return cs.revision().Version }

// Client is the client as it describes itself; of one that listens, its capabilities alone.
func (cs *ClientSession) Client() Client { return describe(cs.p.client, cs.revision(), cs.can()) }

// Log sends a log record to the client, unless its session wants none of this level. data is anything that encodes as JSON. Errors:
// *UnsupportedError when the client's revision or the server has no log for it, *inflight.Cause when the session is over.
func (cs *ClientSession) Log(ctx context.Context, level Level, logger string, data any) error {
	rev := cs.revision()
	place, known := level.order()
	switch {
	case !known:
		return fmt.Errorf("server: unknown log level %q", level)
	case cs.l != nil:
		return &UnsupportedError{why: "the client can not be sent log messages: " + onlyListens}
	case rev.names[wire.OpLog] == "":
		return &UnsupportedError{why: "the client can not be sent log messages: its revision of the protocol, or this server, has none"}
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	raw, err := json.Marshal(data)
	if err == nil {
		err = cs.p.s.validate(raw, nil)
	}
	if err != nil {
		return fmt.Errorf("server: log message not sent: %w", err)
	}
	if place < logLevel(cs.p.level.Load()) {
		return nil
	}
	params := rev.AppendLog(nil, &wire.LogMessage{Level: string(level), Logger: logger, Data: raw})
	about := subject{peer: cs.p, ctx: cs.p.ctx}
	return cs.endCause(about.send(notification{revision: rev, op: wire.OpLog, params: params}))
}

// onlyListens is why a client of a stateless revision that listens is sent nothing else.
const onlyListens = "it has no session, and gets only what it subscribed to"

func (cs *ClientSession) env() (*Server, *revision, check.Account) {
	return cs.p.s, cs.revision(), nil
}

func (cs *ClientSession) permits(*task.Question) error { return nil }

func (cs *ClientSession) adapt(q task.Question) (task.Question, *UnsupportedError) {
	if cs.l != nil {
		return q, &UnsupportedError{why: ErrUnsupported.Error() + ": " + onlyListens}
	}
	return cs.revision().adaptFor(cs.can(), q)
}

// ask asks the client on the stream of its session.
func (cs *ClientSession) ask(ctx context.Context, q task.Question, _ answerCheck) ([]byte, error) {
	p := cs.p
	if !p.live.add() {
		return nil, cs.endCause(errSilenced)
	}
	defer p.live.done()
	began := time.Now()
	cs.observeQuestion(QuestionAsked, q.Name, began, nil)
	data, err := (&asking{about: subject{peer: p}, parent: p.ctx, waiter: ctx}).send(q)
	cs.observeQuestion(QuestionEnded, q.Name, began, err)
	if errors.Is(err, task.ErrUnanswered) {
		return nil, fmt.Errorf("%w: %q", ErrQuestionTimeout, q.Name)
	}
	return data, cs.endCause(err)
}

// endCause returns err, or the cause of the session's end if err says that the session is closed.
func (cs *ClientSession) endCause(err error) error {
	if !errors.Is(err, errSilenced) && !errors.Is(err, rpc.ErrClosed) {
		return err
	}
	if cause := context.Cause(cs.p.ctx); cause != nil {
		return cause
	}
	return &inflight.Cause{Source: inflight.SourceDisconnect}
}
