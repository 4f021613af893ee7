package rpc

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

var asChild = flag.Bool("child", false, "be the child process of TestCAN21StdioOfAChildProcess")

func TestMain(m *testing.M) {
	flag.Parse()
	if *asChild {
		child()
		return
	}
	goleak.VerifyTestMain(m)
}

// child echoes frames. After the frame "close" it closes the connection under a pending read and exits.
func child() {
	c := Stdio()
	var buf []byte
	for string(buf) != `"close"` {
		var err error
		if buf, err = c.ReadFrame(buf); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
		_ = c.WriteFrame(buf)
	}
	pending := make(chan error)
	go func() {
		_, err := c.ReadFrame(nil)
		pending <- err
	}()
	if err := c.Close(); err != nil || <-pending != ErrClosed {
		fmt.Fprintln(os.Stderr, "child: close:", err)
		os.Exit(2)
	}
}
