package sqlite

import (
	"context"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// account counts what a quota bounds. The writer alone has accounts.
type account struct {
	bytes         int64
	running, kept int
	limit         int64 // of bytes, as the last quota said; 0 for none
}

// accountOf names whose quota counts. The first letter keeps keys and owners apart.
func accountOf(owner string, q task.Quota) string {
	if q.Key != "" {
		return "k" + q.Key
	}
	return "o" + owner
}

// count reads from the file what is counted.
func (s *Store) count(ctx context.Context) error {
	clear(s.accounts)
	s.all = account{limit: s.all.limit}
	const counts = `SELECT account, count(*), sum(size), sum(status IN ('working', 'input_required')) FROM mcpkiln_tasks GROUP BY account`
	return s.write.query(ctx, func(scan func(...any) error) error {
		var name string
		a := &account{}
		if err := scan(&name, &a.kept, &a.bytes, &a.running); err != nil {
			return err
		}
		s.accounts[name] = a
		s.all.bytes += a.bytes
		return nil
	}, counts)
}

func (s *Store) account(name string) *account {
	a := s.accounts[name]
	if a == nil {
		a = &account{}
		s.accounts[name] = a
	}
	return a
}

// admit refuses a task of n bytes that the quota forbids.
func (s *Store) admit(a *account, n int64, q task.Quota) error {
	a.limit, s.all.limit = int64(q.Bytes), int64(q.AllBytes)
	switch {
	case q.Running > 0 && a.running >= q.Running:
		return &task.LimitError{What: "unfinished tasks per requestor", Max: int64(q.Running)}
	case q.Kept > 0 && a.kept >= q.Kept:
		return &task.LimitError{What: "stored tasks per requestor", Max: int64(q.Kept)}
	}
	return s.room(a, n)
}

// room refuses n more bytes when there is no room for them.
func (s *Store) room(a *account, n int64) error {
	switch {
	case a.limit > 0 && a.bytes+n > a.limit:
		return &task.LimitError{What: "bytes of tasks per requestor", Max: a.limit}
	case s.all.limit > 0 && s.all.bytes+n > s.all.limit:
		return &task.LimitError{What: "bytes of tasks in all", Max: s.all.limit}
	}
	return nil
}

// charge counts a change of an account. A batch that fails charges the opposite.
type charge struct {
	account       string
	bytes         int64
	running, kept int
}

func (s *Store) charge(c charge) {
	a := s.account(c.account)
	a.bytes += c.bytes
	a.running += c.running
	a.kept += c.kept
	s.all.bytes += c.bytes
	if a.kept == 0 {
		delete(s.accounts, c.account)
	}
}

func (c charge) undone() charge { return charge{c.account, -c.bytes, -c.running, -c.kept} }
