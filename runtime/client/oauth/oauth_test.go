package oauth_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/client/oauth"
)

// calls starts n calls and returns how each of them ended.
func calls(ctx context.Context, s *client.Session, n int) <-chan error {
	ended := make(chan error, n)
	for range n {
		go func() {
			_, err := s.CallTool(ctx, "tool", nil)
			ended <- err
		}()
	}
	return ended
}

func TestOneLoginServesAllThatWaitForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		agreed := make(chan struct{})
		k := &keeper{authorize: func(context.Context) (string, error) { <-agreed; return "second", nil }}
		server := &site{}
		s := connect(t, server, k)
		server.change("second")
		ended := calls(t.Context(), s, 8)
		synctest.Wait()
		close(agreed)
		for range 8 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		if err := s.Close(); err != nil || k.times() != 1 {
			t.Errorf("%v; the user was asked %d times", err, k.times())
		}
		if log := server.log.String(); strings.Contains(log, "first") || strings.Contains(log, "second") {
			t.Errorf("a token was logged: %s", log)
		}
	})
}

// A user who does not agree is not asked again for each call that waited, but is for the next one.
func TestARefusalIsThatOfAllThatWaitForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := errors.New("the user does not agree")
		decided := make(chan struct{})
		k := &keeper{authorize: func(context.Context) (string, error) { <-decided; return "", refused }}
		server := &site{}
		s := connect(t, server, k)
		server.change("second")
		ended := calls(t.Context(), s, 8)
		synctest.Wait()
		close(decided)
		var wants *oauth.Error
		for range 8 {
			if err := <-ended; !errors.As(err, &wants) || !errors.Is(err, refused) {
				t.Errorf("got %v", err)
			}
		}
		if k.times() != 1 {
			t.Errorf("the user was asked %d times", k.times())
		}
		if _, err := s.CallTool(t.Context(), "tool", nil); !errors.Is(err, refused) || k.times() != 2 {
			t.Errorf("afterwards: %v, asked %d times", err, k.times())
		}
		_ = s.Close()
	})
}

// While a person logs in no timeout passes but that of questions.
func TestCAN28TheTimeOfALoginCountsInNoTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{authorize: func(ctx context.Context) (string, error) {
			select {
			case <-time.After(5 * time.Minute):
				return "second", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}}
		server := &site{}
		s := connect(t, server, k, client.WithTimeout(time.Minute, 2*time.Minute))
		server.change("second")
		if _, err := s.CallTool(t.Context(), "tool", nil); err != nil {
			t.Error(err)
		}
		_ = s.Close()

		s = connect(t, server, k, client.WithTimeout(time.Minute, 2*time.Minute), client.WithQuestionTimeout(3*time.Minute))
		server.change("second")
		begun := time.Now()
		var cause *client.Cause
		if _, err := s.CallTool(t.Context(), "tool", nil); !errors.As(err, &cause) || time.Since(begun) != 3*time.Minute {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		_ = s.Close()
	})
}

// A call that is given up takes its login with it, and the next one that waits goes on with one of its own.
func TestCAN15ACallThatIsGivenUpEndsItsLogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		agreed, ended := make(chan struct{}), 0
		k := &keeper{authorize: func(ctx context.Context) (string, error) {
			select {
			case <-agreed:
				return "second", nil
			case <-ctx.Done():
				ended++
				return "", ctx.Err()
			}
		}}
		server := &site{}
		s := connect(t, server, k)
		server.change("second")
		ctx, cancel := context.WithCancel(t.Context())
		first := calls(ctx, s, 1)
		synctest.Wait()
		second := calls(t.Context(), s, 1)
		synctest.Wait()
		cancel()
		if err := <-first; !errors.Is(err, context.Canceled) {
			t.Errorf("the first call: %v", err)
		}
		synctest.Wait()
		close(agreed)
		if err := <-second; err != nil || ended != 1 || k.times() != 2 {
			t.Errorf("the second call: %v; %d logins of %d were ended", err, ended, k.times())
		}
		_ = s.Close()
	})
}

func TestNobodyIsAskedForANotification(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{authorize: func(context.Context) (string, error) { return "second", nil }}
		server := &site{}
		s := connect(t, server, k, client.WithHandlers(client.Handlers{
			Roots: func(context.Context, *client.Question) ([]client.Root, error) { return nil, nil },
		}))
		server.change("second")
		if err := s.RootsChanged(t.Context()); err == nil || k.times() != 0 {
			t.Errorf("%v, asked %d times", err, k.times())
		}
		_ = s.Close()
		if !slices.Contains(server.seen, "notifications/roots/list_changed Bearer first") {
			t.Errorf("seen: %q", server.seen)
		}
	})
}

func TestTheTokenGoesToItsOriginAlone(t *testing.T) {
	k := &keeper{token: "secret"}
	for address, want := range map[string]string{
		"https://site.example/mcp":      "Bearer secret",
		"https://SITE.example:443/else": "Bearer secret",
		"http://site.example/mcp":       "",
		"https://site.example:8443/mcp": "",
		"https://site.example.com/mcp":  "",
		"https://example/mcp":           "",
	} {
		got := "not sent"
		server := client.HTTP("https://site.example/mcp")
		server.Client = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			got = r.Header.Get("Authorization")
			return &http.Response{StatusCode: http.StatusForbidden, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("")), Request: r}, nil
		})}
		if err := oauth.Use(server, k); err != nil {
			t.Fatal(err)
		}
		resp, err := server.Client.Post(address, "application/json", strings.NewReader("{}"))
		if err != nil || got != want {
			t.Errorf("%s: token %q, want %q; %v", address, got, want, err)
			continue
		}
		_ = resp.Body.Close()
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestWhatIsNoServersAddressIsRefused(t *testing.T) {
	for _, address := range []string{"", "site.example/mcp", "ftp://site.example/", "http://[::1", "https:///mcp"} {
		server := client.HTTP(address)
		if err := oauth.Use(server, &keeper{}); err == nil || server.Client != nil {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// No error tells the parts of an address that may be secret, neither of the server's nor of those that the handler has asked.
func TestErrorsDoNotTellSecretPartsOfAddresses(t *testing.T) {
	for _, address := range []string{"ftp://user:SECRET@host.example/mcp?key=SECRET", "http://user:SEC/RET@host.example/mcp?key=SECRET"} {
		if err := oauth.Use(client.HTTP(address), nil); err == nil || strings.Contains(err.Error(), "SEC") {
			t.Errorf("%s: %v", address, err)
		}
	}
	failed := &url.Error{Op: "Get", URL: "https://login.example/token?code=SECRET", Err: errors.New("refused")}
	err := &oauth.Error{Err: fmt.Errorf("no token: %w", failed)}
	if text := err.Error(); text != `oauth: not authorized: no token: Get "https://login.example/token": refused` || !errors.Is(err, failed) {
		t.Error(text)
	}
}
