// Package address says which URLs a server may show to clients (LET01). The generator refuses others in the manifest; the runtime refuses them
// in questions of handlers and in tools and the like that are added at run time. It is for those who change which schemes are allowed.
package address

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// Page returns why no user should be sent to the web page at an address, nil if nothing is wrong with it: it could be a script or a file, contain a
// password, or be read in transit. An http URL must be one of this machine, for development.
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

// Picture returns why clients refuse the address of a picture, nil if they do not: it could be a script or a file. Many refuse http, too.
func Picture(address string) error {
	scheme, rest, _ := strings.Cut(address, ":")
	switch strings.ToLower(scheme) {
	case "https", "http":
		return nil
	case "data":
		if kind, _, _ := strings.Cut(rest, "/"); strings.EqualFold(kind, "image") || rest == "," { // data:, has no content
			return nil
		}
		kind, _, _ := strings.Cut(rest, ",")
		return fmt.Errorf("clients refuse a picture that is %.32q, no image", "data:"+kind)
	}
	return fmt.Errorf("clients refuse a picture at %.32q", scheme+":")
}

// Loopback reports whether a host, without port and brackets, is this machine.
func Loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	if host == "" || host[0] != ':' && (host[0] < '0' || host[0] > '9') {
		return false // a name, no IP address: parsing it would only allocate an error
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Zone() == "" && addr.IsLoopback()
}
