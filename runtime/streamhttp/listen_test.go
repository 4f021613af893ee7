package streamhttp

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// serveOn serves h on l until the test ends.
func serveOn(t *testing.T, l net.Listener, h http.Handler) {
	s := Server("", h)
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		<-done
	})
}

func TestUnixSocketIsServed(t *testing.T) {
	f := newFixture(t)
	path := filepath.Join(socketDir(t), "mcp.sock")
	l, err := Listen("unix:" + path)
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, l, f.h)
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequest(http.MethodPost, "http://localhost/mcp", strings.NewReader(initializeBody))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", typeJSON)
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Mcp-Session-Id") == "" {
		t.Errorf("status %d: %s", resp.StatusCode, body(resp))
	}
}

// TestAbandonedSocketIsReplaced, and nothing else is: neither a socket where somebody listens, nor a file.
func TestAbandonedSocketIsReplaced(t *testing.T) {
	dir := socketDir(t)
	left := filepath.Join(dir, "left.sock")
	old, err := net.Listen("unix", left)
	if err != nil {
		t.Fatal(err)
	}
	if l, err := Listen("unix:" + left); err == nil {
		l.Close()
		t.Error("a socket in use was replaced")
	}
	old.(*net.UnixListener).SetUnlinkOnClose(false) // as a process that is killed leaves it
	old.Close()
	l, err := Listen("unix:" + left)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l, err := Listen("unix:" + file); err == nil {
		l.Close()
		t.Error("a file was replaced")
	}
	if b, err := os.ReadFile(file); string(b) != "mine" {
		t.Errorf("the file: %q %v", b, err)
	}
}

// socketDir is a folder with a short name: paths of sockets have about a hundred bytes.
func socketDir(t *testing.T) string {
	dir, err := os.MkdirTemp("", "mcp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestListenWithoutHostIsLoopback(t *testing.T) {
	l, err := Listen(":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if addr := l.Addr().(*net.TCPAddr); !addr.IP.IsLoopback() {
		t.Errorf("listens on %v", addr)
	}
}
