package oauth_test

import (
	"context"
	"fmt"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/client/oauth"
)

// callback is where the user's browser comes back to; the program listens there.
const callback = "http://localhost:33418/callback"

// browse has the user agree in a browser, and returns what it brings back to callback.
func browse(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	if err := exec.CommandContext(ctx, "xdg-open", args.URL).Start(); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("what comes to %s is read here: code, state and iss", callback)
}

// A client that registers itself where the authorization server allows that.
func ExampleUse() {
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		AuthorizationCodeFetcher: browse,
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{ClientName: "reports", RedirectURIs: []string{callback}},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	server := client.HTTP("https://example.com/mcp")
	if err := oauth.Use(server, handler); err != nil {
		fmt.Println(err)
		return
	}
	s, err := client.Connect(context.Background(), server)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
}
