package server

import (
	"bytes"
	"io"
	"strings"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// Copier is an Outlet that takes an answer from the files that it is in.
type Copier interface {
	// Copy is Write for the last frame about a request. It is written as a whole, or its connection ends. The files of the answer stay until Copy has
	// returned, and where the Outlet is Queued, AwaitRead.
	Copy(about rpc.ID, answer *LongAnswer) error
	// EndStalledCopies gives up answers of which their client has taken nothing for that long, and reports whether there were any.
	EndStalledCopies(wait time.Duration) bool
}

// LongAnswer is an answer, or the array of a batch, of which some is in temporary files. It may be read several times, also at once.
type LongAnswer struct {
	parts []answerPart // of an array; else one
	array bool
	taken func() // called with each piece that is read; nil: not called
}

// answerPart is a whole answer.
type answerPart struct {
	id    rpc.ID
	frame []byte
	file  *spool // has the answer in place of frame; nil: it is in memory
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

// longAnswer is the request's answer, if a file has it.
func (r *request) longAnswer() *LongAnswer {
	if r.spooled == nil {
		return nil
	}
	p := r.p                                         // a client that was given up may still read when the request is used again
	alive := func() { p.pulse.received.Store(true) } // who reads need not answer a ping meanwhile
	return &LongAnswer{parts: []answerPart{{id: r.id, file: r.spooled}}, taken: alive}
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
func (a *LongAnswer) Reader() io.Reader {
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
	if a.taken == nil {
		return io.MultiReader(all...)
	}
	return &watchedReader{io.MultiReader(all...), a.taken}
}

// Without is an array without the answers to requests that are cancelled, nil if none is left.
func (a *LongAnswer) Without(cancelled func(id rpc.ID) bool) *LongAnswer {
	left := &LongAnswer{array: a.array, taken: a.taken}
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

// copier is the outlet of the peer, if answers go to it from their files.
func (p *peer) copier() Copier {
	out, ok := p.out.(Copier)
	if lines, is := p.out.(*connOutlet); !ok || is && lines.copying == nil {
		return nil
	}
	return out
}
