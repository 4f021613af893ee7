package client_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// secretPart are the parts of an address that may be secret. They are in no error and no log.
const secretPart = "?key=SECRET&more=SECRET#SECRET"

// unreachable is the address of a server that is not there.
func unreachable(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// sayings is a server that repeats the address of a request in what it says.
func sayings(w http.ResponseWriter, r *http.Request, m message) {
	switch uri := r.URL.RequestURI(); {
	case strings.HasPrefix(uri, "/redirect"):
		w.Header().Set("Location", "https://user:SECRET@elsewhere.example"+uri)
		w.WriteHeader(http.StatusTemporaryRedirect)
	case strings.HasPrefix(uri, "/unauthorized"):
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="https://host.example/.well-known`+uri+`"`)
		w.WriteHeader(http.StatusUnauthorized)
	case strings.HasPrefix(uri, "/json"):
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"message":"Route %s not found"}`, uri)
	case strings.HasPrefix(uri, "/text"):
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, "no %s", uri)
	case strings.HasPrefix(uri, "/page"):
		fmt.Fprintf(w, "<html>%s", uri)
	default:
		session(w, r, m, "a")
	}
}

func TestTheSecretPartsOfAnAddressAreInNoErrorAndNoLog(t *testing.T) {
	script := script(t, sayings)
	refused := unreachable(t)
	for name, address := range map[string]string{
		"refused":      "http://user:SECRET@" + refused + "/mcp" + secretPart,
		"invalid":      "http://user:SEC/RET@" + refused + "/mcp" + secretPart,
		"bad scheme":   "ftp://user:SECRET@" + refused + "/mcp" + secretPart,
		"redirect":     script + "/redirect" + secretPart,
		"unauthorized": script + "/unauthorized" + secretPart,
		"json":         script + "/json" + secretPart,
		"text":         script + "/text" + secretPart,
		"page":         script + "/page" + secretPart,
	} {
		var l record
		endpoint := client.HTTP(address)
		_, err := client.Connect(t.Context(), endpoint, l.option())
		if err == nil || strings.Contains(err.Error()+l.String(), "SEC") {
			t.Errorf("%s: %v\n%s", name, err, &l)
		}
		var h client.Hub
		err = h.Add(t.Context(), "one", client.HTTP(address), l.option())
		if err == nil || strings.Contains(err.Error()+l.String(), "SEC") {
			t.Errorf("%s, in a Hub: %v\n%s", name, err, &l)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
}

// An error of the network says what it did, and callers find out more.
func TestAnErrorOfTheNetworkIsStillOne(t *testing.T) {
	refused := unreachable(t)
	_, err := client.Connect(t.Context(), client.HTTP("http://"+refused+"/mcp"+secretPart))
	var lost *client.TransportError
	var failed *url.Error
	var op *net.OpError
	if !errors.As(err, &lost) || !errors.As(err, &failed) || !errors.As(err, &op) || failed.Timeout() || failed.URL != "http://"+refused+"/mcp" {
		t.Errorf("%#v", err)
	}
	has(t, err.Error(), `"http://`+refused+`/mcp"`)
}

// What a http.RoundTripper or a proxy says of addresses is cleaned, too.
func TestTheSecretPartsOfNestedAddresses(t *testing.T) {
	const nested = `Get "https://user:SECRET@login.example/token?code=SECRET": EOF`
	var logs strings.Builder
	endpoint := client.HTTP("http://server.test/mcp")
	endpoint.Client = &http.Client{Transport: roundTrip(func(*http.Request, message) (*http.Response, error) { return nil, errors.New(nested) })}
	_, err := client.Connect(context.Background(), endpoint, client.WithLogger(slog.New(slog.NewTextHandler(&logs, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	if err == nil || strings.Contains(err.Error()+logs.String(), "SECRET") {
		t.Errorf("%v\n%s", err, &logs)
	}
	has(t, err.Error(), "https://login.example/token")
}
