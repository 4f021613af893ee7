package naming

import (
	"go/token"
	"slices"
	"testing"
)

func TestGoNames(t *testing.T) {
	for text, want := range map[string]string{
		"get_quote": "GetQuote", "batchId": "BatchID", "user_ids": "UserIDs", "HTTPServerURL": "HTTPServerURL", "mimeType": "MIMEType",
		"x-api-key": "XAPIKey", "_meta": "Meta", "$ref": "Ref", "per.page": "PerPage", "": "X", "123": "X123", "日本": "X日本",
		"*/ func init() {}": "FuncInit", "utf8Text": "UTF8Text", "is_ok": "IsOK", "getURLs": "GetURLs", "ÉTÉ": "ÉTÉ", "sha256": "Sha256",
		"<=": "LessEqual", "!=": "NotEqual", "*/": "StarSlash", "\u202e": "X", " ": "X", "<b>": "B",
	} {
		if got := GoName(text); got != want {
			t.Errorf("GoName(%q) = %s, want %s", text, got, want)
		}
	}
	for name, want := range map[string]string{"GetQuote": "getQuote", "URLList": "urlList", "ID": "id", "IDs": "ids", "X": "x", "JSONRPCError": "jsonrpcError"} {
		if got := Unexported(name); got != want {
			t.Errorf("unexported(%q) = %s, want %s", name, got, want)
		}
	}
}

// TestSharedWordsAreToldApartForGood: what is added later renames none that was told apart before.
func TestSharedWordsAreToldApartForGood(t *testing.T) {
	two := Distinct([]string{"a b", "a_b", "c"}, GoName)
	three := Distinct([]string{"a-b", "a b", "a_b", "c"}, GoName)
	if two[0] == two[1] || two[2] != "C" || !slices.Equal(two, three[1:]) || slices.Contains(two, three[0]) {
		t.Errorf("two texts are %v, with one more %v", two, three)
	}
}

func TestNamesHideNothing(t *testing.T) {
	n := &Names{}
	for _, name := range []string{"type", "string", "check", "d", "nil", "main"} {
		if got := n.Take(name); got != name+"2" {
			t.Errorf("Take(%q) = %s, want %s2", name, got, name)
		}
	}
	if a, b := n.Take("Thing"), n.Take("Thing"); a != "Thing" || b != "Thing2" {
		t.Errorf("taken twice: %s, %s", a, b)
	}
}

// FuzzNamesAreUniqueIdentifiers: whatever a schema calls things, Go can declare them side by side.
func FuzzNamesAreUniqueIdentifiers(f *testing.F) {
	f.Add("get_quote", "getQuote", "Type")
	f.Add("", "日本", "\x00\u202e")
	f.Add("a2", "a", "a")
	f.Add("ǅ", "ǆ", "ß")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		n := &Names{}
		seen := map[string]bool{}
		for _, text := range []string{a, b, c, a, b, c} {
			name := n.Take(GoName(text))
			stem := n.Take(Unexported(name))
			if !token.IsIdentifier(name) || !token.IsExported(name) || !token.IsIdentifier(stem) {
				t.Errorf("%q: %q and %q are not an exported and another identifier", text, name, stem)
			}
			if seen[name] || seen[stem] {
				t.Errorf("%q: %q or %q is there twice", text, name, stem)
			}
			seen[name], seen[stem] = true, true
		}
	})
}
