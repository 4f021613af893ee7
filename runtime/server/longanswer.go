package server

import (
	"bytes"
	"io"
	"strings"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// Copier is an Outlet that copies an answer from the temporary files that contain it.
type Copier interface {
	// Copy is Write for such an answer. The answer is written as a whole, or its connection ends. The answer's files stay until Copy has returned and,
	// if the Outlet is Queued, AwaitRead has, too: until then nothing else about the request is copied.
	Copy(about rpc.ID, last bool, answer *LongAnswer) error
	// EndStalledCopies ends the answers of which nothing was read for that long, and reports whether there were any. Unless connected is true, it
	// ends only answers whose clients have lost their connection.
	EndStalledCopies(wait time.Duration, connected bool) bool
}

// LongAnswer is an answer, or the array of a batch, at least partly in temporary files. It may be read several times, also concurrently.
type LongAnswer struct {
	parts  []answerPart // the answers of the array; without an array, the only one
	array  bool
	onRead func() // called before each read: what the last read returned was written then
}

// answerPart is one answer.
type answerPart struct {
	id    rpc.ID
	frame []byte
	file  *spool // contains the answer instead of frame; nil: it is in memory
}

func (a *answerPart) size() int64 {
	if a.file != nil {
		return a.file.size
	}
	return int64(len(a.frame))
}

func (a *answerPart) reader() io.Reader {
	if a.file != nil {
		return a.file.reader()
	}
	return bytes.NewReader(a.frame)
}

// longAnswer returns the request's answer if it is in a file, else nil.
func (r *request) longAnswer() *LongAnswer {
	if r.spooled == nil {
		return nil
	}
	return r.p.longAnswer(false, answerPart{id: r.requestID(), file: r.spooled})
}

// longAnswer returns an array of answers, or a single one. While the client reads it, it need not answer a ping (LET11).
func (p *peer) longAnswer(array bool, parts ...answerPart) *LongAnswer {
	return &LongAnswer{parts: parts, array: array, onRead: func() { p.pulse.received.Store(true) }}
}

// frame returns the answer, all parts of which are in memory.
func (a *LongAnswer) frame() []byte {
	b := make([]byte, a.Size())
	_, _ = io.ReadFull(a.pieces(), b) // nothing in memory fails
	return b
}

// Size is how many bytes the answer has.
func (a *LongAnswer) Size() (n int64) {
	for i := range a.parts {
		n += a.parts[i].size()
	}
	if a.array {
		n += int64(len(a.parts)) + 1
	}
	return n
}

// Reader reads the answer from its beginning. It fails once the files are gone.
func (a *LongAnswer) Reader() io.Reader { return &watchedReader{a.pieces(), a.onRead} }

func (a *LongAnswer) pieces() io.Reader {
	all := make([]io.Reader, 0, 2*len(a.parts)+1)
	for i := range a.parts {
		if a.array {
			all = append(all, strings.NewReader("[,"[min(i, 1):min(i, 1)+1]))
		}
		all = append(all, a.parts[i].reader())
	}
	if a.array {
		all = append(all, strings.NewReader("]"))
	}
	return io.MultiReader(all...)
}

// Refused returns the frame with err in place of the answer, or of each answer of the array.
func (a *LongAnswer) Refused(err *rpc.Error) []byte {
	if !a.array {
		return rpc.AppendError(nil, a.parts[0].id, err)
	}
	ids := make([]rpc.ID, len(a.parts))
	for i := range a.parts {
		ids[i] = a.parts[i].id
	}
	return rpc.AppendErrors(nil, ids, err)
}

// Without returns the array without the answers to cancelled requests, nil if none is left.
func (a *LongAnswer) Without(cancelled func(id rpc.ID) bool) *LongAnswer {
	left := &LongAnswer{array: a.array, onRead: a.onRead}
	for _, part := range a.parts {
		if !cancelled(part.id) {
			left.parts = append(left.parts, part)
		}
	}
	if len(left.parts) == 0 {
		return nil
	}
	return left
}

// copier returns the peer's outlet if it can copy answers from files, else nil.
func (p *peer) copier() Copier {
	out, ok := p.out.(Copier)
	if lines, is := p.out.(*connOutlet); !ok || is && lines.copying == nil {
		return nil
	}
	return out
}
