//go:build !unix

package rpc

import (
	"io"
	"os"
)

func interruptible(f *os.File) (io.Reader, io.Closer) {
	d := detach(f)
	return d, d
}

func surviveBrokenPipes() {}

func keeping(f *os.File) (io.Writer, io.Closer) { return f, nil }

// divert replaces os.Stdout until the closer is closed, so it only affects code that prints through this variable.
func divert(f, to *os.File) io.Closer {
	if os.Stdout != f {
		return nil
	}
	os.Stdout = to
	return diverted{f}
}

type diverted struct{ f *os.File }

// Close implements io.Closer.
func (d diverted) Close() error {
	os.Stdout = d.f
	return nil
}
