package task

import (
	"sync"
	"time"
)

// polls bounds how often a task is read (TSK22): one virtual schedule per task, kept only while it is ahead of the clock.
type polls struct {
	shards [16]pollShard
}

type pollShard struct {
	mu    sync.Mutex
	ahead map[string]time.Time // when the task's schedule is caught up
	sweep int                  // size at which to look for those that are
}

// allow counts one read of id and returns 0, or how long to wait. Bursts of twice the rate pass.
func (p *polls) allow(id string, perSecond int, now time.Time) time.Duration {
	if perSecond <= 0 || id == "" {
		return 0
	}
	s := &p.shards[id[len(id)-1]%16]
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.ahead[id]
	if !ok || at.Before(now) {
		at = now
	}
	at = at.Add(time.Second / time.Duration(perSecond))
	if over := at.Sub(now) - 2*time.Second; over > 0 {
		return over
	}
	s.put(id, at, now)
	return 0
}

func (s *pollShard) put(id string, at, now time.Time) {
	if s.ahead == nil {
		s.ahead, s.sweep = map[string]time.Time{}, 256
	}
	if len(s.ahead) >= s.sweep {
		for id, at := range s.ahead {
			if at.Before(now) {
				delete(s.ahead, id)
			}
		}
		s.sweep = max(256, 2*len(s.ahead))
	}
	s.ahead[id] = at
}
