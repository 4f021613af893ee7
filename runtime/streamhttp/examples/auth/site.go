package main

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/streamhttp"
)

// site is the address of the server, and whom it trusts.
type site struct {
	public string // how clients reach it
	issuer string // the authorization server
	page   string // the origin of pages that may call it
	verify auth.TokenVerifier
}

// metadataPath is where clients find the metadata of the protected resource /mcp (RFC 9728).
const metadataPath = "/.well-known/oauth-protected-resource/mcp"

// scope is the scope that a token has to have.
const scope = "notes"

// handler is the endpoint and everything around it.
func (s site) handler(srv *server.Server) (*streamhttp.Endpoint, http.Handler) {
	host := "localhost"
	if u, err := url.Parse(s.public); err == nil {
		host = u.Host
	}
	endpoint := streamhttp.Handler(srv,
		streamhttp.WithHosts(host),
		streamhttp.WithCORS(s.page),
		// Inside the endpoint, so that preflights pass, which have no token, and pages can read why they were refused.
		streamhttp.WithMiddleware(auth.RequireBearerToken(s.verify, &auth.RequireBearerTokenOptions{
			ResourceMetadataURL: s.public + metadataPath, Scopes: []string{scope},
		})),
		streamhttp.WithMiddleware(identify),
	)
	mux := http.NewServeMux()
	mux.Handle("/mcp", endpoint)
	mux.Handle(metadataPath, auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
		Resource: s.public + "/mcp", AuthorizationServers: []string{s.issuer}, ScopesSupported: []string{scope}, BearerMethodsSupported: []string{"header"},
	}))
	mux.Handle("/healthz", endpoint.Health())
	mux.Handle("/readyz", endpoint.Ready())
	return endpoint, mux
}

// identify passes the user of the token to the server, who owns sessions, tasks and quotas.
func identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := auth.TokenInfoFromContext(r.Context()).UserID
		next.ServeHTTP(w, r.WithContext(server.WithPrincipal(r.Context(), who)))
	})
}

// verify stands in for the authorization server: check a signed token with its keys, or ask it about an opaque one, and in either case that the
// token was issued for this resource and for nothing else.
func verify(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
	user, known := map[string]string{"token-of-ada": "ada", "token-of-eve": "eve"}[token]
	if !known {
		return nil, auth.ErrInvalidToken
	}
	return &auth.TokenInfo{UserID: user, Scopes: []string{scope}, Expiration: time.Now().Add(time.Hour)}, nil
}
