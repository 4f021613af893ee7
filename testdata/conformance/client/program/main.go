// Program is the client that the protocol's conformance suite drives: it gets the server's address as its last argument and does what the
// scenario of MCP_CONFORMANCE_SCENARIO wants to see. It is a module of its own because it logs in with another's library.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/client/oauth"
	conformance "github.com/mcpkiln/mcpkiln/testdata/conformance/client"
)

func main() {
	if err := run(context.Background(), os.Args[len(os.Args)-1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, url string) error {
	scenario, given := os.Getenv("MCP_CONFORMANCE_SCENARIO"), []byte(os.Getenv("MCP_CONFORMANCE_CONTEXT"))
	server := client.HTTP(url)
	if strings.HasPrefix(scenario, "auth/") {
		handler, err := newHandler(given)
		if err != nil {
			return err
		}
		if err := oauth.Use(server, handler); err != nil {
			return err
		}
	}
	return conformance.Run(ctx, server, scenario, given)
}

// callback is where the authorization server would send the user's browser.
const callback = "http://localhost:3000/callback"

// newHandler is a client that can register in each of the three ways. given may have what was registered before.
func newHandler(given []byte) (auth.OAuthHandler, error) {
	config := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL:                     callback,
		AuthorizationCodeFetcher:        agree,
		ClientIDMetadataDocumentConfig:  &auth.ClientIDMetadataDocumentConfig{URL: "https://conformance-test.local/client-metadata.json"},
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{RedirectURIs: []string{callback}}},
	}
	var registered struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if len(given) > 0 {
		if err := json.Unmarshal(given, &registered); err != nil {
			return nil, err
		}
	}
	if registered.ID != "" {
		config.PreregisteredClient = &oauthex.ClientCredentials{ClientID: registered.ID, ClientSecretAuth: &oauthex.ClientSecretAuth{ClientSecret: registered.Secret}}
	}
	return auth.NewAuthorizationCodeHandler(config)
}

// agree is a user who agrees to everything: the suite's authorization server redirects at once.
func agree(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, args.URL, nil)
	if err != nil {
		return nil, err
	}
	browser := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := browser.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	to, err := resp.Location()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the authorization server answers with HTTP status %d", resp.StatusCode), err)
	}
	said := to.Query()
	return &auth.AuthorizationResult{Code: said.Get("code"), State: said.Get("state"), Iss: said.Get("iss")}, nil
}
