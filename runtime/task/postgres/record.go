package postgres

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// record is one task as it was read, and its changes.
type record struct {
	seq, rev int64
	account  string
	quota    task.Quota // the limits of bytes when the task was created
	size     int64
	now      time.Time // of the server, when the record was read
	leased   time.Time // the end of the lease by the task's row; the holder's may be later
	read     time.Time // the end of the lease when it was read: the later of both
	version  uint64    // as it was read, like over, epoch and stored
	epoch    uint64
	over     bool
	stored   []task.EntryKind // of the entries that were read
	state    task.State

	touched bool  // the record is to be written
	cancels bool  // a call asks the task's run to stop
	grown   int64 // the bytes by which its account grows
}

// recordColumns are of mcpkiln_tasks t beside mcpkiln_holders h.
const recordColumns = `t.id, t.seq, t.rev, t.account, t.room, t.all_room, t.size, statement_timestamp(), t.created, t.leased, h.until, t.head, t.args, t.meta, t.result,
	ARRAY(SELECT j.entry FROM mcpkiln_journal j WHERE j.seq = t.seq AND (t.id = ANY($2) OR j.name = ANY($3)) ORDER BY j.place)`

const readRecords = "SELECT " + recordColumns + " FROM mcpkiln_tasks t LEFT JOIN mcpkiln_holders h ON h.holder = t.held WHERE t.id = ANY($1)"

// found is a record, or the error of reading it.
type found struct {
	*record
	err error
}

// scanRecord reads a row of recordColumns.
func scanRecord(rows pgx.Rows) (id string, f found, err error) {
	r := &record{}
	t := &r.state.Task
	var key, account, head []byte
	var created time.Time
	var leased, until *time.Time
	var entries [][]byte
	if err := rows.Scan(&key, &r.seq, &r.rev, &account, &r.quota.Bytes, &r.quota.AllBytes, &r.size, &r.now, &created, &leased, &until, &head,
		&t.Args, &t.Meta, &t.Result, &entries); err != nil {
		return "", found{}, err
	}
	r.account, r.now = string(account), local(r.now)
	if err := r.readState(head, entries, created); err != nil {
		return string(key), found{err: err}, nil
	}
	r.leased = orZero(leased)
	if r.read = r.leased; until != nil && until.After(r.read) {
		r.read = local(*until)
	}
	r.state.Leased = r.read
	r.version, r.epoch, r.over = t.Version, r.state.Epoch, t.Status.Terminal()
	return string(key), found{record: r}, nil
}

// readState reads the forms of the head and of entries. The time of creation is a column, because the server's clock sets it.
func (r *record) readState(head []byte, entries [][]byte, created time.Time) error {
	if err := readHead(&r.state, head, created); err != nil {
		return err
	}
	for _, form := range entries {
		var e task.Entry
		if err := e.Read(form); err != nil {
			return err
		}
		r.state.Journal, r.stored = append(r.state.Journal, e), append(r.stored, e.Kind)
	}
	return nil
}

func readHead(s *task.State, head []byte, created time.Time) error {
	err := s.ReadHead(head)
	if s.Task.CreatedAt = local(created); s.Task.UpdatedAt.IsZero() {
		s.Task.UpdatedAt = s.Task.CreatedAt
	}
	return err
}

// local returns a time as forms have it, without a location.
func local(t time.Time) time.Time { return time.Unix(0, t.UnixNano()) }

func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return local(*t)
}

// orNull returns a time as a column has it.
func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// change makes a transition in memory.
func (r *record) change(transition func(s *task.State) error) error {
	s := &r.state
	before, version, epoch, entries := s.Size(), s.Task.Version, s.Epoch, len(s.Journal)
	if err := transition(s); err != nil {
		return err
	}
	if s.Task.Version != version || s.Epoch != epoch || len(s.Journal) != entries {
		r.touched = true
	}
	r.grown += s.Size() - before
	if s.Task.Status.Terminal() && !r.over { // the journal is deleted, also entries that were not read
		s.Journal, s.Leased = nil, time.Time{}
		r.grown = s.Size() - r.size
	}
	return nil
}

// released reports whether the lease that was read is no longer the task's: it was given back, or replaced.
func (r *record) released() bool { return !r.state.Leased.Equal(r.read) }

// columns are the end of the lease, when the task becomes an orphan if no holder extends that, and whether it is parked.
func (r *record) columns() (leased, due *time.Time, waits bool) {
	s := r.state
	if !r.released() {
		s.Leased = r.leased
	}
	at, ok := s.OrphanAt()
	if ok && at.IsZero() {
		at = time.Unix(0, 0)
	}
	if ok {
		due = &at
	}
	return orNull(s.Leased), due, !s.Task.Status.Terminal() && s.Node == "" && s.Leased.IsZero()
}

// seen returns an error if owner may not see the record's task.
func (r *record) seen(owner string) error {
	switch t := &r.state.Task; {
	case t.Owner != owner:
		return &task.NotFoundError{Reason: task.Foreign, Tool: t.Tool}
	case t.Expired(r.now):
		return &task.NotFoundError{Reason: task.Expired, Tool: t.Tool}
	}
	return nil
}

// keys returns texts as columns have them.
func keys(texts []string) [][]byte {
	all := make([][]byte, len(texts))
	for i, t := range texts {
		all[i] = []byte(t)
	}
	return all
}
