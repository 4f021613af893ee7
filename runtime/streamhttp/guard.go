package streamhttp

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check/address"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// guard keeps pages in a browser from reaching a server that its user runs (DNS rebinding): a name that an attacker
// rebinds to this machine arrives with the attacker's Host, and a page's own request with the page's Origin.
type guard struct {
	hosts, origins names
	proxies        *trusted // the proxies whose headers for host and scheme count; nil: none
}

// names are allowed values in lower case, or all of them.
type names struct {
	all  bool
	some map[string]bool
}

func (n *names) add(values []string) {
	for _, v := range values {
		if v == "*" {
			n.all = true
			continue
		}
		if n.some == nil {
			n.some = map[string]bool{}
		}
		n.some[strings.ToLower(v)] = true
	}
}

func (n *names) has(value string) bool {
	return n.all || len(n.some) > 0 && n.some[strings.ToLower(value)]
}

// check refuses requests for hosts and from origins that are neither loopback nor allowed.
func (g *guard) check(r *http.Request) *refusal {
	at := site{host: r.Host}
	if g.proxies.trust(r) {
		at = forwarded(r)
	}
	if name := hostname(at.host); !address.Loopback(name) && !g.hosts.has(at.host) && !g.hosts.has(name) {
		return refuse(http.StatusForbidden, "host %s is not served here", rpc.Quoted(at.host))
	}
	for _, origin := range r.Header["Origin"] {
		if !g.allowsOrigin(origin, at) {
			return refuse(http.StatusForbidden, "origin %s is not allowed", rpc.Quoted(origin))
		}
	}
	return nil
}

// allowsOrigin reports whether an origin is this very site, whose host was checked before, this machine, or one that the operator allows.
func (g *guard) allowsOrigin(origin string, at site) bool {
	if g.origins.has(origin) {
		return true
	}
	scheme, rest, _ := strings.Cut(origin, "://")
	if rest == "" || scheme != "http" && scheme != "https" {
		return false
	}
	return strings.EqualFold(rest, at.host) && (at.scheme == "" || at.scheme == scheme) || address.Loopback(hostname(rest))
}

// hostname returns host without its port and without the brackets of an IPv6 address; "" for what is neither host nor host:port, such as
// "localhost:80@evil.example.com", where everything before the @ is a user's name and password.
func hostname(host string) string {
	name, port, hasPort := strings.Cut(host, ":")
	if inner, ok := strings.CutPrefix(host, "["); ok {
		address, after, closed := strings.Cut(inner, "]")
		if !closed {
			return ""
		}
		name = address
		if after, port, hasPort = strings.Cut(after, ":"); after != "" {
			return ""
		}
	}
	if hasPort && !isPort(port) {
		return ""
	}
	return name
}

func isPort(s string) bool {
	_, err := strconv.ParseUint(s, 10, 16)
	return err == nil
}
