package oauth

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// Use has h authorize what a session sends to the server. It wraps the endpoint's Client, or http.DefaultTransport if there is none. One
// handler is good for one server; sessions that share the endpoint share the token.
func Use(e *client.Endpoint, h auth.OAuthHandler) error {
	u, err := url.Parse(e.URL)
	if err != nil {
		return fmt.Errorf("oauth: %w", err)
	}
	if u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return fmt.Errorf("oauth: %q is no address of a server", u.Redacted())
	}
	var own http.Client
	if e.Client != nil {
		own = *e.Client
	}
	base := own.Transport
	if base == nil {
		base = http.DefaultTransport
	}
	own.Transport = &transport{base: base, handler: h, origin: originOf(u), turn: make(chan struct{}, 1)}
	e.Client = &own
	return nil
}

// originOf is the scheme, host and port of an address, written in one way.
func originOf(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

// Error says that the server wants a token and there is none: the user did not agree, the authorization server refused, or what it says can
// not be trusted.
type Error struct{ Err error }

// Error implements error.
func (e *Error) Error() string { return "oauth: not authorized: " + e.Err.Error() }

// Unwrap returns what the handler said.
func (e *Error) Unwrap() error { return e.Err }
