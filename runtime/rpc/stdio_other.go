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
