package server

import (
	"errors"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// What a request decodes to counts like its message, until the request is over: a few bytes of text can become a large struct
// (TSK28). What answers and outputs are decoded to counts while they are validated.

// TakeDecoded implements check.Account.
func (r *request) TakeDecoded(bytes int) error {
	if r.account == nil {
		return nil // nobody's: the server asks itself
	}
	r.awaitTurn(int64(bytes))
	if err := r.countBytes(int64(bytes)); err != nil {
		return err
	}
	return nil
}

// countText counts the arguments of a task once more for its run: the store has them, and the handler gets their strings as copies.
func (r *request) countText(args []byte) *rpc.Error {
	if len(args) <= smallMessage {
		return nil
	}
	return r.countBytes(int64(len(args)))
}

// callAccount lets the request of a call pay for input and answers, as long as the handler runs. What a goroutine that it left
// behind decodes is bounded by check.Limits alone.
type callAccount Call

// TakeDecoded implements check.Account.
func (c *callAccount) TakeDecoded(bytes int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.r == nil {
		return nil
	}
	return c.r.TakeDecoded(bytes)
}

// giveDecoded gives back what was taken for values that are gone.
func (c *callAccount) giveDecoded(bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.r != nil {
		c.r.uncountBytes(bytes)
	}
}

// awaitTurn returns when the input may take n more bytes, if there are that many. Whoever has the turn waits for nothing else.
func (r *request) awaitTurn(n int64) {
	if s := r.reservation.s; r.decodes && !r.turn && s.bytes.Used()+n > s.bytes.Max/2 {
		s.decoding <- struct{}{}
		r.turn = true
	}
}

func (r *request) endTurn() {
	r.turn = false
	<-r.reservation.s.decoding
}

// validating is the account of a call for an answer that is decoded only to validate it; end gives back what it took.
type validating struct {
	call  *callAccount
	taken int64
}

// TakeDecoded implements check.Account.
func (j *validating) TakeDecoded(bytes int) error {
	err := j.call.TakeDecoded(bytes)
	if err == nil {
		j.taken += int64(bytes)
	}
	return err
}

func (j *validating) end() {
	if j.taken > 0 {
		j.call.giveDecoded(j.taken)
	}
}

// TakeDecoded implements check.Account. What an output is decoded to when it is checked counts among those in the making, until it is
// encoded. That is never refused, because the handler has done its work: others wait.
func (r *reservation) TakeDecoded(bytes int) error {
	r.s.coming.change(&r.account.coming, int64(bytes))
	r.estimated += int64(bytes)
	return nil
}

// decode ends with d. The account, if not nil, pays for v.
func decode[T any](d *check.Decoder, account check.Account, read func(*check.Decoder, *T), v *T) error {
	if account != nil {
		d.Charge(account)
	}
	read(d, v)
	err := d.FinishAfter(func(d *check.Decoder) { read(d, new(T)) })
	d.Put()
	return err
}

// orEmpty returns an empty object for an absent one.
func orEmpty(object []byte) []byte {
	if object == nil {
		return emptyObject
	}
	return object
}

// emptyObject stands for arguments and params that are absent. Nobody changes it: what handlers get of them is decoded into copies.
var emptyObject = []byte("{}")

// invalidInput is the answer for input that was not decoded: there was no room for it, or it is wrong.
func invalidInput(err error) error {
	if own, ok := errors.AsType[*rpc.Error](err); ok {
		return own
	}
	return &inputError{err}
}
