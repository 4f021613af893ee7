package client_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/testdata/conformance/server/kiln"
)

// child is a server in a process of its own.
func child(args []string) {
	switch args[0] {
	case "banner":
		fmt.Println("Welcome to the server!")
	case "dies":
		fmt.Fprintln(os.Stderr, "first line\nno such database")
		os.Exit(3)
	case "banner and dies":
		fmt.Println("usage: server FILE")
		os.Exit(2)
	case "breaks off":
		fmt.Print(brokenOff)
		os.Exit(0)
	case "stubborn", "hard of hearing":
		stayAlive(args[0] == "stubborn")
	case "closes its output", "closes its input":
		closesStream(args[0] == "closes its output")
		return
	case "leaves a child":
		leaveChild()
	case "silent":
		signal.Ignore(syscall.SIGTERM)
		select {}
	case "handshake or death":
		diesOfDiscovery()
		return
	}
	generated, err := kiln.New(struct{ kiln.Handlers }{})
	if err != nil {
		panic(err)
	}
	srv, err := server.New(server.Definition{
		Name: "child", Version: "1", Runtime: server.Generation1, Tools: []server.Tool{tool("echo", echo), tool("hang", hang), tool("kill", kill)}, Revisions: generated.Definition().Revisions,
	})
	if err != nil {
		panic(err)
	}
	_ = srv.Serve(context.Background(), rpc.Stdio())
	if args[0] == "stubborn" {
		select {}
	}
	if args[0] == "hard of hearing" {
		<-terminated
	}
}

var terminated = make(chan os.Signal, 1)

// stayAlive has the process end by force only, or by a signal only.
func stayAlive(ignore bool) {
	if ignore {
		signal.Ignore(syscall.SIGTERM)
		return
	}
	signal.Notify(terminated, syscall.SIGTERM)
}

// diesOfDiscovery is a server that ends when it does not know a request.
func diesOfDiscovery() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		_, id, _ := strings.Cut(in.Text(), `"id":`)
		id, _, _ = strings.Cut(id, ",")
		switch line := in.Text(); {
		case strings.Contains(line, `"initialize"`):
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}}`+"\n", id)
		case strings.Contains(line, `"tools/call"`):
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`+"\n", id)
		case !strings.Contains(line, `"notifications/`):
			fmt.Fprintln(os.Stderr, "unknown request")
			os.Exit(1)
		}
	}
}

// closesStream is a server that lives on when it has closed its output or its input, which it does at the first call of a tool.
func closesStream(output bool) {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		_, id, _ := strings.Cut(in.Text(), `"id":`)
		id, _, _ = strings.Cut(id, ",")
		switch line := in.Text(); {
		case strings.Contains(line, `"initialize"`):
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}}`+"\n", id)
		case strings.Contains(line, `"tools/call"`) && output:
			fmt.Fprintln(os.Stderr, "pid", os.Getpid())
			_ = os.Stdout.Close()
			select {}
		case strings.Contains(line, `"tools/call"`):
			_ = os.Stdin.Close()
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`+"\n", id)
			select {}
		}
	}
}

func spawn(t *testing.T, kind string, opts ...client.Option) (*client.Session, error) {
	t.Helper()
	p := client.Command(os.Args[0], "-child", kind)
	p.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0") // else each child takes a second to end under the race detector
	return client.Connect(t.Context(), p, opts...)
}

func TestAChildProcessIsServedAndEnds(t *testing.T) {
	for _, kind := range []string{"plain", "banner"} {
		each(t, func(t *testing.T, revision string) {
			s, err := spawn(t, kind, client.WithRevision(revision))
			if err != nil {
				t.Fatal(err)
			}
			r, err := s.CallTool(t.Context(), "echo", map[string]string{"text": "hello"})
			if err != nil {
				t.Fatal(err)
			}
			has(t, string(r.Raw), "hello")
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAChildThatDiesOfTheFirstRequestIsStartedAgain(t *testing.T) {
	s, err := spawn(t, "handshake or death")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.CallTool(t.Context(), "x", nil); err != nil || s.Revision() != "2025-06-18" {
		t.Errorf("%s, %v", s.Revision(), err)
	}
}

func TestWhatAChildSaysBeforeItDiesIsInTheError(t *testing.T) {
	for kind, want := range map[string][]string{
		"dies":            {"exit status 3", "first line | no such database"},
		"banner and dies": {"exit status 2", "usage: server FILE"},
	} {
		_, err := spawn(t, kind)
		var lost *client.TransportError
		var exit *exec.ExitError
		if !errors.As(err, &lost) || !errors.As(err, &exit) {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		has(t, err.Error(), want...)
	}
	_, err := client.Connect(t.Context(), client.Command("/no/such/program"))
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestAChildThatDoesNotEndIsAskedAndThenKilled(t *testing.T) {
	for kind, killed := range map[string]bool{"hard of hearing": false, "stubborn": true} {
		const grace = 300 * time.Millisecond
		s, err := spawn(t, kind, client.WithGrace(grace))
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		err = s.Close()
		if took := time.Since(began); took < grace || took > 10*time.Second {
			t.Errorf("%s: ended after %v", kind, took)
		}
		if (err != nil) != killed {
			t.Errorf("%s: %v", kind, err)
		}
		if killed && runtime.GOOS != "windows" {
			has(t, err.Error(), "did not end within 300ms of the end of its input, nor of SIGTERM")
		}
	}
}

func TestTheDeathOfAChildEndsWhatIsInFlight(t *testing.T) {
	s, err := spawn(t, "plain")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	done := start(t.Context(), s, "hang")
	_, err = s.CallTool(t.Context(), "kill", nil)
	r := <-done
	for _, err := range []error{err, r.err} {
		var cause *client.Cause
		if !errors.As(err, &cause) || cause.Source != inflight.SourceDisconnect {
			t.Fatalf("%v", err)
		}
		has(t, err.Error(), "killed")
	}
}

// kill ends the process that it runs in.
func kill(context.Context, *server.Call, *input) (*output, error) {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return nil, err
	}
	return nil, self.Kill()
}

// leaveChild starts a process that holds the standard streams open, tells its id, and ends.
func leaveChild() {
	own := exec.Command(os.Args[0], "-child", "silent")
	own.Stdin, own.Stdout, own.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := own.Start(); err != nil {
		panic(err)
	}
	fmt.Fprintln(os.Stderr, "pid", own.Process.Pid)
	os.Exit(0)
}

// Who gives up connecting does not wait for the graces of a child that obeys nobody.
func TestConnectingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := client.Command(os.Args[0], "-child", "silent")
	p.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	ended := make(chan error, 1)
	go func() {
		_, err := client.Connect(ctx, p, client.WithGrace(time.Hour), client.WithProbe(time.Hour))
		ended <- err
	}()
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it waits for the child")
	}
}

// Abort waits for no grace, and hastens a Close that does.
func TestAbortKillsAChildThatDoesNotEnd(t *testing.T) {
	s, err := spawn(t, "stubborn", client.WithGrace(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	var lost *client.TransportError
	for name, err := range map[string]error{"Abort": s.Abort(), "Close": <-closed} {
		if !errors.As(err, &lost) || !strings.Contains(err.Error(), "killed at once") || strings.Contains(err.Error(), "1h") || strings.Contains(err.Error(), "SIGTERM") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A reference may be shown to anybody, and a command may have a secret anywhere. Two commands are told apart all the same.
func TestTSK27ACommandsArgumentsAreNotInItsEndpoint(t *testing.T) {
	endpoint := func(args ...string) string {
		t.Helper()
		p := client.Command(os.Args[0], append([]string{"-child", "plain"}, args...)...)
		p.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
		s, err := client.Connect(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		return s.Endpoint()
	}
	one, same, other := endpoint("--token", "s3cret"), endpoint("--token", "s3cret"), endpoint("--token", "another")
	if strings.Contains(one, "s3cret") || strings.Contains(one, "token") || !strings.Contains(one, os.Args[0]) || one != same || one == other {
		t.Errorf("%q, %q and %q", one, same, other)
	}
}

// What writes back all that it reads is no server.
func TestAnEchoIsNoServer(t *testing.T) {
	_, err := client.Connect(t.Context(), client.Command("cat"))
	var bad *client.ProtocolError
	if !errors.As(err, &bad) {
		t.Fatalf("%v", err)
	}
	has(t, err.Error(), "this is no server")
}

// A child that has closed its output, or its input, is no server any more, though it lives: the session ends, and the child with it.
func TestCAN26AChildThatClosesAStreamIsEnded(t *testing.T) {
	for _, kind := range []string{"closes its output", "closes its input"} {
		s, err := spawn(t, kind, client.WithRevision("2025-06-18"), client.WithGrace(time.Second), client.WithTimeout(time.Minute, 0))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second is what a child without an input does not read
			_, _ = s.CallTool(t.Context(), "x", nil)
		}
		select {
		case <-s.Done():
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: the session goes on", kind)
		}
		var lost *client.TransportError
		if !errors.As(s.Err(), &lost) {
			t.Errorf("%s: %v", kind, s.Err())
		}
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
