package server

import (
	"cmp"
	"errors"
	"math"
	"sync/atomic"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// subject is what a message is about: a request, a task, or a question of one of them. Every such message goes through write, with the exceptions named
// at writeNow.
type subject struct {
	peer *peer
	id   rpc.ID // the client's request whose stream carries it; zero: the session's stream
	// Once ctx has ended, nothing more is written. It is a context (an *inflight.Entry is one), or for a question the asking; nil: the subject lasts as long
	// as the connection.
	ctx       interface{ Err() error }
	task      *taskLife // nil: the message is about no task, or about one that Server.taskLife does not have; then ctx alone decides
	withdrawn Carrier   // the stream of the question that the message withdraws; nil: it withdraws none, or the transport does not know the stream
}

// outgoing is one message about a subject.
type outgoing struct {
	frame []byte
	// For an answer:
	retires  retirer     // the request's entry, or a timedOut (serve.go): the answer may be written if Retire returns true
	revision *revision   // that the answer is written in
	err      *rpc.Error  // set if the answer is an error
	trailer  []byte      // follows the answer; nil: nothing does
	torn     *bool       // set if the frame was not written as a whole: then its buffer is not used again; nil: not needed
	long     *LongAnswer // the answer in place of frame; nil: frame is the answer
	more     bool        // of long: other answers of its batch follow it (batch.go)
	taken    *bool       // set to whether the client read the answer, as far as the transport knows, and not for an answer that its batch holds; nil: not needed
	// For a question:
	question *asking // its carrier is set to the stream that has it
}

type retirer interface{ Retire() bool }

// size is how many bytes the message has, at most the largest int.
func (m *outgoing) size() int {
	if m.long != nil {
		return int(min(m.long.Size(), math.MaxInt))
	}
	return len(m.frame)
}

// errSilenced is the error of a message that may not be written any more.
var errSilenced = errors.New("server: what the message is about has ended")

func (r *request) subject() subject {
	return subject{peer: r.p, id: r.requestID(), ctx: r.entry}
}

// subject returns the subject of the call's messages. Only for a call that has a peer.
func (c *Call) subject() subject {
	if c.taskRun != nil {
		return subject{peer: c.peer, ctx: c.taskRun.Context(), task: &c.local.ofTask().life} // one life for all runs of the task in this process
	}
	return subject{peer: c.peer, id: c.ID(), ctx: c.entry}
}

// write writes m if that is still permitted. While write waits for the peer to read, it holds neither the peer's gate nor the task's, provided that
// the outlet is Queued: a connection is written to within them. An answer does not
// wait for room in the queue: its bytes are reserved already (reservation.go). No error means that m was permitted, not that it arrived: an answer may
// still wait for the others of its batch.
func (s *subject) write(m outgoing) error {
	q := s.peer.queueOf(s.id)
	if q != nil && m.retires == nil {
		q.AwaitRoom(len(m.frame))
	}
	err := s.writeNow(&m)
	if q != nil && err == nil {
		taken := q.AwaitRead(m.size())
		if m.taken != nil {
			*m.taken = *m.taken && taken
		}
	}
	return err
}

// queueOf is where frames about the request wait for the peer; nil: Write waits itself, or there is nothing to wait for.
func (p *peer) queueOf(about rpc.ID) Queue {
	if p.queued == nil {
		return nil
	}
	return p.queued.Queue(about)
}

// writeNow decides whether m may still be written, and writes it. Every message about a request or task is decided on here (CAN29), except
// for answers that wait for their batch (batch.writeNow), those that are streamed (request.stream), and refusals of what never was in flight, which the
// read loop writes (answerInReadLoop). The gate is held from the decision until the frame is accepted, so whoever ends the subject can wait until nothing
// is on its way any more.
func (s *subject) writeNow(m *outgoing) error {
	p := s.peer
	p.drainAfterCancel()
	p.gate.RLock()
	defer p.gate.RUnlock()
	if s.task == nil {
		return s.writeInGate(m)
	}
	if !s.task.beginWrite(p) {
		return errSilenced
	}
	defer s.task.endWrite(p)
	return s.writeInGate(m)
}

// writeInGate is a part of writeNow. Apart from it, because with this many returns its defers would not be open-coded.
func (s *subject) writeInGate(m *outgoing) error {
	p := s.peer
	switch {
	case s.ctx != nil && s.ctx.Err() != nil:
		return errSilenced
	case m.retires != nil && p.batches.open.Load() > 0 && p.holdForBatch(s.id, m):
		return nil // the batch writes it: when it is complete, or earlier
	case m.retires != nil && !m.retires.Retire():
		return errSilenced
	case m.retires != nil:
		failed := p.writeAnswer(s.id, m)
		if m.torn != nil {
			*m.torn = failed != nil
		}
		if m.taken != nil {
			*m.taken = failed == nil
		}
		return nil
	case m.question != nil && p.attended != nil && !p.gone.Load(): // the outlet returns the stream that has the question
		var err error
		m.question.carrier, err = p.attended.Ask(s.id, m.frame, m.question.endUnkept)
		return err
	case s.withdrawn != nil && !p.gone.Load():
		return s.withdrawn.Withdraw(m.frame)
	}
	return p.write(s.id, m.frame)
}

func (p *peer) writeAnswer(id rpc.ID, m *outgoing) error {
	if m.long == nil {
		return p.answerWithTrailer(m.revision, id, m.frame, m.err, m.trailer)
	}
	err := p.copier().Copy(id, !m.more, m.long)
	if err != nil {
		p.s.log.Debug("answer not written", "peer", p.id, "error", err)
	}
	return err
}

// drainAfterCancel returns when everything is written that was permitted before the cancellations that were read until now. Every writer
// calls it before it takes the gate, because its message may show the peer that they were read. The read loop does not wait when it reads one, so
// a peer that writes much before it reads is not slowed by its cancellations.
func (p *peer) drainAfterCancel() {
	if n := p.cancels.Load(); n%2 == 0 && p.cancelsDrained.Load() >= n { // cancels is odd while one takes effect
		return // what was permitted before the last cancellation is written
	}
	p.gate.Lock()
	defer p.gate.Unlock()
	p.cancelsDrained.Store(p.cancels.Load())
}

// drainWriters returns when everything that was permitted before is written.
func (p *peer) drainWriters() {
	p.gate.Lock()
	defer p.gate.Unlock()
}

// answerInReadLoop answers a request that is not in flight with an error, in the read loop and on the stream of about.
func (p *peer) answerInReadLoop(about, id rpc.ID, err *rpc.Error) {
	p.announceInReadLoop(about)
	p.drainAfterCancel()
	_ = p.answerWithTrailer(p.revision, about, rpc.AppendError(nil, id, err), err, nil)
}

// answerWithTrailer sends an answer, and the trailer, which is the last message about the request; nil for none. err is set if the answer is an
// error: a transport that shows errors as such hears of it before the Write. It returns the transport's error, which is logged. An empty frame says that no answer will
// come; before any other frame, the caller has called drainAfterCancel.
func (p *peer) answerWithTrailer(rev *revision, id rpc.ID, frame []byte, err *rpc.Error, trailer []byte) (failed error) {
	status := 0
	if err != nil {
		status = cmp.Or(p.outcome.Status, rev.status(err)) // Exchange has set that of a refusal
	}
	if p.exchange {
		p.outcome = Result{Err: err, Status: status}
	}
	if err != nil && err.Code == rev.code(needsURLElicitation) {
		p.pagesSent.addRequired(err) // the client may be notified only of pages that it was sent to
	}
	if err != nil && p.refuser != nil {
		p.refuser.Refuse(id, err, status)
	}
	failed = p.out.Write(id, trailer == nil, frame)
	if failed == nil && trailer != nil {
		failed = p.out.Write(id, true, trailer)
	}
	if failed != nil {
		p.s.log.Debug("frame not written", "peer", p.id, "error", failed)
	}
	return failed
}

// write sends a frame other than an answer; see subject.write. Tasks may go on after their session was closed, but nothing is written to it any more.
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

// refuse answers the message in r, which is not in flight, with an error, in the read loop.
func (p *peer) refuse(r *request, id rpc.ID, err *rpc.Error) {
	if p.s.observed {
		p.observeRefusal(r, id, err)
	}
	if p.receiving != nil { // a batch is answered as a whole
		p.receiving.hold(id, &outgoing{frame: rpc.AppendError(nil, id, err)})
		return
	}
	p.answerInReadLoop(id, id, err)
}

// announceInReadLoop tells an Inline outlet that the read loop itself is about to answer.
func (p *peer) announceInReadLoop(id rpc.ID) {
	if p.inline != nil {
		p.inline.AnswersInline(id)
	}
}

// silenceIfOver ends the life of t if t is over: that state is about to be sent.
func (s *Server) silenceIfOver(t *task.Task) {
	if t.Status.Terminal() {
		s.taskLife(t.ID).end()
	}
}

// taskLife returns the life of a task; nil for one without a connected session (subject.task), and when the task is gone or its end was sent.
func (s *Server) taskLife(id string) *taskLife {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taskLives[id]
}

// ErrStalled is what Serve returns when the peer read nothing for five seconds while others waited to be answered, or for less, down to one second, if
// they waited for much (TSK28), or while the end of a task waited for what is written of it (CAN29). Over HTTP it is the error of a response that ended
// for one of these reasons, or because the shutdown waited for the response and its client read nothing for a second (LateStall).
var ErrStalled = errors.New("server: the peer does not read what it is sent, while others, the end of a task or a shutdown wait for that")

// connOutlet writes to a connection, which has one stream for everything.
type connOutlet struct {
	conn    rpc.Conn
	lent    rpc.Lending // conn as rpc.Lending; nil: it is none
	copying rpc.Copying // likewise
	failed  chan error  // receives why the connection has to end (nil: a write failed, and conn.Close returns its error); holds one
	opened  time.Time

	writing    atomic.Int64 // bytes of large frames that are being written, and of the parts in memory of copies
	copies     atomic.Int32 // answers that are being copied from their files
	progressAt atomic.Int64 // when a part of these frames or answers was last written, or the first one begun, as time since opened
	givenUp    atomic.Bool  // the connection was ended, because its client reads nothing
}

func newConnOutlet(conn rpc.Conn) *connOutlet {
	lent, _ := conn.(rpc.Lending)
	copying, _ := conn.(rpc.Copying)
	o := &connOutlet{conn: conn, lent: lent, copying: copying, failed: make(chan error, 1), opened: time.Now()}
	if r, ok := conn.(rpc.Reporting); ok {
		r.OnWrite(o.noteProgress)
	}
	return o
}

// Write implements Outlet. A write that failed ends the connection: every later one would fail, too.
func (o *connOutlet) Write(_ rpc.ID, last bool, frame []byte) error {
	if len(frame) == 0 {
		return nil
	}
	return o.orEnd(o.write(frame, last))
}

func (o *connOutlet) orEnd(err error) error {
	if err != nil {
		o.end(nil)
	}
	return err
}

// write writes a frame. One above smallAnswer counts among the unread answers meanwhile.
func (o *connOutlet) write(frame []byte, last bool) error {
	size := int64(len(frame))
	if size <= smallAnswer {
		return o.writeFrame(frame, last)
	}
	return o.counted(size, func() error { return o.writeFrame(frame, last) })
}

// counted counts size bytes among the unread answers until write has returned.
func (o *connOutlet) counted(size int64, write func() error) error {
	if o.writing.Load() == 0 {
		o.noteProgress()
	}
	o.writing.Add(size)
	err := write()
	o.noteProgress()
	o.writing.Add(-size)
	return err
}

// writeFrame writes a frame to the connection. The buffer of a last one is the connection's until it is written (rpc.Lending), because its request is over.
func (o *connOutlet) writeFrame(frame []byte, last bool) error {
	if last && o.lent != nil {
		return o.lent.WriteLent(frame)
	}
	return o.conn.WriteFrame(frame)
}

func (o *connOutlet) noteProgress() { o.progressAt.Store(int64(time.Since(o.opened))) }

// Stalled implements Unread.
func (o *connOutlet) Stalled(wait time.Duration) (bytes int64, ending bool) {
	if o.givenUp.Load() {
		return o.writing.Load(), true
	}
	if n := o.writing.Load(); n > 0 && time.Since(o.opened)-time.Duration(o.progressAt.Load()) >= wait {
		return n, false
	}
	return 0, false
}

// GiveUp implements Unread: it ends the connection, unless its large frames are still being read, or were read meanwhile.
func (o *connOutlet) GiveUp(wait time.Duration) {
	if n, _ := o.Stalled(wait); n > 0 {
		o.giveUp()
	}
}

// giveUpAny is GiveUp for a write of any size. Only large frames are counted, so where none is being written, a small one may be stuck.
func (o *connOutlet) giveUpAny(wait time.Duration) {
	if n, _ := o.Stalled(wait); n > 0 || o.writing.Load() == 0 {
		o.giveUp()
	}
}

func (o *connOutlet) giveUp() {
	o.givenUp.Store(true)
	o.end(ErrStalled)
}

// End implements Ender.
func (o *connOutlet) End(cause *inflight.Cause) { o.end(cause.Err) }

func (o *connOutlet) end(why error) {
	select {
	case o.failed <- why:
	default:
	}
}
