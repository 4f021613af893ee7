package task

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"time"
)

// ListAll implements Operators. It looks at every task, since there are lists by owner only.
func (m *Memory) ListAll(_ context.Context, f Filter, cursor string, limit int) (Page, error) {
	after, err := openPosition(cursor)
	if err != nil {
		return Page{}, err
	}
	var found []Task
	m.each(func(t *Task) {
		if f.Match(t) && after.before(t) {
			found = append(found, *t)
		}
	})
	slices.SortFunc(found, func(a, b Task) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	p := Page{Tasks: found[:min(max(limit, 0), len(found))]}
	for i := range p.Tasks {
		p.Tasks[i].Args, p.Tasks[i].Result, p.Tasks[i].Error = nil, nil, nil
	}
	if n := len(p.Tasks); n > 0 && n < len(found) {
		p.Next = positionOf(&p.Tasks[n-1]).cursor()
	}
	return p, nil
}

// Count implements Operators.
func (m *Memory) Count(_ context.Context, f Filter) (map[Status]int, error) {
	n := map[Status]int{}
	m.each(func(t *Task) {
		if f.Match(t) {
			n[t.Status]++
		}
	})
	return n, nil
}

// each calls look with every task that has not expired, one after the other, with its record locked.
func (m *Memory) each(look func(t *Task)) {
	now := time.Now()
	for i := range m.ids {
		s := &m.ids[i]
		s.mu.RLock()
		for _, r := range s.records {
			r.mu.Lock()
			if !r.expired(now) {
				var t Task
				r.copyTo(&t)
				look(&t)
			}
			r.mu.Unlock()
		}
		s.mu.RUnlock()
	}
}

// position is a place among all tasks in order of creation. It is no secret, and needs no key: operators may see every task.
type position struct {
	created int64 // in nanoseconds since 1970
	id      string
}

func positionOf(t *Task) position { return position{t.CreatedAt.UnixNano(), t.ID} }

// before reports whether t comes after the position.
func (m position) before(t *Task) bool {
	return cmp.Or(cmp.Compare(t.CreatedAt.UnixNano(), m.created), cmp.Compare(t.ID, m.id)) > 0
}

func (m position) cursor() string {
	return base64.RawURLEncoding.EncodeToString(append(binary.BigEndian.AppendUint64(nil, uint64(m.created)), m.id...))
}

func openPosition(cursor string) (position, error) {
	if cursor == "" {
		return position{}, nil
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(b) <= 8 {
		return position{}, ErrCursor
	}
	return position{int64(binary.BigEndian.Uint64(b)), string(b[8:])}, nil
}
