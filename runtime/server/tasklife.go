package server

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// taskLife is a task as its session sees it. While it lasts, progress, log records, questions and changes may be written. It ends before
// an answer or a notification says that the task is over (PRO01).
type taskLife struct {
	peer    *peer      // the session that created the task
	local   *taskLocal // the one that contains this taskLife
	expires time.Time  // zero: never
	over    atomic.Bool
	sent    uint64 // version of the task that was sent to the session last; for sendChanges only

	mu      sync.Mutex
	writing []*peer       // peers to which something of the task is being written
	quiet   chan struct{} // closed when writing is empty; nil: nobody waits for that
	gone    string        // the id of a task that is gone, while something of it is being written
}

// ended reports whether nothing of the task may be written any more. A nil taskLife does not end.
func (l *taskLife) ended() bool {
	return l != nil && (l.over.Load() || !l.expires.IsZero() && !time.Now().Before(l.expires))
}

// beginWrite counts p in writing until endWrite, and reports whether something of the task may be written to it. If not, p is not counted.
func (l *taskLife) beginWrite(p *peer) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended() {
		return false
	}
	l.writing = append(l.writing, p)
	return true
}

func (l *taskLife) endWrite(p *peer) {
	l.mu.Lock()
	at, last := slices.Index(l.writing, p), len(l.writing)-1
	l.writing[at], l.writing[last] = l.writing[last], nil
	l.writing = l.writing[:last]
	if last == 0 && l.quiet != nil {
		close(l.quiet)
		l.quiet = nil
	}
	gone := ""
	if last == 0 {
		gone = l.gone
	}
	l.mu.Unlock()
	if gone != "" {
		p.s.forgetTaskLife(gone, l)
	}
}

// leave ends the life of a task that is gone and marked as over, and does not wait. It reports whether nothing of the task is being written. Otherwise the last
// writer removes the life from Server.taskLives: until then an answer that says that the task is gone finds it there, and waits for the writer.
func (l *taskLife) leave(id string) (quiet bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.writing) > 0 {
		l.gone = id
	}
	return l.gone == ""
}

// markOver permits no further writes, and tells the transport when the session has no unfinished task any more. The caller holds no lock.
func (l *taskLife) markOver() {
	if l == nil || l.over.Swap(true) || !l.peer.takesTasksAlong() || l.peer.ownTasks.Add(-1) > 0 {
		return
	}
	if out, ok := l.peer.out.(Idler); ok {
		out.TasksOver()
	}
}

// end ends the life. When it returns, nothing of the task is still to be written. A client that does not read holds this up only for
// maxStall: then the write to it is given up.
func (l *taskLife) end() {
	if l == nil {
		return
	}
	quiet := l.silence()
	if quiet == nil {
		return
	}
	stall := time.NewTimer(maxStall)
	defer stall.Stop()
	for {
		select {
		case <-quiet:
			return
		case <-stall.C:
			l.dropStalledWrites()
			stall.Reset(checkEvery)
		}
	}
}

// silence permits no further writes, and returns a channel that is closed when the last one has ended, nil if there is none.
func (l *taskLife) silence() <-chan struct{} {
	l.markOver()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.writing) > 0 && l.quiet == nil {
		l.quiet = make(chan struct{})
	}
	return l.quiet
}

// dropStalledWrites gives up writes about the task to peers that have stopped reading.
func (l *taskLife) dropStalledWrites() {
	l.mu.Lock()
	peers := slices.Clone(l.writing)
	l.mu.Unlock()
	for _, p := range peers {
		out, ok := p.out.(Unread)
		if !ok {
			continue
		}
		p.s.log.Warn("what is written is given up: the client does not read, and the end of its task waits", "peer", p.id, "principal", p.who.principal)
		if conn, ok := out.(*connOutlet); ok {
			conn.giveUpAny(maxStall)
		} else {
			out.GiveUp(maxStall)
		}
	}
}
