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

func surviving(f *os.File) (io.Writer, io.Closer) { return f, nil }
