package server

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// subject is what a message is about: a request, a task, or a question of one of them. Every such message goes through write.
type subject struct {
	peer  *peer
	id    rpc.ID    // the client's request whose stream carries it; zero: the session's stream
	since uint64    // cancellations that were read before that request
	life  life      // nil: it lasts as long as the connection
	task  *taskLife // nil: it belongs to no task
}

// life is the context of a request, of a task's run, or of whoever waits for an answer. Once Err is not nil, nothing more is written.
type life interface{ Err() error }

// statement is one thing to say about a subject.
type statement struct {
	frame []byte
	// An answer, in a revision, with its error if it is one. Retiring the request is the permission to write it.
	retires retirer
	wire    *wire
	err     *rpc.Error
	// For a question: set to the stream that has it.
	carrier *Carrier
}

type retirer interface{ Retire() bool }

// errSilenced is why a message was not written.
var errSilenced = errors.New("server: what the message is about is over")

// subject is what messages about the request are written with.
func (r *request) subject() subject {
	return subject{peer: r.p, id: r.id, since: r.since, life: r.entry}
}

// subject is what messages of the call are written with. It has a peer.
func (c *Call) subject() subject {
	if c.run != nil {
		return subject{peer: c.peer, life: c.run.Context(), task: &c.local.life}
	}
	return subject{peer: c.peer, id: c.ID(), since: c.since, life: c.entry}
}

// write decides whether m may still be written, and writes it. It is the one place that does (CAN29), for every kind of message
// about a request or task. The gate is held from the decision until the frame is accepted, so whoever ends the subject can wait
// until nothing is on its way any more.
func (s *subject) write(m statement) error {
	p := s.peer
	p.settle(s.since)
	p.gate.RLock()
	defer p.gate.RUnlock()
	if s.task != nil {
		s.task.gate.RLock()
		defer s.task.gate.RUnlock()
	}
	switch {
	case s.task.ended(), s.life != nil && s.life.Err() != nil, m.retires != nil && !m.retires.Retire():
		return errSilenced
	case m.retires != nil:
		p.answer(m.wire, s.id, m.frame, m.err)
		return nil
	case m.carrier != nil && p.attended != nil && !p.gone.Load():
		var err error
		*m.carrier, err = p.attended.Ask(s.id, m.frame)
		return err
	}
	return p.write(s.id, m.frame)
}

// tell writes a notification or a request.
func (s *subject) tell(frame []byte) error { return s.write(statement{frame: frame}) }

// settle returns when everything is written that was permitted before the first n cancellations were read. The read loop itself does
// not wait, so a peer that writes much before it reads is not slowed by its cancellations.
func (p *peer) settle(n uint64) {
	if p.settled.Load() >= n {
		return
	}
	p.gate.Lock()
	defer p.gate.Unlock()
	p.settled.Store(max(n, p.settled.Load()))
}

// barrier returns when everything that was permitted before is written.
func (p *peer) barrier() {
	p.gate.Lock()
	defer p.gate.Unlock()
}

// answer sends an answer. err is the error that it is, if any, for transports with an error form of their own.
func (p *peer) answer(w *wire, id rpc.ID, frame []byte, err *rpc.Error) {
	if p.exchange {
		p.ended = Result{Err: err}
		if err != nil {
			p.ended.Status = w.status(err)
		}
	}
	if err != nil && p.refuser != nil {
		p.refuser.Refuse(id, err, w.status(err))
	}
	if err := p.out.Write(id, true, frame); err != nil {
		p.s.log.Debug("frame not written", "peer", p.id, "error", err)
	}
}

// write sends a frame that is no answer; see subject.write.
func (p *peer) write(about rpc.ID, frame []byte) error {
	if p.gone.Load() {
		return errSilenced
	}
	err := p.out.Write(about, false, frame)
	if err != nil {
		p.s.log.Debug("frame not written", "peer", p.id, "error", err)
	}
	return err
}

// refuse answers, in the read loop, a request that is not in flight.
func (p *peer) refuse(id rpc.ID, err *rpc.Error) {
	p.answersInline(id)
	p.settle(p.cancelled)
	p.answer(p.wire, id, rpc.AppendError(nil, id, err), err)
}

// answersInline tells the transport that the read loop is about to answer.
func (p *peer) answersInline(id rpc.ID) {
	if p.inline != nil {
		p.inline.AnswersInline(id)
	}
}

// taskLife is a task as its session sees it. While it lasts, progress, log records, questions and changes may be written. It ends before
// an answer or a notification says so (PRO01).
type taskLife struct {
	peer    *peer     // the session that created the task
	expires time.Time // zero: never
	over    atomic.Bool
	told    uint64       // version of the task that the session was told last; of tellChanges alone
	gate    sync.RWMutex // as peer.gate, for this task
}

// ended tells whether nothing of the task may be written any more. A nil taskLife does not end.
func (l *taskLife) ended() bool {
	return l != nil && (l.over.Load() || !l.expires.IsZero() && !time.Now().Before(l.expires))
}

// end silences the task. When it returns, nothing of it is still to be written.
func (l *taskLife) end() {
	if l == nil {
		return
	}
	l.over.Store(true)
	l.gate.Lock()
	defer l.gate.Unlock()
}

// silenceIfOver ends the life of a task whose end is about to be told.
func (s *Server) silenceIfOver(t *task.Task) {
	if t.Status.Terminal() {
		s.life(t.ID).end()
	}
}

// life is the life of a task that has a session, nil when that is gone or the task is over and its end was told.
func (s *Server) life(id string) *taskLife {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[id]
}

// answer writes the answer in m.frame, or err in its place, if the request may still be answered.
func (s *subject) answer(m statement, space *room, err error) (frame []byte, silenced error) {
	if err != nil {
		m.err = asRPC(err)
		m.frame = rpc.AppendError(m.frame[:0], s.id, m.err)
	}
	space.weigh(len(m.frame))
	return m.frame, s.write(m)
}
