package client_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// A header that HTTP does not allow is refused before anything is sent, with an error that names it and does not show its value.
func TestAHeaderThatHTTPDoesNotAllow(t *testing.T) {
	for _, c := range []struct{ name, value, says string }{
		{"Authorization", "Bearer SECRET\n", "header Authorization"}, {"X-A", "SECRET\r\nX-B: 1", "header X-A"}, {"X-A", "SECRET\x00", "header X-A"},
		{"X-A", "SECRET\x7f", "header X-A"}, {"X A", "SECRET", `"X A"`}, {"", "SECRET", `""`}, {"X-A", "an\tallowed\u00e9", ""},
	} {
		endpoint, sent := client.HTTP("http://server.example/mcp"), 0
		endpoint.Header = http.Header{c.name: {c.value}}
		endpoint.Client = &http.Client{Transport: roundTrip(func(*http.Request, message) (*http.Response, error) {
			sent++
			return status(http.StatusTeapot), nil
		})}
		_, err := client.Connect(t.Context(), endpoint)
		if err == nil || (sent == 0) != (c.says != "") {
			t.Fatalf("%q: %q: %v, %d requests", c.name, c.value, err, sent)
		}
		has(t, err.Error(), c.says)
		if strings.Contains(err.Error(), "SECRET") {
			t.Error(err)
		}
	}
}

// Where a redirect leads is shown as a person may see it, and not all of it, whatever the server writes.
func TestARedirectIsShownInOneShortLine(t *testing.T) {
	long := strings.Repeat("long", 1<<18)
	for location, says := range map[string]string{
		"https://user:SECRET@other.example/mcp?key=SECRET": "redirects are not followed: to https://other.example/mcp", "/a?SECRET": "to /a", "": "redirects are not followed",
		"/a\x7fb?SECRET": `to /a\x7fb`, "http://x/\x01?SECRET": `to http://x/\x01`, "http://x/" + long: "to http://x/long", "http://x/%zz" + long: "to http://x/%zzlong",
	} {
		for _, code := range []int{http.StatusFound, http.StatusTemporaryRedirect} {
			endpoint := client.HTTP("http://server.example/mcp")
			endpoint.Client = &http.Client{Transport: roundTrip(func(*http.Request, message) (*http.Response, error) {
				w := httptest.NewRecorder()
				w.Header().Set("Location", location)
				w.WriteHeader(code)
				resp := w.Result()
				resp.Header["Location"] = []string{location} // as it is
				return resp, nil
			})}
			_, err := client.Connect(t.Context(), endpoint)
			if err == nil {
				t.Fatal(location)
			}
			has(t, err.Error(), says)
			if text := err.Error(); len(text) > 600 || strings.Contains(text, "SECRET") || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
				t.Errorf("%.80q: %.800q", location, text)
			}
		}
	}
}
