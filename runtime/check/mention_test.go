package check

import "testing"

// An escape hides no name from what looks for it in a text (LET14).
func TestLET14NamesAreMentionedInEverySpelling(t *testing.T) {
	for text, want := range map[string]bool{
		`{"a/key":1}`: true, `{"a\/key":1}`: true, `{"\u0061/key":1}`: true, `{"a\u002fkey":1}`: true, `{"a\u002Fkey":1}`: true,
		`{"a":"key"}`: false, `{"b":"a\n\u1234\"k"}`: false, `{}`: false,
	} {
		if got := Mentions([]byte(text), "a/key"); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	if Mentions([]byte(`{"b":"x\/y"}`), "key") {
		t.Error("a slash stands for none of its characters")
	}
	for _, definition := range []string{`{"properties":{"a":{"x-sensitive":true}}}`, `{"properties":{"a":{"x-s\u0065nsitive":true}}}`, `{"properties":{"a":{"\u0078\u002dsensitive":true}}}`} {
		if got := Sensitive(definition); got != "/a" {
			t.Errorf("%s: %q", definition, got)
		}
	}
}
