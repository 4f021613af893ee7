package address

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// What may be secret is in no text about an address, however that is written.
func TestNothingSecretIsShown(t *testing.T) {
	for address, want := range map[string]string{
		"https://host/mcp":                           "https://host/mcp",
		"https://host:8080/mcp?key=SECRET":           "https://host:8080/mcp",
		"https://host/mcp?key=SE CRET&b=\"SECRET\"":  "https://host/mcp",
		"https://host/mcp#SECRET":                    "https://host/mcp",
		"https://SECRET@host/mcp":                    "https://host/mcp",
		"https://user:SECRET@host/mcp?a=b@c#SECRET":  "https://host/mcp",
		"https://host/@scope/a%2Fb?key=SECRET":       "https://host/@scope/a%2Fb",
		"https://user:SEC/RET@host/mcp":              "https://…",
		"/login?key=SECRET":                          "/login",
		"https://host/mcp\x7f?key=SECRET":            "https://host/mcp\x7f",
		"https://host:SECRET@host:port/mcp?a=SECRET": "https://…",
	} {
		if got := Shown(address); got != want {
			t.Errorf("%q: %q", address, got)
		}
		_, err := http.NewRequest(http.MethodGet, address, nil)
		if err == nil {
			err = &url.Error{Op: "Get", URL: address, Err: errors.New("refused")}
		}
		cleaned := Cleaned(err)
		var failed *url.Error
		if text := cleaned.Error(); strings.Contains(text, "SEC") || !errors.As(cleaned, &failed) || failed.URL != want {
			t.Errorf("%q: %s", address, text)
		}
	}
}

func TestAddressesInATextAreShown(t *testing.T) {
	secret := "https://user:SECRET@host/a?key=\"SECRET\"" + "#SECRET"
	for text, want := range map[string]string{
		"no address: a?b":                    "no address: a?b",
		fmt.Sprintf("Get %q: EOF", secret):   `Get "https://host/a": EOF`,
		"at http://a/?b, and http://c/d?e .": "at http://a/ and http://c/d .",
		`Bearer resource_metadata="https://host/.well-known?key=SECRET", scope="a"`: `Bearer resource_metadata="https://host/.well-known", scope="a"`,
	} {
		if got := InText(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestOf(t *testing.T) {
	u, err := url.Parse("https://user:SECRET@host:1/a%20b?key=SECRET#SECRET")
	if err != nil || Of(u) != "https://host:1/a%20b" {
		t.Error(err, Of(u))
	}
}

func TestAnotherErrorIsLeftAlone(t *testing.T) {
	if err := errors.New("a"); Cleaned(err) != err {
		t.Error(Cleaned(err))
	}
}

// A page repeats the query of its request as it came, decoded, or escaped, whole or by value, and the text may be cut within it.
func TestNoBodyRepeatsTheQuery(t *testing.T) {
	u, err := url.Parse("https://host/mcp?v=2&key=SECRET%26SECRET&token=SEC+RET%22SECRET")
	if err != nil {
		t.Fatal(err)
	}
	plain := []string{"?" + u.RawQuery, u.Query().Get("key"), "key=SECRET%26SECRET", u.Query().Get("token"), u.Query().Encode()}
	for _, said := range plain {
		quoted, err := json.Marshal(said)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range []string{said, html.EscapeString(said), string(quoted)} {
			for before := range 120 {
				body := strings.Repeat("x", before) + form + " is unknown: " + form
				got := Beginning(strings.NewReader(body), u, 100)
				if strings.Contains(got, "SE") || len(got) > 100 || before < 100 && !strings.HasPrefix(got, strings.Repeat("x", min(before, 100))) {
					t.Fatalf("%q of %q", got, body)
				}
			}
		}
	}
	if got := Beginning(strings.NewReader("version 2, 100 % xx"), u, 100); got != "version 2, 100 % xx" {
		t.Errorf("%q", got)
	}
	if got := Beginning(strings.NewReader("abcdef"), nil, 3); got != "abc" {
		t.Errorf("%q", got)
	}
}
