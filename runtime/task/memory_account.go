package task

import (
	"sync"
	"sync/atomic"
)

// account counts what a quota bounds: the tasks of one owner, or of all that share a key.
type account struct {
	size
	kept, running atomic.Int64
	all           *size

	key   string // "" for an owner's own
	users int    // under the lock of accounts
}

// size counts bytes up to a limit, the one that the last quota set; 0: no limit.
type size struct{ bytes, limit atomic.Int64 }

func (s *size) reserve(n int64, what string) error {
	limit := s.limit.Load()
	if s.bytes.Add(n) > limit && limit > 0 {
		s.bytes.Add(-n)
		return &LimitError{What: what, Max: limit}
	}
	return nil
}

// admit counts one more task of n bytes.
func (a *account) admit(n int64, q Quota) error {
	a.limit.Store(int64(q.Bytes))
	a.all.limit.Store(int64(q.AllBytes))
	err := count(&a.running, q.Running, limitRunning)
	if err != nil {
		return err
	}
	if err = count(&a.kept, q.Kept, limitKept); err == nil {
		if err = a.reserve(n); err == nil {
			return nil
		}
		a.kept.Add(-1)
	}
	a.running.Add(-1)
	return err
}

func count(n *atomic.Int64, limit int, what string) error {
	if n.Add(1) > int64(limit) && limit > 0 {
		n.Add(-1)
		return &LimitError{What: what, Max: int64(limit)}
	}
	return nil
}

// reserve counts n more bytes, if there is room for them.
func (a *account) reserve(n int64) error {
	if err := a.size.reserve(n, limitBytes); err != nil {
		return err
	}
	err := a.all.reserve(n, limitAllBytes)
	if err != nil {
		a.bytes.Add(-n)
	}
	return err
}

// grow counts n bytes, which may be negative, whatever the limit.
func (a *account) grow(n int64) {
	a.bytes.Add(n)
	a.all.bytes.Add(n)
}

// dismiss takes back what admit and grow counted of a task of n bytes.
func (a *account) dismiss(n int64, running bool) {
	a.grow(-n)
	a.kept.Add(-1)
	if running {
		a.running.Add(-1)
	}
}

// accounts are the accounts of quota keys, as long as they count something.
type accounts struct {
	mu    sync.Mutex
	byKey map[string]*account
}

// use returns the account of a key for one more task, until unuse.
func (s *accounts) use(key string, all *size) *account {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.byKey[key]
	if a == nil {
		a = &account{key: key, all: all}
		s.byKey[key] = a
	}
	a.users++
	return a
}

func (s *accounts) unuse(a *account) {
	if a.key == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.users--; a.users == 0 {
		delete(s.byKey, a.key)
	}
}
