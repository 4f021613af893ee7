package streamhttp

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"testing"
)

// TestLET13ForwardedAddressCountsOnlyFromTrustedProxies: anybody can write these headers.
func TestLET13ForwardedAddressCountsOnlyFromTrustedProxies(t *testing.T) {
	public := []Option{WithHosts("mcp.example.com"), WithTrustedProxies(netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128"))}
	const host, page = "mcp.example.com", "https://mcp.example.com"
	for _, c := range []struct {
		name, from string
		forwarded  []string // X-Forwarded-Host
		proto      string
		host       string
		origin     string
		opts       []Option
		ok         bool
	}{
		{name: "the public name", from: "10.1.2.3:99", forwarded: []string{host}, host: "backend", opts: public, ok: true},
		{name: "over IPv6", from: "[::1]:99", forwarded: []string{host}, host: "backend", opts: public, ok: true},
		{name: "IPv4 in IPv6", from: "[::ffff:10.1.2.3]:99", forwarded: []string{host}, host: "backend", opts: public, ok: true},
		{name: "another name", from: "10.1.2.3:99", forwarded: []string{"evil.example.com"}, host: host, opts: public, ok: false},
		{name: "from elsewhere", from: "192.0.2.1:99", forwarded: []string{host}, host: "backend", opts: public, ok: false},
		{name: "from elsewhere, its own host", from: "192.0.2.1:99", forwarded: []string{"evil.example.com"}, host: host, opts: public, ok: true},
		{name: "nobody is trusted", from: "10.1.2.3:99", forwarded: []string{host}, host: "backend", opts: public[:1], ok: false},
		{name: "no forwarded host", from: "10.1.2.3:99", host: host, opts: public, ok: true},
		{name: "what the client put before", from: "10.1.2.3:99", forwarded: []string{host + ", evil.example.com"}, host: "backend", opts: public, ok: false},
		{name: "what the client put in a line before", from: "10.1.2.3:99", forwarded: []string{"evil.example.com", host}, host: "backend", opts: public, ok: true},
		{name: "no address", from: "", forwarded: []string{host}, host: "backend", opts: public, ok: false},

		{name: "a page of the host", from: "10.1.2.3:99", forwarded: []string{host}, proto: "https", host: "backend", origin: page, opts: public, ok: true},
		{name: "a page without encryption", from: "10.1.2.3:99", forwarded: []string{host}, proto: "https", host: "backend", origin: "http://mcp.example.com", opts: public, ok: false},
		{name: "the scheme is not known", from: "10.1.2.3:99", forwarded: []string{host}, host: "backend", origin: "http://mcp.example.com", opts: public, ok: true},
		{name: "a page of the backend", from: "10.1.2.3:99", forwarded: []string{host}, proto: "https", host: "backend", origin: "https://backend", opts: public, ok: false},
	} {
		o := defaults()
		for _, opt := range c.opts {
			opt(&o)
		}
		r := &http.Request{Host: c.host, RemoteAddr: c.from, Header: http.Header{"X-Forwarded-Host": c.forwarded}}
		if c.proto != "" {
			r.Header.Set("X-Forwarded-Proto", c.proto)
		}
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		if err := o.guard.check(r); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestLET13UnixSocketsAreTrusted with the option alone.
func TestLET13UnixSocketsAreTrusted(t *testing.T) {
	local := context.WithValue(context.Background(), http.LocalAddrContextKey, net.Addr(&net.UnixAddr{Name: "/run/x.sock", Net: "unix"}))
	r := (&http.Request{Host: "localhost", RemoteAddr: "@", Header: http.Header{"X-Forwarded-Host": {"evil.example.com"}}}).WithContext(local)
	for name, c := range map[string]struct {
		opts []Option
		ok   bool
	}{"not trusted": {nil, true}, "trusted": {[]Option{WithTrustedProxies()}, false}} {
		o := defaults()
		for _, opt := range c.opts {
			opt(&o)
		}
		if err := o.guard.check(r); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
