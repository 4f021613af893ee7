package server

import (
	"errors"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// What a request decodes to counts like its message, until the request is over: a few bytes of text can become a large struct
// (TSK28).

// TakeDecoded implements check.Account.
func (r *request) TakeDecoded(bytes int) error {
	if r.account == nil {
		return nil // nobody's: the server asks itself
	}
	if err := r.countBytes(int64(bytes)); err != nil {
		return err
	}
	return nil
}

// callAccount lets the request of a call pay for input and answers, as long as the handler runs. What a goroutine that it left
// behind decodes is bounded by check.Limits alone.
type callAccount Call

// TakeDecoded implements check.Account.
func (c *callAccount) TakeDecoded(bytes int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.payer == nil {
		return nil
	}
	return c.payer.TakeDecoded(bytes)
}

// decode ends with d. The account, if not nil, pays for v.
func decode[T any](d *check.Decoder, account check.Account, read func(*check.Decoder, *T), v *T) error {
	if account != nil {
		d.Charge(account)
	}
	read(d, v)
	err := d.Finish()
	d.Put()
	return err
}

// invalidInput is what input is answered with that was not decoded: there was no room for it, or it is wrong.
func invalidInput(err error) error {
	if own, ok := errors.AsType[*rpc.Error](err); ok {
		return own
	}
	return &inputError{err}
}
