package rate

import (
	"sync"
	"time"
)

// Digest keeps messages that clients can cause at will from filling the log: the first of a second is for the log, the others are counted, and their
// number is logged when the second is over. The zero value is not used; Summary is set.
type Digest struct {
	// Summary logs how many more there were of one kind.
	Summary func(kind string, more int)

	mu   sync.Mutex
	more map[string]int // by kind, in this second
}

// maxKinds bounds the kinds of one second; the rest counts as the kind "".
const maxKinds = 1_000

// First counts one of a kind, and reports whether it is the first within a second; the caller then logs it.
func (d *Digest) First(kind string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.more == nil {
		d.more = map[string]int{}
		time.AfterFunc(time.Second, d.summarize)
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

// summarize ends the second, and reports how many of each kind were left out.
func (d *Digest) summarize() {
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
