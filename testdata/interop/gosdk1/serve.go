package main

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"time"
)

// serve starts the server on a free loopback port, and returns when it accepts connections. stop ends it in order.
func serve(binary string) (url string, stop func() error, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		return "", nil, err
	}
	cmd := exec.Command(binary, "-http", addr)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() error { return errors.Join(cmd.Process.Signal(os.Interrupt), cmd.Wait()) }
	tick, limit := time.NewTicker(20*time.Millisecond), time.After(15*time.Second)
	defer tick.Stop()
	for {
		if c, err := net.Dial("tcp", addr); err == nil {
			return "http://" + addr + "/mcp", stop, c.Close()
		}
		select {
		case <-tick.C:
		case <-limit:
			return "", nil, errors.Join(errors.New("the server does not listen"), cmd.Process.Kill())
		}
	}
}
