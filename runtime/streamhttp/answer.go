package streamhttp

import (
	"io"
	"net/http"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// answerStream is an answer of an exchange that is written as it is made: JSON without a length, or the last server-sent event.
type answerStream struct {
	x     *exchange
	event bool // it is a server-sent event
}

// Stream implements server.Streamed.
func (x *exchange) Stream(rpc.ID) server.AnswerStream {
	x.mu.Lock()
	defer x.mu.Unlock()
	a := &answerStream{x, x.phase == streaming}
	switch {
	case x.phase >= answering:
		return nil
	case a.event:
		x.d.buf = append(x.d.buf, eventHead...)
	default:
		h := x.d.w.Header()
		h["Content-Type"], h["Cache-Control"], h["X-Accel-Buffering"] = jsonHeader, noStore, noBuffering
		x.d.written, x.d.plain = true, true
		x.d.w.WriteHeader(http.StatusOK)
	}
	x.phase = answering
	return a
}

// Copy implements server.Copier.
func (x *exchange) Copy(about rpc.ID, _ bool, answer *server.LongAnswer) error {
	to := x.Stream(about)
	if to == nil {
		return errGone
	}
	_, err := io.CopyBuffer(to, answer.Reader(), make([]byte, piece))
	to.End(err == nil)
	return err
}

// Write implements io.Writer.
func (a *answerStream) Write(b []byte) (int, error) {
	x := a.x
	x.due.Add(int64(len(b)))
	defer x.due.Add(-int64(len(b)))
	from := len(x.d.buf)
	x.d.buf = append(x.d.buf, b...)
	if a.event {
		oneLine(x.d.buf[from:])
	}
	if err := x.d.flush(); err != nil {
		x.cancel(failed(err))
		return 0, err
	}
	return len(b), nil
}

// End implements server.AnswerStream.
func (a *answerStream) End(complete bool) {
	x := a.x
	var err error
	if complete && a.event {
		x.d.buf = append(x.d.buf, eventTail...)
		err = x.d.flush()
	}
	x.d.clearDeadline()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.phase, x.whole = over, complete && err == nil
}
