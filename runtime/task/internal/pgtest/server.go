//go:build linux

// Package pgtest runs a Postgres server for tests. It knows no driver: they belong to the modules that have tests with a server.
package pgtest

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

var programs = flag.String("postgres", "", "the folder of the programs initdb and postgres; without it, where Debian's package or npm puts them")

// Server is a server with data of its own, which end with it.
type Server struct {
	// Port is where it listens on 127.0.0.1, Dir where its socket is.
	Port int
	Dir  string

	bin    string
	extra  []string
	as     *syscall.Credential
	cmd    *exec.Cmd
	ended  chan struct{}
	output bytes.Buffer // readable when ended is closed
}

// Password is that of the user postgres.
const Password = "secret"

// Start starts a server. Settings are of its configuration, such as "fsync=on": without that nothing is synced.
func Start(settings ...string) (*Server, error) {
	bin, err := findPrograms()
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin}
	if s.Dir, err = os.MkdirTemp("", "pgtest"); err != nil {
		return nil, err
	}
	if err := s.init(); err != nil {
		return nil, errors.Join(err, s.Remove())
	}
	for _, setting := range append([]string{"fsync=off", "max_connections=300", "shared_buffers=64MB", "log_min_messages=fatal"}, settings...) {
		s.extra = append(s.extra, "-c", setting)
	}
	if s.Port, err = freePort(); err != nil {
		return nil, errors.Join(err, s.Remove())
	}
	if err := s.Run(); err != nil {
		return nil, errors.Join(err, s.Remove())
	}
	return s, nil
}

// findPrograms returns the folder of the programs.
func findPrograms() (string, error) {
	if *programs != "" {
		return filepath.Abs(*programs)
	}
	debian, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err == nil && len(debian) > 0 {
		return filepath.Dir(debian[len(debian)-1]), nil
	}
	if file, err := exec.LookPath("postgres"); err == nil {
		file, err = filepath.EvalSymlinks(file)
		return filepath.Dir(file), err
	}
	dir, err := os.Getwd()
	for ; err == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) { // from the package up to the module
		npm, err := filepath.Glob(filepath.Join(dir, "testdata", "servers", "node_modules", "*", "native", "bin", "postgres"))
		if err == nil && len(npm) > 0 {
			return filepath.Dir(npm[len(npm)-1]), nil
		}
	}
	return "", errors.New("there is no Postgres server on this machine: `make postgres` installs one")
}

// init makes the data. Postgres refuses to run as root: then it runs as the user nobody, who gets the folder.
func (s *Server) init() error {
	if os.Getuid() == 0 {
		nobody, err := user.Lookup("nobody")
		if err != nil {
			return err
		}
		uid, err := strconv.Atoi(nobody.Uid)
		if err != nil {
			return err
		}
		gid, err := strconv.Atoi(nobody.Gid)
		if err != nil {
			return err
		}
		s.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(s.Dir, uid, gid); err != nil {
			return err
		}
	}
	word := filepath.Join(s.Dir, "password")
	if err := os.WriteFile(word, []byte(Password), 0o644); err != nil {
		return err
	}
	cmd := s.command("initdb", "--pgdata", s.data(), "--username=postgres", "--pwfile", word, "--auth=scram-sha-256", "--auth-local=trust",
		"--no-sync", "--locale=C", "--encoding=UTF8")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

func (s *Server) data() string { return filepath.Join(s.Dir, "data") }

func (s *Server) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, program), args...)
	cmd.Dir = s.Dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "LD_LIBRARY_PATH=" + filepath.Join(filepath.Dir(s.bin), "lib")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.as, Pdeathsig: syscall.SIGQUIT}
	return cmd
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// Run starts the server again, on the same port, after it was stopped.
func (s *Server) Run() error {
	s.output.Reset()
	s.cmd = s.command("postgres", append([]string{"-D", s.data(), "-p", strconv.Itoa(s.Port), "-h", "127.0.0.1", "-k", s.Dir}, s.extra...)...)
	s.cmd.Stdout, s.cmd.Stderr = &s.output, &s.output
	s.ended = make(chan struct{})
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // Pdeathsig is about the thread that started the child
		err := s.cmd.Start()
		started <- err
		if err == nil {
			s.cmd.Wait()
			close(s.ended)
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for !s.ready() {
		select {
		case <-s.ended:
			return fmt.Errorf("postgres ended: %s", s.output.String())
		case <-ctx.Done():
			return errors.Join(errors.New("postgres does not become ready"), s.Stop())
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// ready reports whether the server takes connections: it says so in the file of its process, in the eighth line.
func (s *Server) ready() bool {
	text, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	lines := strings.Split(string(text), "\n")
	return err == nil && len(lines) >= 8 && lines[0] == strconv.Itoa(s.cmd.Process.Pid) && strings.TrimSpace(lines[7]) == "ready"
}

// URL names the database postgres, and a schema in it if there is one.
func (s *Server) URL(schema string) string {
	url := fmt.Sprintf("postgres://postgres:%s@127.0.0.1:%d/postgres?sslmode=disable", Password, s.Port)
	if schema != "" {
		url += "&search_path=" + schema
	}
	return url
}

// Stop stops the server as a crash does: connections break, and nothing is written any more.
func (s *Server) Stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGQUIT); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-s.ended
	return nil
}

// Remove removes what the server has written.
func (s *Server) Remove() error { return os.RemoveAll(s.Dir) }

// Close stops the server and removes its data.
func (s *Server) Close() error { return errors.Join(s.Stop(), s.Remove()) }
