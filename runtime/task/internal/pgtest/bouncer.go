//go:build linux

package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// Bouncer is a pgbouncer in front of a server, in transaction mode: a client has a connection of the server for one transaction at a time.
type Bouncer struct {
	port   int
	dir    string
	cmd    *exec.Cmd
	ended  chan struct{}
	output bytes.Buffer // readable when ended is closed
}

// bouncerConfig lets every client in as the server's user, whatever it calls itself. Few connections mean that clients often change them. Parameters of
// connections are refused, as pgbouncer does by default.
const bouncerConfig = `[databases]
* = host=127.0.0.1 port=%d user=postgres password=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
max_client_conn = 1000
server_idle_timeout = 1
`

// StartBouncer starts the given pgbouncer in front of a server.
func StartBouncer(program string, s *Server) (*Bouncer, error) {
	b := &Bouncer{ended: make(chan struct{})}
	var err error
	if b.port, err = freePort(); err != nil {
		return nil, err
	}
	if b.dir, err = os.MkdirTemp("", "pgbouncer"); err != nil {
		return nil, err
	}
	config := filepath.Join(b.dir, "pgbouncer.ini")
	err = errors.Join(os.Chmod(b.dir, 0o755), os.WriteFile(config, fmt.Appendf(nil, bouncerConfig, s.Port, Password, b.port), 0o644))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(b.dir))
	}
	b.cmd = exec.Command(program, "-q", config)
	b.cmd.Stdout, b.cmd.Stderr = &b.output, &b.output
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.as, Pdeathsig: syscall.SIGKILL} // it refuses to run as root, as Postgres does
	if err := b.start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(b.dir))
	}
	return b, nil
}

func (b *Bouncer) start() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // as for a Server
		err := b.cmd.Start()
		started <- err
		if err == nil {
			b.cmd.Wait()
			close(b.ended)
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		c, err := net.Dial("tcp", b.address())
		if err == nil {
			return c.Close()
		}
		select {
		case <-b.ended:
			return fmt.Errorf("pgbouncer ended: %s", b.output.String())
		case <-ctx.Done():
			return errors.Join(errors.New("pgbouncer does not become ready"), b.Close())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (b *Bouncer) address() string { return fmt.Sprint("127.0.0.1:", b.port) }

// URL names a database through the pooler.
func (b *Bouncer) URL(database string) string {
	return (&url.URL{Scheme: "postgres", User: url.User("postgres"), Host: b.address(), Path: database, RawQuery: "sslmode=disable"}).String()
}

// Close ends the pooler.
func (b *Bouncer) Close() error {
	if err := b.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-b.ended
	return os.RemoveAll(b.dir)
}
