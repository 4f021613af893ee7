package streamhttp

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// Listener returns l with connections that refuse requests which net/http can not read (a control character in a header, no Host, headers that
// are too large) as handlers of this package refuse, with a JSON-RPC error: net/http answers such a request itself, in plain text, before any
// handler is called. This is so for every path that is served there. Listen returns such a listener already. TCP and unix sockets are covered:
// connections of other kinds, those of crypto/tls among them, are passed on as they are. A handler that hijacks a connection, and passes on the
// refusal of another net/http server, writes to what NetConn of that connection returns: the one that l accepted, which replaces nothing.
func Listener(l net.Listener) net.Listener { return listener{l} }

type listener struct{ net.Listener }

// Accept implements net.Listener.
func (l listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	switch c := conn.(type) {
	case *net.TCPConn:
		return &tcpConn{c}, err
	case *net.UnixConn:
		return &unixConn{c}, err
	}
	return conn, err
}

// tcpConn has the methods of a TCP connection: net/http sends files with ReadFrom.
type tcpConn struct{ *net.TCPConn }

func (c *tcpConn) Write(b []byte) (int, error) { return writeTo(c.TCPConn, b) }

// NetConn returns the connection that was accepted.
func (c *tcpConn) NetConn() net.Conn { return c.TCPConn }

type unixConn struct{ *net.UnixConn }

func (c *unixConn) Write(b []byte) (int, error) { return writeTo(c.UnixConn, b) }

// NetConn returns the connection that was accepted.
func (c *unixConn) NetConn() net.Conn { return c.UnixConn }

// halfCloser is a connection whose writing side can be closed by itself.
type halfCloser interface {
	net.Conn
	CloseWrite() error
}

// writeTo writes b, or the refusal that replaces it.
func writeTo(conn halfCloser, b []byte) (int, error) {
	refused := replacement(b)
	if refused == nil {
		return conn.Write(b)
	}
	if _, err := conn.Write(refused.response(time.Now())); err != nil {
		return 0, err
	}
	linger(conn)
	return len(b), nil
}

// What net/http writes, in one piece, when it can not read a request: a status line, plainHeaders, and a text. A response of a handler
// differs: it has at least a Date.
const (
	plainStart   = "HTTP/1.1 "
	plainHeaders = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
	maxPlain     = 512 // bytes
)

// headerMismatch is the code of 2026-07-28 for a header that is not valid. Other revisions have none, and the revision of the request is not
// known, because it was not read.
const headerMismatch = -32020

// malformed returns the error for a status line of net/http, without its version. For most errors in headers, control characters among them,
// net/http gives no reason.
func malformed(line string) *rpc.Error {
	switch line {
	case "400 Bad Request":
		return rpc.Errorf(headerMismatch, "the request is not valid HTTP: a header has a control character or no name, "+
			"Host or Content-Length is repeated or not valid, or the first line is wrong")
	case "400 Bad Request: invalid header name":
		return rpc.Errorf(headerMismatch, "the name of a header is not valid")
	case "400 Bad Request: invalid header value":
		return rpc.Errorf(headerMismatch, "the value of a header has a control character")
	case "400 Bad Request: missing required Host header":
		return rpc.Errorf(rpc.CodeInvalidRequest, "the header Host is missing")
	case "400 Bad Request: malformed Host header":
		return rpc.Errorf(rpc.CodeInvalidRequest, "the header Host is not valid")
	case "431 Request Header Fields Too Large":
		return rpc.Errorf(rpc.CodeInvalidRequest, "the headers are too large")
	case "501 Not Implemented":
		return rpc.Errorf(rpc.CodeInvalidRequest, "this Transfer-Encoding is not served: chunked is")
	case "505 HTTP Version Not Supported: unsupported protocol version":
		return rpc.Errorf(rpc.CodeInvalidRequest, "this version of HTTP is not served: 1.1 is")
	}
	return rpc.Errorf(rpc.CodeInvalidRequest, "the request is not valid HTTP: %s", line)
}

// replacement returns the refusal that replaces one of net/http, nil for anything else that is written. The first condition is for speed: the length or
// the first bytes of most writes show that they are no such refusal.
func replacement(b []byte) *refusal {
	if len(b) > maxPlain || len(b) <= len(plainStart) || b[len(plainStart)] < '4' || !bytes.HasPrefix(b, []byte(plainStart)) {
		return nil
	}
	line, text, ok := strings.Cut(string(b[len(plainStart):]), plainHeaders)
	if !ok || text != line && text != "Unsupported transfer encoding" {
		return nil
	}
	digits, _, _ := strings.Cut(line, " ")
	status, err := strconv.Atoi(digits)
	if err != nil {
		return nil
	}
	return &refusal{status: status, err: malformed(line)}
}

// response returns the whole HTTP response with r, after which the connection ends.
func (r *refusal) response(now time.Time) []byte {
	text := rpc.AppendError(nil, r.id, r.err)
	b := fmt.Appendf(nil, "%s%d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\nDate: %s\r\n\r\n",
		plainStart, r.status, http.StatusText(r.status), typeJSON, len(text), now.UTC().Format(http.TimeFormat))
	return append(b, text...)
}

// Limits of linger. net/http waits as long where it refuses headers that are too large.
const (
	lingerTime  = 500 * time.Millisecond
	lingerBytes = 1 << 20
)

// linger reads what the client is still sending. net/http closes the connection next, and one that is closed with something unread is
// reset, which takes the response from the client.
func linger(conn halfCloser) {
	if conn.CloseWrite() != nil || conn.SetReadDeadline(time.Now().Add(lingerTime)) != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, conn, lingerBytes)
}
