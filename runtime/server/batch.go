package server

import (
	"cmp"
	"slices"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// batch is an array of messages that came as one frame (CAN24). Each is served, tracked and cancelled by itself. Its answers are held until the last
// one is there, and then written as one array; until then a request can still be cancelled. Answers that can not wait go in an array of their own:
// see hold and writeFiles.
type batch struct {
	p     *peer
	about rpc.ID // the request on whose stream the array is written; zero on a connection

	writer chan struct{} // a lock: whoever writes an array holds it until the client has read the array

	mu       sync.Mutex
	pending  rpc.ByID[bool] // requests that are being served
	answers  []heldAnswer
	bytes    int64 // that count in the client's account until the answers are written
	received bool  // the whole array was received, and nobody has taken the batch for writing yet
	begun    bool  // some answers were written before the others
	over     bool  // nothing is held or counted any more
}

// heldSize is about how many bytes a message takes until its batch is answered, besides its id and answer: entries in maps, and the error that may
// replace the answer.
const heldSize = 1 << 10

// heldAnswer is an answer that waits for the rest of its batch. Whoever takes it out of the batch closes its file.
type heldAnswer struct {
	answerPart
	retires retirer // the request: the answer is written unless that was cancelled meanwhile; nil: it refuses a request that was never in flight
}

// isRefusal reports whether the answer refuses a request. Another request in flight may have the same id.
func (a heldAnswer) isRefusal() bool { return a.retires == nil }

func (a heldAnswer) isOfRequest() bool { return a.retires != nil }

// receiveBatch handles the messages of the array in r, in their order.
func (p *peer) receiveBatch(r *request, got *Receipt) {
	messages, err := rpc.Batch(r.frame, p.s.cfg.limits)
	held := 2*int64(len(r.frame)) + heldSize*int64(len(messages)) + p.cost // what the transport holds for a request (Costly)
	if err == nil {
		err = p.charge(held)
	}
	if err != nil {
		got.Refused, got.Answered = err, true
		p.answerInReadLoop(r.about, rpc.ID{}, err)
		return
	}
	b := &batch{p: p, about: r.about, writer: make(chan struct{}, 1), pending: rpc.ByID[bool]{}, bytes: held}
	p.batches.add(b)
	p.receiving = b
	defer func() { // also when the application ends the goroutine by runtime.Goexit
		p.receiving = nil
		got.Answered = b.close()
	}()
	var refused *rpc.Error // the first message that was neither accepted nor answered
	some := false          // another one was
	for _, frame := range messages {
		m := p.s.newRequest(p)
		m.frame = append(m.frame[:0], frame...)
		m.values, m.header = r.values, r.header // context values and header of the frame's request
		var one Receipt
		if !p.receive(m, nil, &one) {
			m.release()
		}
		some = some || one.Answered || one.Refused == nil
		refused = cmp.Or(refused, one.Refused)
		got.recordings = append(got.recordings, one.recordings...)
	}
	switch {
	case some:
	case len(messages) == 1:
		got.Refused = refused
	default:
		got.Refused = rpc.Errorf(refused.Code, "none of the %d messages is accepted; the first: %s", len(messages), refused.Message)
	}
}

// expect notes that a request of the batch is about to be served.
func (b *batch) expect(e *inflight.Entry) {
	id := e.ID()
	all := &b.p.batches
	all.mu.Lock()
	all.of.Set(id, b)
	all.mu.Unlock()
	all.open.Add(1)
	b.mu.Lock()
	b.pending.Set(id, true)
	b.mu.Unlock()
	if e.Err() != nil { // the request was cancelled before the batch expected it
		b.end(id)
	}
}

// holdForBatch keeps an answer if its request came in a batch, and reports whether it did.
func (p *peer) holdForBatch(id rpc.ID, m *outgoing) bool {
	b := p.batchOf(id)
	if b == nil {
		return false
	}
	if e, ok := m.retires.(*inflight.Entry); ok {
		e.Pause() // it can not time out any more
	}
	if m.long != nil {
		b.add(heldAnswer{m.long.parts[0], m.retires}, 0) // the answer to one request is one part, whose file counts in Server.files
	} else {
		b.hold(id, m)
	}
	return true
}

// hold keeps a copy of an answer, and counts it twice, since it is copied again when it is written. An answer that does not fit into the client's
// account is written at once, in an array of its own. The caller holds the gate, unless m.retires is nil.
func (b *batch) hold(id rpc.ID, m *outgoing) {
	frame, retires := m.frame, m.retires
	n := 2 * int64(len(frame))
	if err := b.p.charge(n); err != nil {
		if retires != nil {
			cancelled := !b.retire(&heldAnswer{answerPart{id: id}, retires})
			written := !cancelled && b.writeAlone(m)
			if cancelled || written {
				if _, complete := b.remove(id); complete {
					b.flush()
				}
				return
			}
			retires = retired{} // the batch has the error in place of the answer
		}
		n, frame = 0, rpc.AppendError(nil, id, err)
	} else {
		frame = append([]byte(nil), frame...)
	}
	b.add(heldAnswer{answerPart{id: id, frame: frame}, retires}, n)
}

// writeAlone writes an answer before the others, and reports whether that succeeded.
func (b *batch) writeAlone(m *outgoing) bool {
	if b.p.out.Write(b.about, false, array(m.frame)) != nil {
		if m.torn != nil {
			*m.torn = true
		}
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begun = true
	return true
}

// add adds an answer for which n bytes are counted already.
func (b *batch) add(a heldAnswer, n int64) {
	b.mu.Lock()
	if b.over {
		b.mu.Unlock()
		b.p.refund(n)
		return
	}
	b.bytes += n
	b.answers = append(b.answers, a)
	if a.file != nil {
		a.file.kept = true
	}
	if a.isOfRequest() {
		b.pending.Delete(a.id)
	}
	complete := b.takeComplete()
	b.mu.Unlock()
	switch {
	case complete:
		b.flush()
	case a.file != nil && b.p.s.files.lacking():
		b.writeFiles()
	}
}

// array puts brackets around a frame; it may reuse frame's memory.
func array(frame []byte) []byte {
	n := len(frame)
	frame = append(frame, 0, 0)
	copy(frame[1:], frame[:n])
	frame[0], frame[n+1] = '[', ']'
	return frame
}

// retired stands for a request that is not in flight any more, and may still be answered.
type retired struct{}

// Retire implements retirer.
func (retired) Retire() bool { return true }

// end notes that a request gets no answer. An answer that is held already is dropped when the batch is written.
func (b *batch) end(id rpc.ID) {
	pending, complete := b.remove(id)
	if !pending {
		return
	}
	b.p.batches.free(id, b)
	if complete {
		b.flush()
	}
}

// remove ends the batch's wait for a request, and reports whether the batch waited for it, and whether the batch is complete now.
func (b *batch) remove(id rpc.ID) (pending, complete bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	pending = b.pending.Get(id)
	b.pending.Delete(id)
	return pending, pending && b.takeComplete()
}

// close ends the receiving of the batch, and reports whether it is answered. If all answers are there already, the read loop of a connection
// writes them itself: while a client does not read its refusals, nothing more is read from it. With a stream per request, the caller of Receive sends
// what was written only after close has returned, so another goroutine writes.
func (b *batch) close() (answered bool) {
	b.mu.Lock()
	b.received = true
	answered = b.begun || len(b.pending)+len(b.answers) > 0
	complete := b.takeComplete()
	b.mu.Unlock()
	switch {
	case !complete:
	case !answered:
		b.drop()
	case b.p.streams:
		b.flush()
	default:
		b.write()
	}
	return answered
}

// takeComplete takes the batch for writing when all answers are there, and reports whether it did. It does so once, because it resets received.
// The caller holds b.mu.
func (b *batch) takeComplete() bool {
	complete := b.received && len(b.pending) == 0
	b.received = b.received && !complete
	return complete
}

// flush writes the answers in another goroutine: its caller may hold the gate, or be the read loop.
func (b *batch) flush() {
	if !b.inBackground(b.write) {
		b.drop()
	}
}

// inBackground runs write in a goroutine; false: the peer has ended.
func (b *batch) inBackground(write func()) bool {
	if !b.p.live.add() {
		return false
	}
	b.p.writing.Add(1)
	go func() {
		defer b.p.endWriter()
		write()
	}()
	return true
}

// write writes the answers, and drops the batch when they are read.
func (b *batch) write() {
	b.writer <- struct{}{} // a client reads one array after the other
	defer func() { <-b.writer }()
	defer b.drop()
	b.writeTaken(true)
}

// writeFiles writes the answers that are in files before the batch is complete, because other answers, perhaps of this batch, wait for space for files
// (TSK28). It does not wait for the client.
func (b *batch) writeFiles() {
	if !b.hasFiles() {
		return
	}
	b.inBackground(func() {
		for b.tryWriteFiles() && b.p.s.files.lacking() && b.hasFiles() { // others were added while the client read
		}
	})
}

// tryWriteFiles writes the answers that are in files, unless the client still has another array to read.
func (b *batch) tryWriteFiles() bool {
	select {
	case b.writer <- struct{}{}:
		defer func() { <-b.writer }()
		b.writeTaken(false)
		return true
	default:
		return false
	}
}

func (b *batch) hasFiles() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.answers, inFile)
}

func inFile(a heldAnswer) bool { return a.file != nil }

// writeTaken takes all answers, or those that are in files, writes them, and closes their files when they are read. The caller holds b.writer.
func (b *batch) writeTaken(all bool) {
	q := b.p.queueOf(b.about)
	taken, size := b.writeNow(all)
	defer closeFiles(taken)
	if q != nil {
		q.AwaitRead(size)
	}
}

// writeNow writes the answers of those requests that were not cancelled meanwhile; subject.writeNow says why it holds the gate.
func (b *batch) writeNow(all bool) (taken []heldAnswer, size int) {
	p := b.p
	p.drainAfterCancel()
	p.gate.RLock()
	defer p.gate.RUnlock()
	var parts []answerPart
	taken = b.take(func(a heldAnswer) bool {
		selected := all || inFile(a)
		if selected && (a.isRefusal() || b.retire(&a)) {
			parts = append(parts, a.answerPart)
			b.begun = true
		}
		return selected
	})
	m := outgoing{revision: p.revision, more: !all}
	switch whole := p.longAnswer(true, parts...); {
	case len(parts) == 0 && m.more:
		return taken, 0
	case len(parts) == 0: // all were cancelled
	case slices.ContainsFunc(taken, inFile):
		m.long = whole
	default:
		m.frame = whole.frame()
	}
	_ = p.writeAnswer(b.about, &m)
	return taken, m.size()
}

// take removes the selected answers from the batch and returns them. It calls selected with b.mu held.
func (b *batch) take(selected func(a heldAnswer) bool) (taken []heldAnswer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answers = slices.DeleteFunc(b.answers, func(a heldAnswer) bool {
		is := selected(a)
		if is {
			taken = append(taken, a)
		}
		return is
	})
	return taken
}

func closeFiles(answers []heldAnswer) {
	for _, a := range answers {
		if a.file != nil {
			a.file.close()
		}
	}
}

// drop ends the batch: its bytes do not count any more, and answers that come later are not kept. A second call does nothing.
func (b *batch) drop() {
	b.p.batches.remove(b)
	b.mu.Lock()
	n, left := b.bytes, b.answers
	b.answers, b.bytes, b.over = nil, 0, true
	b.mu.Unlock()
	closeFiles(left)
	b.p.refund(n)
}

// withdraw drops those held answers to a cancelled request that selected returns true for.
func (b *batch) withdraw(id rpc.ID, selected func(heldAnswer) bool) {
	taken := b.take(func(a heldAnswer) bool { return a.id.Same(id) && selected(a) })
	closeFiles(taken)
	if slices.ContainsFunc(taken, heldAnswer.isOfRequest) {
		b.p.batches.free(id, b)
	}
}

// retire forgets the batch of a held answer's request, and reports whether the answer may be written.
func (b *batch) retire(a *heldAnswer) bool {
	all := &b.p.batches
	all.mu.Lock()
	defer all.mu.Unlock()
	all.forget(a.id)
	return a.retires.Retire()
}
