package streamhttp

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// WithTrustedProxies accepts what these proxies say of the address that the client used: the last X-Forwarded-Host replaces Host when
// WithHosts and WithOrigins are applied, and with an X-Forwarded-Proto the pages of the host itself must have that scheme. Connections over a
// unix socket are trusted, too, since the permissions of the socket decide who may connect. Nothing else of a request changes; the default is
// to trust nobody. A proxy that is trusted has to set both headers, whatever the client sent:
//
//	streamhttp.WithTrustedProxies(netip.MustParsePrefix("10.0.0.0/8"))
func WithTrustedProxies(proxies ...netip.Prefix) Option {
	return func(o *options) {
		if o.guard.proxies == nil {
			o.guard.proxies = new(trusted)
		}
		o.guard.proxies.addresses = append(o.guard.proxies.addresses, proxies...)
	}
}

// trusted are the proxies whose headers count.
type trusted struct{ addresses []netip.Prefix }

// site is how a client addressed the server: the host with its port, and the scheme, "" if it is not known.
type site struct{ host, scheme string }

// trust reports whether a request comes from such a proxy, or over a unix socket.
func (p *trusted) trust(r *http.Request) bool {
	if p == nil {
		return false
	}
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && local.Network() == "unix" {
		return true
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	addr := from.Addr().Unmap().WithZone("")
	for _, prefix := range p.addresses {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}

// forwarded returns the site as the proxy's headers name it; without a header for the host, the host is the request's own.
func forwarded(r *http.Request) site {
	at := site{host: lastValue(r.Header, "X-Forwarded-Host"), scheme: strings.ToLower(lastValue(r.Header, "X-Forwarded-Proto"))}
	if at.host == "" {
		at.host = r.Host
	}
	return at
}

// lastValue returns the last of a header's values, which the nearest proxy wrote; "": there is none.
func lastValue(h http.Header, name string) string {
	values := h[name]
	if len(values) == 0 {
		return ""
	}
	last := values[len(values)-1]
	return strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])
}
