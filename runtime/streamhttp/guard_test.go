package streamhttp

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestLET13GuardRefusesStrangeHostsAndOrigins(t *testing.T) {
	open := []Option{WithHosts("mcp.example.com"), WithOrigins("https://app.example.com")}
	for _, c := range []struct {
		host, origin string
		opts         []Option
		ok           bool
	}{
		{host: "localhost", ok: true},
		{host: "LocalHost:8080", ok: true},
		{host: "127.0.0.1:8080", ok: true},
		{host: "127.255.1.2", ok: true},
		{host: "[::1]:8080", ok: true},
		{host: "[::1]", ok: true},
		{host: "", ok: false},
		{host: "evil.example.com", ok: false},
		{host: "localhost.evil.example.com", ok: false},
		{host: "127.0.0.1.evil.example.com", ok: false},
		{host: "127.0.0.1@evil.example.com", ok: false},
		{host: "127.0.0.1:80@evil.example.com", ok: false},
		{host: "[::1]:80@evil.example.com", ok: false},
		{host: "localhost:http", ok: false},
		{host: "localhost:", ok: false},
		{host: "localhost:65536", ok: false},
		{host: "::1", ok: false},
		{host: "[::1", ok: false},
		{host: "[::1]x", ok: false},
		{host: "0.0.0.0:80", ok: false},
		{host: "192.168.0.1", ok: false},
		{host: "mcp.example.com", ok: false},
		{host: "mcp.example.com", opts: open, ok: true},
		{host: "MCP.example.com:443", opts: open, ok: true},
		{host: "x.mcp.example.com", opts: open, ok: false},
		{host: "anything", opts: []Option{WithHosts("*")}, ok: true},

		{host: "localhost", origin: "http://localhost:3000", ok: true},
		{host: "localhost", origin: "https://127.0.0.1", ok: true},
		{host: "localhost", origin: "http://[::1]:1", ok: true},
		{host: "localhost", origin: "http://evil.example.com", ok: false},
		{host: "localhost", origin: "http://localhost.evil.example.com", ok: false},
		{host: "localhost", origin: "http://localhost@evil.example.com", ok: false},
		{host: "localhost", origin: "http://localhost:80@evil.example.com", ok: false},
		{host: "localhost", origin: "http://[::1]:80@evil.example.com", ok: false},
		{host: "localhost", origin: "http://localhost:80/evil.example.com", ok: false},
		{host: "localhost", origin: "null", ok: false},
		{host: "localhost", origin: "file://", ok: false},
		{host: "localhost", origin: "http://", ok: false},
		{host: "localhost", origin: "https://app.example.com", opts: open, ok: true},
		{host: "localhost", origin: "https://app.example.com.evil.example.com", opts: open, ok: false},
		{host: "mcp.example.com", origin: "https://mcp.example.com", opts: open, ok: true},
		{host: "localhost", origin: "https://any.example.com", opts: []Option{WithOrigins("*")}, ok: true},
	} {
		o := defaults()
		for _, opt := range c.opts {
			opt(&o)
		}
		r := &http.Request{Host: c.host, Header: http.Header{}}
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		if err := o.guard.check(r); (err == nil) != c.ok {
			t.Errorf("host %q origin %q: %v", c.host, c.origin, err)
		}
	}
}

func TestAccept(t *testing.T) {
	for _, c := range []struct {
		values []string
		ok     bool
	}{
		{nil, true},
		{[]string{"*/*"}, true},
		{[]string{"application/json, text/event-stream"}, true},
		{[]string{"text/event-stream;q=0.5,application/json"}, true},
		{[]string{"application/json", "text/event-stream"}, true},
		{[]string{"Application/*, TEXT/*"}, true},
		{[]string{"application/json, */*;q=0.1"}, true},
		{[]string{"application/json"}, false},
		{[]string{"text/event-stream"}, false},
		{[]string{"text/html"}, false},
		{[]string{""}, false},
		{[]string{"*/*, text/event-stream;q=0"}, false},
		{[]string{"application/json; q=0.0, text/event-stream, */*"}, false},
		{[]string{"application/jsonx, text/event-stream"}, false},
	} {
		r := &http.Request{Header: http.Header{"Accept": c.values}}
		if err := checkAccept(r, typeJSON, typeEvents); (err == nil) != c.ok {
			t.Errorf("%q: %v", c.values, err)
		}
	}
}

func TestContentType(t *testing.T) {
	for value, ok := range map[string]bool{
		"application/json": true, "application/json; charset=utf-8": true, `Application/JSON;charset="UTF-8"`: true,
		"": false, "text/plain": false, "application/json-rpc": false, "application/jsonp": false, "application/json; charset=latin1": false,
		"application/json; x=1": false, "text/plain; application/json": false, "application/x-www-form-urlencoded": false,
		"application/json, text/plain": false,
	} {
		r := &http.Request{Header: http.Header{}}
		if value != "" {
			r.Header.Set("Content-Type", value)
		}
		if err := checkContent(r); (err == nil) != ok {
			t.Errorf("%q: %v", value, err)
		}
	}
}

// A body that is coded is not read as if it were plain.
func TestContentEncodingThatIsNotDecoded(t *testing.T) {
	for value, ok := range map[string]bool{
		"": true, "identity": true, "Identity": true, "gzip": false, "deflate": false, "br": false, "zstd": false, "gzip, identity": false, "identity, gzip": false,
	} {
		r := &http.Request{Header: http.Header{"Content-Type": {typeJSON}, "Content-Encoding": {value}}}
		if err := checkContent(r); (err == nil) != ok || !ok && err.status != http.StatusUnsupportedMediaType {
			t.Errorf("%q: %v", value, err)
		}
	}
}

// TestARefusedHostIsLoggedOnceASecond: clients choose how often they are refused.
func TestARefusedHostIsLoggedOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		h := &Endpoint{opts: options{logger: slog.New(slog.NewTextHandler(&log, nil))}}
		for range 3 {
			h.warnGuarded(refuse(http.StatusForbidden, "host x"))
		}
		time.Sleep(time.Second)
		h.warnGuarded(refuse(http.StatusForbidden, "host y"))
		if got := log.String(); strings.Count(got, "WithHosts") != 2 || !strings.Contains(got, "host y") {
			t.Errorf("logged\n%s", got)
		}
	})
}
