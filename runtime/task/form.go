package task

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// Durable stores keep tasks in one of these formats:
//
//	1  the one that is written. A task that is not over has its running time (Task.Ran, State.Since, State.Counted) in the place of its error. Programs
//	   from before that time was counted leave it there: they can show, answer, cancel and run tasks of newer programs that run at the same time (DUR07)
//	2  with the running time at the end. It is read and no longer written, since programs of format 1 could not even show such a task
//
// Each version of this package reads all formats up to Format and refuses later ones with a *FormatError. A change that earlier versions can not read
// increases Format, in form_now.go and form_before.go.

// FormatError refuses what a newer version of this package has stored. Nothing was changed: a process with the newer version can go on.
type FormatError struct{ Stored uint64 }

func (e *FormatError) Error() string {
	return fmt.Sprintf("the task was stored in format %d by a newer version of this server; this one reads formats up to %d", e.Stored, Format)
}

// ErrDamaged: what a store has of a task is not a form of any version.
var ErrDamaged = errors.New("the stored task is damaged")

// Unread returns the task that lists show in place of one whose stored form can not be read: known is what the store has beside the form, and err
// becomes the status message. So such a task hides no others.
func Unread(known Task, err error) Task {
	known.StatusMessage = err.Error()
	if known.UpdatedAt.IsZero() {
		known.UpdatedAt = known.CreatedAt
	}
	return known
}

// AppendHead appends the stored form of the state: all of it but the journal, Args, Meta and Result, which may be large, hardly ever change,
// and are bytes already. A store keeps those beside it.
func (s *State) AppendHead(b []byte) []byte {
	c := coder{b: binary.AppendUvarint(b, 1), version: 1}
	c.state(s)
	return c.b
}

// ReadHead is the reverse of AppendHead; it leaves the journal, Args, Meta and Result alone. What it reads shares no memory with b.
// Errors: *FormatError, ErrDamaged.
func (s *State) ReadHead(b []byte) error {
	return read(b, func(c *coder) { c.state(s) })
}

// Append appends the stored form of the entry.
func (e *Entry) Append(b []byte) []byte {
	c := coder{b: binary.AppendUvarint(b, 1), version: 1}
	c.entry(e)
	return c.b
}

// Read is the reverse of Append. Errors: *FormatError, ErrDamaged.
func (e *Entry) Read(b []byte) error {
	return read(b, func(c *coder) { c.entry(e) })
}

func read(b []byte, form func(c *coder)) error {
	version, n := binary.Uvarint(b)
	switch {
	case n <= 0 || version == 0:
		return ErrDamaged
	case version > Format:
		return &FormatError{version}
	}
	c := coder{b: b[n:], version: version, reading: true}
	form(&c)
	if c.bad || len(c.b) > 0 {
		return ErrDamaged
	}
	return nil
}

// coder reads or writes a form, so that each form is described once: numbers as varints, texts and bytes with their lengths before them.
type coder struct {
	b       []byte
	version uint64
	reading bool
	bad     bool // what was read is not a valid form
}

func (c *coder) state(s *State) {
	c.task(&s.Task)
	if !c.reading && s.counts() {
		c.timeAsError(s)
	} else {
		c.rpcError(&s.Task.Error)
	}
	c.text(&s.Node)
	number(c, &s.Epoch)
	c.time(&s.Leased)
	number(c, &s.Crashes)
	if !c.reading {
		return
	}
	s.Task.Ran, s.Since, s.Counted = 0, time.Time{}, 0
	switch e := s.Task.Error; {
	case c.version >= 2:
		number(c, &s.Task.Ran)
		c.time(&s.Since)
		s.Counted = s.Epoch
	case Format >= 2 && e != nil && e.Code == 0 && e.Message == "" && !s.Task.Status.Terminal():
		inner := coder{b: e.Data, reading: true}
		inner.runningTime(s)
		c.bad = c.bad || inner.bad || len(inner.b) > 0
	}
	if s.Counted != s.Epoch {
		s.Since = time.Time{} // a program that does not count has begun a run since
	}
	if s.counts() {
		s.Task.Error = nil
	}
}

// counts reports whether the stored form of the state has the running time, which bounds nothing any more once the task is over.
func (s *State) counts() bool { return Format >= 2 && s.Counted > 0 && !s.Task.Status.Terminal() }

// timeAsError writes the running time as the data of an error with the code 0, which no real error has.
func (c *coder) timeAsError(s *State) {
	inner := coder{b: make([]byte, 0, 32)}
	inner.runningTime(s)
	carrier := &rpc.Error{Data: inner.b}
	c.rpcError(&carrier)
}

func (c *coder) runningTime(s *State) {
	number(c, &s.Task.Ran)
	c.time(&s.Since)
	number(c, &s.Counted)
}

// task codes all of a task but its error.
func (c *coder) task(t *Task) {
	c.text(&t.ID)
	c.text(&t.Owner)
	c.text(&t.Tool)
	c.text((*string)(&t.Status))
	c.text(&t.StatusMessage)
	c.time(&t.CreatedAt)
	c.time(&t.UpdatedAt)
	number(c, &t.TTL)
	number(c, &t.PollInterval)
	number(c, &t.Timeout)
	number(c, &t.Reruns)
	number(c, &t.Version)
	c.flag(&t.Uncancellable)
	number(c, &t.Kind)
	c.flag(&t.CancelRequested)
	number(c, &t.Machine)
	c.text(&t.CancelReason)
	list(c, &t.Questions, c.question)
}

func (c *coder) question(q *Question) {
	c.text(&q.Name)
	c.text(&q.Method)
	c.bytes(&q.Payload)
	c.time(&q.AskedAt)
	c.time(&q.Deadline)
}

func (c *coder) entry(e *Entry) {
	c.text(&e.Name)
	number(c, &e.Kind)
	c.question(&e.Question)
	c.bytes(&e.Data)
}

func (c *coder) rpcError(e **rpc.Error) {
	failed := *e != nil
	if c.flag(&failed); !failed {
		*e = nil
		return
	}
	if c.reading {
		*e = &rpc.Error{}
	}
	number(c, &(*e).Code)
	c.text(&(*e).Message)
	c.bytes(&(*e).Data)
}

func number[T ~int | ~int64 | ~uint8 | ~uint32 | ~uint64](c *coder, v *T) {
	if !c.reading {
		c.b = binary.AppendVarint(c.b, int64(*v))
		return
	}
	n, size := binary.Varint(c.b)
	if size <= 0 || int64(T(n)) != n {
		c.bad, c.b = true, nil
		return
	}
	*v, c.b = T(n), c.b[size:]
}

func (c *coder) flag(v *bool) {
	n := 0
	if *v {
		n = 1
	}
	number(c, &n)
	c.bad = c.bad || n>>1 != 0
	*v = n == 1
}

// time is in nanoseconds since 1970, after a flag that says whether there is one.
func (c *coder) time(v *time.Time) {
	set, at := !v.IsZero(), v.UnixNano()
	if c.flag(&set); !set {
		*v = time.Time{}
		return
	}
	if number(c, &at); c.reading {
		*v = time.Unix(0, at)
	}
}

func (c *coder) text(v *string) {
	if !c.reading {
		c.b = append(binary.AppendVarint(c.b, int64(len(*v))), *v...)
		return
	}
	*v = string(c.take(0))
}

// bytes distinguishes nil from an empty slice: the stored length is one more than the real one.
func (c *coder) bytes(v *[]byte) {
	switch {
	case c.reading:
		if taken := c.take(1); taken != nil {
			*v = append([]byte{}, taken...)
		} else {
			*v = nil
		}
	case *v == nil:
		c.b = append(c.b, 0)
	default:
		c.b = append(binary.AppendVarint(c.b, int64(len(*v))+1), *v...)
	}
}

// take reads a length, to which extra was added, and as many bytes; nil if what is stored is less than extra.
func (c *coder) take(extra int) []byte {
	n := 0
	if number(c, &n); n < 0 || n-extra > len(c.b) {
		c.bad, c.b = true, nil
	}
	if n -= extra; c.bad || n < 0 {
		return nil
	}
	taken := c.b[:n:n]
	c.b = c.b[n:]
	return taken
}

func list[T any](c *coder, v *[]T, item func(*T)) {
	n := len(*v)
	number(c, &n)
	if c.reading {
		*v = nil
		if n < 0 || n > len(c.b) { // each item takes a byte at least
			c.bad, c.b = true, nil
			return
		}
		if n > 0 {
			*v = make([]T, n)
		}
	}
	for i := range *v {
		if item(&(*v)[i]); c.bad {
			return
		}
	}
}
