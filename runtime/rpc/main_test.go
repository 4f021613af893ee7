package rpc

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"testing"

	"go.uber.org/goleak"
)

var asChild = flag.Bool("child", false, "be the child process of TestLET02StdioOfAChildProcess")

var deaf = flag.Bool("deaf", false, "write to standard error until that fails")

func TestMain(m *testing.M) {
	flag.Parse()
	if *asChild {
		child()
		return
	}
	goleak.VerifyTestMain(m)
}

// child echoes frames, while all that can print does. After the frame "close" it closes the connection under a pending read,
// prints a last line and exits.
func child() {
	early := log.New(os.Stdout, "", 0)
	c := Stdio()
	if *deaf { // whoever started us has closed our standard error
		for _, err := fmt.Fprintln(os.Stderr, "read this"); err == nil; {
			_, err = fmt.Fprintln(os.Stderr, "read this")
		}
	}
	var buf []byte
	for string(buf) != `"close"` {
		var err error
		if buf, err = c.ReadFrame(buf); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
		fmt.Println("printed")
		early.Print("logged")
		spawned := exec.Command("echo", "spawned")
		spawned.Stdout = os.Stdout
		_ = spawned.Run()
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
	fmt.Println(`"printed after Close"`)
}
