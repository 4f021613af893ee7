package client

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// cache keeps lists for as long as the server says, or until it says that they have changed. Each session has its own, so lists of several users
// are never mixed.
type cache struct {
	mu    sync.Mutex
	lists map[wire.Op]cachedList
	epoch int // how often forget was called
}

type cachedList struct {
	items   []json.RawMessage
	expires time.Time
}

// get returns a list that is kept, and the epoch for put if there is none.
func (c *cache) get(op wire.Op) ([]json.RawMessage, int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l, ok := c.lists[op]
	if !ok || !time.Now().Before(l.expires) {
		return nil, c.epoch, false
	}
	return l.items, c.epoch, true
}

// put keeps a list that was read since epoch, unless forget was called meanwhile.
func (c *cache) put(op wire.Op, items []json.RawMessage, expires time.Time, epoch int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !time.Now().Before(expires) || epoch != c.epoch {
		return
	}
	if c.lists == nil {
		c.lists = map[wire.Op]cachedList{}
	}
	c.lists[op] = cachedList{items, expires}
}

func (c *cache) forget(ops ...wire.Op) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.epoch++
	for _, op := range ops {
		delete(c.lists, op)
	}
}
