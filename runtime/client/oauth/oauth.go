package oauth

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/client/internal/address"
)

// Use has h authorize the requests of sessions to the server. It wraps the endpoint's Client, or http.DefaultTransport if there is none. Use one
// handler for one server only; sessions that share the endpoint share the token.
func Use(e *client.Endpoint, h auth.OAuthHandler) error {
	u, err := url.Parse(e.URL)
	if err != nil {
		return fmt.Errorf("oauth: %w", address.Cleaned(err))
	}
	if u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return fmt.Errorf("oauth: %q is no address of a server", address.Of(u))
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

// originOf returns the scheme, host and port of a URL, in one spelling.
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

// Error says that the server requires a token and there is none: the user did not agree, the authorization server refused, or its answer can
// not be trusted.
type Error struct{ Err error }

// Error implements error.
func (e *Error) Error() string { return "oauth: not authorized: " + address.InText(e.Err.Error()) }

// Unwrap returns the handler's error.
func (e *Error) Unwrap() error { return e.Err }
