package rpc

import (
	"errors"
	"io"
	"os"
)

// Stdio returns the connection over this process's standard input and output. Nothing else may read standard input meanwhile; what this
// process, or one that it starts, prints on standard output goes to standard error, since it would break the frames (LET02). Close ends
// a pending read, restores standard output and leaves both descriptors open: the peer sees the end when the process exits. When the
// peer stops reading, WriteFrame returns an error; on Linux the connection is Watched, too, so it ends at once, elsewhere with the
// next write (CAN26). Once Stdio was called, a write to a standard error that nobody reads is an error, too, instead of the end of
// the process: a line of the log must not break off a call that can not be cancelled (CAN14).
func Stdio() Conn {
	in, closeIn := interruptible(os.Stdin)
	out, closeOut := keeping(os.Stdout)
	surviveBrokenPipes()
	return Lines(in, out, closers{closeIn, divert(os.Stdout, os.Stderr), closeOut}, LineOptions{Local: true})
}

// closers is a Closer that closes several, of which some may be nil.
type closers []io.Closer

// Close implements io.Closer.
func (list closers) Close() error {
	var errs []error
	for _, c := range list {
		if c != nil {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// detached reads in a goroutine, so that Close can end a Read which the operating system can not interrupt: of terminals, and of all inputs on
// Windows. Nobody waits for the goroutine, which may stay in its own Read until input comes or the process ends.
type detached struct {
	want chan []byte     // the buffer to read into
	got  chan readResult // what reading into it gave
	done chan struct{}   // closed by Close
}

type readResult struct {
	n   int
	err error
}

func detach(r io.Reader) *detached {
	d := &detached{want: make(chan []byte), got: make(chan readResult), done: make(chan struct{})}
	go d.run(r)
	return d
}

func (d *detached) run(r io.Reader) {
	for {
		select {
		case <-d.done:
			return
		case p := <-d.want:
			n, err := r.Read(p)
			select {
			case <-d.done:
				return
			case d.got <- readResult{n, err}:
			}
		}
	}
}

// Read implements io.Reader. After Close the goroutine may still write to p.
func (d *detached) Read(p []byte) (int, error) {
	select {
	case <-d.done:
		return 0, ErrClosed
	case d.want <- p:
	}
	select {
	case <-d.done:
		return 0, ErrClosed
	case r := <-d.got:
		return r.n, r.err
	}
}

// Close implements io.Closer. Call it once.
func (d *detached) Close() error {
	close(d.done)
	return nil
}
