package server

import (
	"io"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// batch is an array of messages that came as one frame (CAN24). Each is served, tracked and cancelled by itself. Its answers are held until
// the last one is there, and then written as one array; until then a request can still be cancelled.
type batch struct {
	p     *peer
	about rpc.ID // what the array is written about; zero on a connection

	mu       sync.Mutex
	pending  rpc.ByID[bool] // requests that are being served
	answers  []heldAnswer
	files    []*spool // that have some of the answers
	bytes    int64    // that count for the client until the answers are written
	received bool     // all of it
	over     bool     // nothing is held or counted any more
}

// heldSize is about what a message takes until its batch is answered, beside the texts of its id and answer: its places in the maps, and
// the error that says why there is no other answer.
const heldSize = 1 << 10

// heldAnswer is written when its request may be retired then; nil: it is a refusal. What a file has of it is closed with the batch.
type heldAnswer struct {
	answerPart
	retires retirer
}

// batches finds the batch of a request. Its zero value is ready to use.
type batches struct {
	open atomic.Int32 // how many requests are in of
	mu   sync.Mutex
	of   rpc.ByID[*batch]
	all  map[*batch]struct{} // those that count
}

// receiveBatch handles the array in r as the messages that are in it, in their order.
func (p *peer) receiveBatch(r *request, got *Receipt) {
	messages, err := rpc.Batch(r.frame, p.s.cfg.limits)
	held := 2*int64(len(r.frame)) + heldSize*int64(len(messages)) + p.cost
	if err == nil {
		err = p.keep(held)
	}
	if err != nil {
		got.Refused, got.Answered = err, true
		p.answerInReader(r.about, rpc.ID{}, err)
		return
	}
	b := &batch{p: p, about: r.about, pending: rpc.ByID[bool]{}, bytes: held}
	p.batches.add(b)
	p.batch = b
	defer func() { // also when the application ends the goroutine by runtime.Goexit
		p.batch = nil
		got.Answered = b.close()
	}()
	for _, frame := range messages {
		m := p.s.newRequest(p)
		m.frame = append(m.frame[:0], frame...)
		m.values, m.header = r.values, r.header
		if !p.receive(m, &Receipt{}) {
			m.release()
		}
	}
}

// expect notes that a request of the batch is about to be served.
func (b *batch) expect(e *inflight.Entry) {
	id := e.Key().ID
	all := &b.p.batches
	all.mu.Lock()
	all.of.Set(id, b)
	all.mu.Unlock()
	all.open.Add(1)
	b.mu.Lock()
	b.pending.Set(id, true)
	b.mu.Unlock()
	if e.Err() != nil { // it was cancelled before that could be noted here
		b.end(id)
	}
}

// batchOf is the batch of a request whose answer is not written yet, nil for none.
func (p *peer) batchOf(id rpc.ID) *batch {
	if p.batches.open.Load() == 0 {
		return nil
	}
	p.batches.mu.Lock()
	defer p.batches.mu.Unlock()
	return p.batches.of.Get(id)
}

// holdForBatch keeps an answer if its request came in a batch, and reports whether it did.
func (p *peer) holdForBatch(id rpc.ID, m outgoing) bool {
	b := p.batchOf(id)
	if b == nil {
		return false
	}
	if e, ok := m.retires.(*inflight.Entry); ok {
		e.Pause() // it is done in time
	}
	if m.long != nil {
		b.add(heldAnswer{m.long.parts[0], m.retires}, 0)
	} else {
		b.hold(id, m.frame, m.retires)
	}
	return true
}

// hold keeps a copy of an answer, which counts twice: it is copied when it is written, too. One that is more than the client may have
// kept is written at once, in an array of its own. The gate is held.
func (b *batch) hold(id rpc.ID, frame []byte, retires retirer) {
	n := 2 * int64(len(frame))
	if err := b.p.keep(n); err != nil {
		if retires != nil {
			if !b.retire(&heldAnswer{answerPart{id: id}, retires}) || b.p.out.Write(b.about, false, array(frame)) == nil {
				if _, complete := b.remove(id); complete {
					b.flush()
				}
				return
			}
			retires = retired{}
		}
		n, frame = 0, rpc.AppendError(nil, id, err)
	} else {
		frame = append([]byte(nil), frame...)
	}
	b.add(heldAnswer{answerPart{id: id, frame: frame}, retires}, n)
}

// add adds an answer that counts n bytes already.
func (b *batch) add(a heldAnswer, n int64) {
	b.mu.Lock()
	if b.over {
		b.mu.Unlock()
		b.p.drop(n)
		return
	}
	b.bytes += n
	b.answers = append(b.answers, a)
	if a.file != nil {
		a.file.kept = true
		b.files = append(b.files, a.file)
	}
	if a.retires != nil { // a refused request may have the id of another one
		b.pending.Delete(a.id)
	}
	complete := b.takeComplete()
	b.mu.Unlock()
	if complete {
		b.flush()
	}
}

// array makes a frame an array, in place.
func array(frame []byte) []byte {
	n := len(frame)
	frame = append(frame, 0, 0)
	copy(frame[1:], frame[:n])
	frame[0], frame[n+1] = '[', ']'
	return frame
}

// retired is a request that may be answered, and is not in flight any more.
type retired struct{}

// Retire implements retirer.
func (retired) Retire() bool { return true }

// end notes that a request gets no answer. One whose answer is held already loses it when that is to be written.
func (b *batch) end(id rpc.ID) {
	pending, complete := b.remove(id)
	if !pending {
		return
	}
	b.p.batches.mu.Lock()
	b.p.batches.forget(id)
	b.p.batches.mu.Unlock()
	if complete {
		b.flush()
	}
}

// remove notes that nothing more comes of a request, and reports whether something was to come, and whether all of the batch is there now.
func (b *batch) remove(id rpc.ID) (pending, complete bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	pending = b.pending.Get(id)
	b.pending.Delete(id)
	return pending, pending && b.takeComplete()
}

// close ends the receiving of the batch, and reports whether it is answered. If all answers are there already, the read loop of a connection
// writes them itself: a client that does not read what it is refused is not read either. Where each request has a stream, whoever
// called this sends it to the client afterwards: to wait for the client here would be to wait for itself, so another goroutine writes.
func (b *batch) close() (answered bool) {
	b.mu.Lock()
	b.received = true
	answered = len(b.pending)+len(b.answers) > 0
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

// takeComplete takes the batch for writing when all answers are there, and reports whether it did, which is once. With b.mu.
func (b *batch) takeComplete() bool {
	complete := b.received && len(b.pending) == 0
	b.received = b.received && !complete
	return complete
}

// flush writes the answers, and does not wait for that: its caller may hold the gate, or be the read loop.
func (b *batch) flush() {
	if !b.p.live.add() {
		b.drop()
		return
	}
	b.p.writing.Add(1)
	go func() {
		defer b.p.endWriter()
		b.write()
	}()
}

// write writes the answers, and lets go of them when they are read.
func (b *batch) write() {
	p := b.p
	defer b.drop()
	q := p.queue(b.about)
	size := b.writeNow()
	if q != nil {
		q.AwaitRead(size)
	}
}

// writeNow writes the answers of those requests that were not cancelled meanwhile; subject.writeNow tells why the gate is held.
func (b *batch) writeNow() (size int) {
	p := b.p
	p.drainAfterCancel()
	p.gate.RLock()
	defer p.gate.RUnlock()
	answers, long := b.take()
	all := &LongAnswer{array: true}
	for _, a := range answers {
		if a.retires == nil || b.retire(&a) {
			all.parts = append(all.parts, a.answerPart)
		}
	}
	m := outgoing{revision: p.revision, long: all}
	if n := all.Size(); len(all.parts) == 0 {
		m.long = nil // all were cancelled
	} else if !long {
		m.long, m.frame = nil, make([]byte, n)
		_, _ = io.ReadFull(all.Reader(), m.frame) // nothing in memory fails
	}
	_ = p.writeAnswer(b.about, &m)
	return m.size()
}

// take returns the answers, which are written now, and whether some are in files.
func (b *batch) take() (answers []heldAnswer, long bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	answers, b.answers = b.answers, nil
	return answers, len(b.files) > 0
}

// drop ends the batch: it does not count any more, and holds nothing that comes late. A second time it does nothing.
func (b *batch) drop() {
	b.p.batches.remove(b)
	b.mu.Lock()
	n, files := b.bytes, b.files
	b.answers, b.files, b.bytes, b.over = nil, nil, 0, true
	b.mu.Unlock()
	for _, f := range files {
		f.close()
	}
	b.p.drop(n)
}

func (b *batch) withdraw(id rpc.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answers = slices.DeleteFunc(b.answers, func(a heldAnswer) bool { return a.id.Same(id) })
}

// retire reports whether a request may be answered, and lets go of its id.
func (b *batch) retire(a *heldAnswer) bool {
	all := &b.p.batches
	all.mu.Lock()
	defer all.mu.Unlock()
	all.forget(a.id)
	return a.retires.Retire()
}

// forget lets go of an id. With all.mu.
func (all *batches) forget(id rpc.ID) {
	if all.of.Get(id) != nil {
		all.of.Delete(id)
		all.open.Add(-1)
	}
}

func (all *batches) add(b *batch) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.all == nil {
		all.of, all.all = rpc.ByID[*batch]{}, map[*batch]struct{}{}
	}
	all.all[b] = struct{}{}
}

func (all *batches) remove(b *batch) {
	all.mu.Lock()
	defer all.mu.Unlock()
	delete(all.all, b)
}

// list returns those that are not written yet.
func (all *batches) list() []*batch {
	all.mu.Lock()
	defer all.mu.Unlock()
	return slices.Collect(maps.Keys(all.all))
}

// withdraw is for the cancellation of a request: what it was answered, a refusal for example, leaves its batch, if that is not written
// yet (CAN02).
func (all *batches) withdraw(id rpc.ID) {
	for _, b := range all.list() {
		b.withdraw(id)
	}
}
