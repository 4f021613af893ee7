package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"time"
)

// served is a server that was started here.
type served struct {
	url  string
	cmd  *exec.Cmd
	done chan error
}

// serve starts the server on a free loopback port and returns when it accepts connections.
func serve(binary string, flags ...string) (*served, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		return nil, err
	}
	s := &served{url: "http://" + addr + "/mcp", cmd: exec.Command(binary, append([]string{"-http", addr}, flags...)...), done: make(chan error, 1)}
	s.cmd.Stderr = os.Stderr
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { s.done <- s.cmd.Wait() }()
	if err := s.await(addr); err != nil {
		return nil, errors.Join(err, s.cmd.Process.Kill())
	}
	return s, nil
}

func (s *served) await(addr string) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(15 * time.Second)
	for {
		if c, err := net.Dial("tcp", addr); err == nil {
			return c.Close()
		}
		select {
		case <-tick.C:
		case err := <-s.done:
			return fmt.Errorf("the server ended: %w", err)
		case <-limit:
			return fmt.Errorf("the server does not listen on %s", addr)
		}
	}
}

// stop ends it in order.
func (s *served) stop() error {
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	select {
	case err := <-s.done:
		return err
	case <-time.After(10 * time.Second):
		return errors.Join(errors.New("the server does not end"), s.cmd.Process.Kill())
	}
}
