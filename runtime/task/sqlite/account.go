package sqlite

import (
	"context"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// account counts what a quota bounds. The writer alone has accounts.
type account struct {
	bytes, running, kept int64
	limit                int // of bytes, as the last quota said; 0 for none
}

// count reads the usage of all accounts from the file.
func (s *Store) count(ctx context.Context) error {
	clear(s.accounts)
	s.all = account{limit: s.all.limit}
	const counts = "SELECT account, count(*), sum(size), sum(" + unfinished + ") FROM mcpkiln_tasks GROUP BY account"
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

// admit refuses a task of n bytes that exceeds the quota.
func (s *Store) admit(a *account, n int64, q task.Quota) error {
	a.limit, s.all.limit = q.Bytes, q.AllBytes
	return q.Admit(s.usage(a), n)
}

// room refuses n more bytes when there is no room for them.
func (s *Store) room(a *account, n int64) error {
	return task.Quota{Bytes: a.limit, AllBytes: s.all.limit}.Room(s.usage(a), n)
}

func (s *Store) usage(a *account) task.Usage {
	return task.Usage{Running: a.running, Kept: a.kept, Bytes: a.bytes, AllBytes: s.all.bytes}
}

// charge is a change of an account's usage. A batch that fails charges the opposite.
type charge struct {
	account              string
	bytes, running, kept int64
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
