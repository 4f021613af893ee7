package streamhttp

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
)

// Listen listens on a TCP address, where no host means loopback as for Server, or on a unix socket: "unix:/run/reports/mcp.sock". A socket that a
// process left behind, where nobody listens any more, is replaced. The permissions of its folder and the umask decide who may connect. The
// result is a Listener.
func Listen(addr string) (net.Listener, error) {
	l, err := listen(addr)
	if err != nil {
		return nil, err
	}
	return Listener(l), nil
}

func listen(addr string) (net.Listener, error) {
	path, unix := strings.CutPrefix(addr, "unix:")
	if !unix {
		return net.Listen("tcp", withHost(addr))
	}
	l, err := net.Listen("unix", path)
	if errors.Is(err, syscall.EADDRINUSE) && abandoned(path) {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
		return net.Listen("unix", path)
	}
	return l, err
}

// abandoned reports whether path is a socket where nobody listens.
func abandoned(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Type() != fs.ModeSocket {
		return false
	}
	conn, err := net.Dial("unix", path)
	if err == nil {
		conn.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// withHost adds the loopback address where an address has no host.
func withHost(addr string) string {
	if host, port, err := net.SplitHostPort(addr); err == nil && host == "" {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return addr
}
