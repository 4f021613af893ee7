// Package address says which addresses a server may show to clients. The generator refuses what the manifest has of others, and the runtime what
// handlers ask with and what is added while it runs (LET01). It is for those who change which schemes are allowed.
package address

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// Page tells why no user should be sent to a page of the web, nil for nothing: it could be a script or a file, tell a password, or be read
// on its way. An http address is one of this machine, for development.
func Page(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return fmt.Errorf("%.200q is no URL", address)
	case u.User != nil:
		return errors.New("a page's URL has no user and no password in it")
	case strings.EqualFold(u.Scheme, "https") && u.Hostname() != "", strings.EqualFold(u.Scheme, "http") && Loopback(u.Hostname()):
		return nil
	}
	return fmt.Errorf("%.200q is no page to send a user to: write an https URL, or an http URL of localhost", address)
}

// Picture tells why clients refuse the address of a picture, nil for nothing: it could be a script or a file. Many show none from http.
func Picture(address string) error {
	scheme, rest, _ := strings.Cut(address, ":")
	switch strings.ToLower(scheme) {
	case "https", "http":
		return nil
	case "data":
		if kind, _, _ := strings.Cut(rest, "/"); strings.EqualFold(kind, "image") || rest == "," { // which is empty
			return nil
		}
		kind, _, _ := strings.Cut(rest, ",")
		return fmt.Errorf("clients refuse a picture that is %.32q, no image", "data:"+kind)
	}
	return fmt.Errorf("clients refuse a picture at %.32q", scheme+":")
}

// Loopback reports whether a host, without a port and brackets, is this machine.
func Loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	if host == "" || host[0] != ':' && (host[0] < '0' || host[0] > '9') {
		return false // a name: parsing it would only make an error
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Zone() == "" && addr.IsLoopback()
}
