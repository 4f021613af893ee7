package server

import (
	"sync"
	"time"
)

// reputation is what is known of how a caller reads its answers. While some wait for a share of a budget, those go first who have shown that
// they read, and those last who have not read what they got: so however many do not read, a caller that does waits for few of them (TSK28).
type reputation uint8

const (
	reads   reputation = iota // a large answer, lately
	unknown                   // or new
	stalls                    // it was given up on lately
	reputationCount
)

// For how long it counts that a caller was given up on, and that it read. What the operating system takes of an answer looks as if it was read,
// so a caller that stalled is not believed before that. One that read is taken for one that reads for as long as it may be between two calls
// of a model, so that it is not worth to read once and then hoard.
const (
	stallKept = time.Minute
	readKept  = 10 * time.Minute
)

// reputations remembers the reputation of callers. Its zero value knows nobody.
type reputations struct {
	mu          sync.Mutex
	now, before map[Requestor]readHistory // before has those that are not in now; it is forgotten when now is full
}

type readHistory struct{ stalled, read time.Time }

// maxSeen is how many callers are known at least.
const maxSeen = 4096

// of is the reputation of a caller.
func (k *reputations) of(who Requestor) reputation {
	k.mu.Lock()
	defer k.mu.Unlock()
	is, known := k.now[who]
	if !known {
		is = k.before[who]
	}
	switch {
	case !is.stalled.IsZero() && time.Since(is.stalled) < stallKept:
		return stalls
	case !is.read.IsZero() && time.Since(is.read) < readKept:
		return reads
	}
	return unknown
}

// note changes what is known of a caller. Long names are not kept.
func (k *reputations) note(who Requestor, change func(*readHistory)) {
	if len(who.principal)+len(who.key) > maxCaller {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	is, known := k.now[who]
	if !known {
		is = k.before[who]
		if len(k.now) >= maxSeen || k.now == nil {
			k.now, k.before = map[Requestor]readHistory{}, k.now
		}
	}
	change(&is)
	k.now[who] = is
}

// hasRead notes that a caller took a large answer.
func (k *reputations) hasRead(who Requestor) {
	k.note(who, func(is *readHistory) { is.read = time.Now() })
}

// hasStalled notes that a caller was given up on.
func (k *reputations) hasStalled(who Requestor) {
	k.note(who, func(is *readHistory) { *is = readHistory{stalled: time.Now()} })
}
