// Package address shows addresses of servers without the parts that may be secret: user, query and fragment. It is for the packages of the client
// that put one into an error or a log.
package address

import (
	"errors"
	"net/url"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
)

// Of returns the address without the parts that may be secret.
func Of(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// Shown is Of for an address that may be invalid or relative. Its path stays as it is written.
func Shown(address string) string {
	if u, err := url.Parse(address); err == nil {
		u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
		return u.String()
	}
	if end := strings.IndexAny(address, "?#"); end >= 0 {
		address = address[:end]
	}
	if scheme, rest, _ := strings.Cut(address, "//"); strings.Contains(rest, "@") {
		return scheme + "//…" // where the password ends can not be told
	}
	return address
}

// absolute matches an absolute address in a text. A backslash and the character after it belong to it, since the text may be a quoted Go string.
var absolute = lazyregexp.New(`[A-Za-z][A-Za-z0-9+.-]*://(?:\\.|[^\s"\\])+`)

// InText returns a text whose absolute addresses are Shown.
func InText(text string) string {
	if !strings.Contains(text, "://") {
		return text
	}
	return absolute().ReplaceAllStringFunc(text, Shown)
}

// Cleaned returns err, of net/http or net/url, with its address Shown.
func Cleaned(err error) error {
	failed, ok := err.(*url.Error)
	if !ok {
		return err
	}
	cleaned := *failed
	if cleaned.URL = Shown(failed.URL); failed.Op == "parse" && strings.Contains(failed.URL, "@") {
		cleaned.Err = errors.New("it is invalid") // the reason may quote a part of the password
	}
	return &cleaned
}
