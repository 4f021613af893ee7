package streamhttp

import (
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// guard keeps pages in a browser from reaching a server that its user runs: a name that an attacker rebinds to this
// machine arrives with the attacker's Host, and a page's own request with the page's Origin.
type guard struct {
	hosts, origins names
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
	if !isLoopback(hostname(r.Host)) && !g.hosts.has(r.Host) && !g.hosts.has(hostname(r.Host)) {
		return refuse(http.StatusForbidden, "host %s is not served here", rpc.Quoted(r.Host))
	}
	for _, origin := range r.Header["Origin"] {
		if !g.allowsOrigin(origin, r.Host) {
			return refuse(http.StatusForbidden, "origin %s is not allowed", rpc.Quoted(origin))
		}
	}
	return nil
}

// allowsOrigin takes pages of this very host, which was checked before, pages of this machine, and what the operator allows.
func (g *guard) allowsOrigin(origin, host string) bool {
	if g.origins.has(origin) {
		return true
	}
	rest, web := strings.CutPrefix(origin, "http://")
	if !web {
		rest, web = strings.CutPrefix(origin, "https://")
	}
	return web && rest != "" && (strings.EqualFold(rest, host) || isLoopback(hostname(rest)))
}

// hostname is host without its port and without the brackets of an IPv6 address; "" when it is not host or host:port, as in
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

func isLoopback(name string) bool {
	if strings.EqualFold(name, "localhost") {
		return true
	}
	if name == "" || name[0] != ':' && (name[0] < '0' || name[0] > '9') {
		return false // a name: parsing it would only make an error
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.Zone() == "" && addr.IsLoopback()
}
