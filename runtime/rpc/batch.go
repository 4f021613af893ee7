package rpc

import (
	"bytes"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// Batch returns the messages of a batch, which is an array of them; they alias the frame. It is for revisions that have batches: Parse refuses
// them. The array must have a message in it, and no more than MaxBatch.
func Batch(frame []byte, limits check.Limits) ([][]byte, *Error) {
	d := check.Get(frame, limits)
	defer d.Put()
	var all [][]byte
	n := 0 // messages beyond the limit are only counted: there may be millions
	for more := d.Array(nil); more; more = d.Item() {
		m := d.Position()
		d.Skip()
		if n++; n <= MaxBatch {
			all = append(all, d.Since(m))
		}
	}
	switch err := d.Finish(); {
	case err != nil && !onlyRepeats(err): // a repeated key is left to Parse, which refuses the one message that has it
		return nil, frameError(frame, err)
	case n == 0:
		return nil, &Error{Code: CodeInvalidRequest, Message: "a batch must have a message in it"}
	case n > MaxBatch:
		return nil, Errorf(CodeInvalidRequest, "a batch has at most %d messages, not %d", MaxBatch, n)
	}
	return all, nil
}

// WithoutAnswers returns a batch of answers, which this side wrote, without those for whose ids gone returns true; nil if none is left. The
// frame itself does not change.
func WithoutAnswers(frame []byte, gone func(ID) bool) []byte {
	limits := check.Limits{Bytes: len(frame), Depth: 1 << 16}
	answers, err := Batch(frame, limits)
	if err != nil {
		return frame
	}
	left := slices.DeleteFunc(answers, func(answer []byte) bool {
		m, _ := Parse(answer, limits)
		return gone(m.ID)
	})
	if len(left) == 0 {
		return nil
	}
	return slices.Concat([]byte{'['}, bytes.Join(left, []byte{','}), []byte{']'})
}

// MaxBatch is how many messages one batch may have, since each may become a request in flight, or an error in the answer.
const MaxBatch = 1_000

// IsBatch reports whether a frame begins as an array does.
func IsBatch(frame []byte) bool {
	if len(frame) == 0 || frame[0] == '{' {
		return false
	}
	frame = bytes.TrimLeft(frame, space)
	return len(frame) > 0 && frame[0] == '['
}
