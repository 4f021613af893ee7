package address

import "testing"

func TestLET01PagesAreEncryptedOrLocal(t *testing.T) {
	for _, good := range []string{"https://example.com/x?y=1#z", "HTTPS://example.com", "http://localhost:8080/x", "http://127.0.0.1/", "http://[::1]:80/"} {
		if err := Page(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{"", "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "http://example.com", "http://127.0.0.1.example.com",
		"https://u:p@example.com/", "https://u@example.com/", "https:example.com", "https://", "ftp://example.com", "//example.com", "https://exa mple.com", "\x00"} {
		if Page(bad) == nil {
			t.Errorf("%q is allowed", bad)
		}
	}
}

func TestLET01PicturesAreNoScripts(t *testing.T) {
	for _, good := range []string{"https://example.com/a.png", "http://example.com/a.png", "data:image/png;base64,AA==", "DATA:Image/svg+xml,x", "data:,"} {
		if err := Picture(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{"javascript:x", "JavaScript:x", "data:text/html,x", "file:///a.png", "ftp://example.com/a.png", "a.png"} {
		if Picture(bad) == nil {
			t.Errorf("%q is allowed", bad)
		}
	}
}
