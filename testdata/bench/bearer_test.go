package bench

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/streamhttp"

	"github.com/mcpkiln/mcpkiln/testdata/bench/kiln"
)

// The official SDK's bearer middleware in front of a generated server: who the token belongs to is who the server knows.
func Example_bearer() {
	srv, err := kiln.New(kilnHandlers{})
	if err != nil {
		panic(err)
	}
	mcp := streamhttp.Handler(srv)
	defer mcp.Close()
	identified := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := auth.TokenInfoFromContext(r.Context()).UserID
		mcp.ServeHTTP(w, r.WithContext(server.WithPrincipal(r.Context(), who)))
	})
	web := httptest.NewServer(auth.RequireBearerToken(verify, nil)(identified))
	defer web.Close()
	fmt.Println(post(web.URL, "secret-of-ada"), post(web.URL, "guessed"))
	// Output: 200 401
}

// verify stands for the authorization server's word.
func verify(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
	if token != "secret-of-ada" {
		return nil, auth.ErrInvalidToken
	}
	return &auth.TokenInfo{UserID: "ada", Expiration: time.Now().Add(time.Hour)}, nil
}

// post performs the handshake with the token and returns the status.
func post(url, token string) int {
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(initialize))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		panic(err)
	}
	defer res.Body.Close()
	return res.StatusCode
}
