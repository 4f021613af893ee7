package server

import (
	"sync"
	"time"
)

// reputation says how a caller has read its large answers. Among callers that wait for bytes of a budget, those that have read go first, and
// those that were given up on go last: so a caller that reads waits for few of those that do not, however many they are (TSK28).
type reputation uint8

const (
	reads   reputation = iota // it read a large answer lately
	unknown                   // neither is remembered
	stalls                    // it was given up on lately
	reputationCount
)

// How long it is remembered that a caller was given up on, and that it read. Bytes that the operating system took look as if they were read, so
// a caller that stalled can not clear itself earlier. One that read is trusted for as long as a model may take between two calls, so that it
// does not pay to read once and then leave many unread.
const (
	stallKept = time.Minute
	readKept  = 10 * time.Minute
)

// reputations remembers the reputation of callers. Its zero value knows nobody.
type reputations struct {
	mu          sync.Mutex
	now, before map[Requestor]readHistory // two generations: when now is full, it replaces before
}

type readHistory struct{ stalled, read time.Time }

// maxSeen is how many callers are remembered at least.
const maxSeen = 4096

func (k *reputations) of(who Requestor) reputation {
	k.mu.Lock()
	defer k.mu.Unlock()
	history, known := k.now[who]
	if !known {
		history = k.before[who]
	}
	switch {
	case !history.stalled.IsZero() && time.Since(history.stalled) < stallKept:
		return stalls
	case !history.read.IsZero() && time.Since(history.read) < readKept:
		return reads
	}
	return unknown
}

// note changes what is remembered of a caller. Callers with long names are not remembered.
func (k *reputations) note(who Requestor, change func(*readHistory)) {
	if len(who.principal)+len(who.key) > maxCaller {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	history, known := k.now[who]
	if !known {
		history = k.before[who]
		if len(k.now) >= maxSeen || k.now == nil {
			k.now, k.before = map[Requestor]readHistory{}, k.now
		}
	}
	change(&history)
	k.now[who] = history
}

// hasRead notes that a caller took a large answer.
func (k *reputations) hasRead(who Requestor) {
	k.note(who, func(h *readHistory) { h.read = time.Now() })
}

func (k *reputations) hasStalled(who Requestor) {
	k.note(who, func(h *readHistory) { *h = readHistory{stalled: time.Now()} })
}
