package streamhttp

import (
	"net/http"
	"strings"
	"testing"
)

// corsHeaders are what a browser reads of a response.
func corsHeaders(resp *http.Response) map[string]string {
	got := map[string]string{}
	for name, values := range resp.Header {
		if strings.HasPrefix(name, "Access-Control-") {
			got[strings.TrimPrefix(name, "Access-Control-")] = strings.Join(values, "; ")
		}
	}
	return got
}

func (f *fixture) preflight(headers ...string) *http.Response {
	f.t.Helper()
	return f.do(f.request(http.MethodOptions, "", append(headers, "Access-Control-Request-Method: POST")...))
}

// TestLET13CORSIsOffByDefault: an origin that may call is not told that pages may read the answer.
func TestLET13CORSIsOffByDefault(t *testing.T) {
	f := newFixture(t, WithOrigins("https://app.example.com"))
	resp := f.preflight("Origin: https://app.example.com")
	if got := corsHeaders(resp); resp.StatusCode != http.StatusMethodNotAllowed || len(got) != 0 {
		t.Errorf("status %d, %v", resp.StatusCode, got)
	}
}

// TestLET13PreflightSaysWhatTheRevisionsHave: exactly their headers, and of tool parameters those that were asked for.
func TestLET13PreflightSaysWhatTheRevisionsHave(t *testing.T) {
	f := newFixture(t, WithCORS("https://app.example.com"))
	resp := f.preflight("Origin: https://app.example.com", "Access-Control-Request-Headers: content-type,mcp-param-region, X-Other,mcp-param-b@d")
	want := map[string]string{
		"Allow-Origin": "https://app.example.com", "Allow-Methods": "POST, GET, DELETE", "Max-Age": "7200",
		"Allow-Headers": "Accept, Authorization, Content-Type, Last-Event-Id, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id, mcp-param-region",
	}
	got := corsHeaders(resp)
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s: %q, want %q", name, got[name], value)
		}
	}
	if resp.StatusCode != http.StatusNoContent || len(got) != len(want) {
		t.Errorf("status %d, %v", resp.StatusCode, got)
	}
	if vary := strings.Join(resp.Header.Values("Vary"), ", "); vary != "Origin, Access-Control-Request-Headers" {
		t.Errorf("Vary: %s", vary)
	}
}

// TestLET13PreflightOfAStrangeOriginIsRefused by the same guard that refuses its requests.
func TestLET13PreflightOfAStrangeOriginIsRefused(t *testing.T) {
	f := newFixture(t, WithCORS("https://app.example.com"))
	for _, headers := range [][]string{{"Origin: https://evil.example.com"}, {"Origin: https://app.example.com", "Host: evil.example.com"}} {
		resp := f.preflight(headers...)
		if got := corsHeaders(resp); resp.StatusCode != http.StatusForbidden || len(got) != 0 {
			t.Errorf("%v: status %d, %v", headers, resp.StatusCode, got)
		}
	}
}

// TestLET13PagesReadTheirAnswers, errors and the session's header included.
func TestLET13PagesReadTheirAnswers(t *testing.T) {
	f := newFixture(t, WithCORS("https://app.example.com"))
	for name, resp := range map[string]*http.Response{
		"a handshake": f.post(initializeBody, "Origin: https://app.example.com"),
		"a refusal":   f.post(`{`, "Origin: https://app.example.com"),
	} {
		got := corsHeaders(resp)
		if got["Allow-Origin"] != "https://app.example.com" || got["Expose-Headers"] != "Mcp-Session-Id, Retry-After, Www-Authenticate" || len(got) != 2 {
			t.Errorf("%s: %v", name, got)
		}
	}
	// A program has no origin: it gets nothing but the word that others would get something else.
	resp := f.post(initializeBody)
	if got := corsHeaders(resp); len(got) != 0 || resp.Header.Get("Vary") != "Origin" {
		t.Errorf("%v, Vary %q", got, resp.Header.Get("Vary"))
	}
}

// TestLET13AllOriginsComeWithoutCredentials: what every page may read is never what a cookie stands for.
func TestLET13AllOriginsComeWithoutCredentials(t *testing.T) {
	f := newFixture(t, WithCORS("*"))
	for _, resp := range []*http.Response{f.preflight("Origin: https://any.example.com"), f.post(initializeBody, "Origin: https://any.example.com")} {
		got := corsHeaders(resp)
		if _, credentials := got["Allow-Credentials"]; got["Allow-Origin"] != "*" || credentials {
			t.Errorf("%v", got)
		}
	}
}

// TestMiddlewareRefusesWithHeadersThatPagesRead: a preflight has no token, and a page learns from a 401 where to get one.
func TestMiddlewareRefusesWithHeadersThatPagesRead(t *testing.T) {
	token := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") == "" {
				w.Header().Set("WWW-Authenticate", "Bearer")
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	f := newFixture(t, WithCORS("https://app.example.com"), WithMiddleware(token))
	const origin = "Origin: https://app.example.com"
	if resp := f.preflight(origin); resp.StatusCode != http.StatusNoContent {
		t.Errorf("preflight: status %d", resp.StatusCode)
	}
	if resp := f.post(initializeBody, origin); resp.StatusCode != http.StatusUnauthorized || corsHeaders(resp)["Allow-Origin"] == "" {
		t.Errorf("without a token: status %d, %v", resp.StatusCode, resp.Header)
	}
	if resp := f.post(initializeBody, origin, "Authorization: Bearer x"); resp.StatusCode != http.StatusOK {
		t.Errorf("with a token: status %d", resp.StatusCode)
	}
}

// TestMiddlewareRunsInOrder: the first one given is the outermost.
func TestMiddlewareRunsInOrder(t *testing.T) {
	var order []string
	note := func(name string) Option {
		return WithMiddleware(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				order = append(order, name)
				next.ServeHTTP(w, r)
			})
		})
	}
	f := newFixture(t, note("first"), note("second"))
	f.post(initializeBody)
	if got := strings.Join(order, " "); got != "first second" {
		t.Errorf("order: %s", got)
	}
}
