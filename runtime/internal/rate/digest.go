package rate

import (
	"sync"
	"time"
)

// Digest keeps what strangers repeat from filling the log: the first of a second is for the log, the others are counted, and their
// number is logged when the second is over. The zero value is not used; Summary is set.
type Digest struct {
	// Summary logs how many more there were of one kind.
	Summary func(kind string, more int)

	mu   sync.Mutex
	more map[string]int // by kind, in this second
}

// maxKinds bounds the kinds of one second; the rest counts as the kind "".
const maxKinds = 1_000

// First tells whether this is the first of its kind for a second, which is then logged by the caller.
func (d *Digest) First(kind string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.more == nil {
		d.more = map[string]int{}
		time.AfterFunc(time.Second, d.tell)
	}
	if n, known := d.more[kind]; known {
		d.more[kind] = n + 1
		return false
	}
	if len(d.more) >= maxKinds {
		d.more[""]++
		return false
	}
	d.more[kind] = 0
	return true
}

// tell ends the second.
func (d *Digest) tell() {
	d.mu.Lock()
	more := d.more
	d.more = nil
	d.mu.Unlock()
	for kind, n := range more {
		if n > 0 {
			d.Summary(kind, n)
		}
	}
}
