package oauth

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"golang.org/x/oauth2"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// transport adds the token to requests, and gets a new one when a request is refused.
type transport struct {
	base    http.RoundTripper
	handler auth.OAuthHandler
	origin  string // the only one that gets the token

	turn chan struct{} // full while one request has the handler authorize
	last atomic.Pointer[outcome]
}

// outcome is how an authorization ended. It applies to all requests that waited for their turn meanwhile, so that a user who does not agree
// is not asked again for each of them.
type outcome struct{ err error }

// maxTries is how often a request is sent: first, with a token that another request has got, and with one that was got for it.
const maxTries = 3

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if originOf(req.URL) != t.origin {
		return t.base.RoundTrip(req)
	}
	for try := 1; ; try++ {
		token, err := t.token(req.Context())
		if err != nil {
			closeBody(req)
			return nil, &Error{err}
		}
		resp, err := t.send(req, token)
		if err != nil || !refused(resp) || try == maxTries || req.Body != nil && req.GetBody == nil {
			return resp, err
		}
		ctx, done, ok := client.Asking(req.Context())
		if !ok {
			return resp, nil
		}
		asked, err := t.authorize(ctx, req, resp, token)
		done()
		if err != nil {
			return nil, err
		}
		if asked {
			try = maxTries - 1
		}
		if req, err = again(req); err != nil {
			return nil, err
		}
	}
}

func refused(resp *http.Response) bool {
	return resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden
}

// token returns the current token, "" for none. If the refresh token is not valid any more, there is none either: the server then refuses the request.
func (t *transport) token(ctx context.Context) (string, error) {
	source, err := t.handler.TokenSource(ctx)
	if err != nil || source == nil {
		return "", err
	}
	token, err := source.Token()
	var expired *oauth2.RetrieveError
	switch {
	case errors.As(err, &expired) && expired.ErrorCode == "invalid_grant":
		return "", nil
	case err != nil || token == nil:
		return "", err
	}
	return token.AccessToken, nil
}

// send sends the request with the token. The caller's request does not change.
func (t *transport) send(req *http.Request, token string) (*http.Response, error) {
	if token != "" {
		own := req.Clone(req.Context())
		own.Header.Set("Authorization", "Bearer "+token)
		req = own
	}
	return t.base.RoundTrip(req)
}

// again returns the request with a body that was not read yet.
func again(req *http.Request) (own *http.Request, err error) {
	own = req.Clone(req.Context())
	if req.Body != nil {
		own.Body, err = req.GetBody()
	}
	return own, err
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}

// authorize gets a token instead of the one that the server refused. asked is false if another request has got one meanwhile, which is to be tried
// first.
func (t *transport) authorize(ctx context.Context, req *http.Request, resp *http.Response, used string) (asked bool, err error) {
	defer resp.Body.Close()
	seen := t.last.Load()
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
	if last := t.last.Load(); last != seen && last.err != nil {
		return false, last.err
	}
	if token, err := t.token(ctx); err == nil && token != used {
		return false, nil
	}
	err = t.handler.Authorize(ctx, req, resp)
	switch {
	case err == nil:
	case ctx.Err() != nil: // given up, which does not decide for those who wait
		return true, context.Cause(ctx)
	default:
		err = &Error{err}
	}
	t.last.Store(&outcome{err})
	return true, err
}
