package plain_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
)

func TestWhatATerminalWouldObeyIsShown(t *testing.T) {
	for in, want := range map[string]string{
		"a\tb\nc é 漢 👍":        "a\tb\nc é 漢 👍",
		"\x1b[31mred\x1b[0m":   `\x1b[31mred\x1b[0m`,
		"\x1b]0;title\a":       `\x1b]0;title\x07`,
		"\u009b2J":             `\x9b2J`,
		"raw \x9b2J":           `raw \x9b2J`,
		"over\rwritten":        `over\x0dwritten`,
		"dos\r\nline":          "dos\nline",
		"back\b\bspace\x7f":    `back\x08\x08space\x7f`,
		"user\u202egnp.exe":    `user\u202egnp.exe`,
		"pay\u200bpal":         `pay\u200bpal`,
		"a\u200db\ufeff":       `a\u200db\ufeff`,
		"soft\u00adhyphen":     `soft\xadhyphen`,
		"\U000e0041\U000e0042": `\U000e0041\U000e0042`, // tags
		"a\u3164b\u2060":       `a\u3164b\u2060`,
		"é\u200d\u200dé":       `é\u200d\u200dé`,
		"x\U000e0100":          `x\U000e0100`,
		"👨\u200d👩\u200d👧 ❤\ufe0f\u200d🔥 می\u200cخواهم \u0600": "👨\u200d👩\u200d👧 ❤\ufe0f\u200d🔥 می\u200cخواهم \u0600",
	} {
		if got := plain.Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

// FuzzText: whatever goes in, nothing comes out that a terminal obeys, and what was safe stays as it is.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"plain", "\x1b[2J", "\u009b", "\xff\xfe", "a\r\nb", "\u2028", "\u202e", "é\u200d\xff", "é\u200dé\u200d\u200cé", "\U000e0001"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := plain.Text(s)
		harmless(t, out)
		if again := plain.Text(out); again != out {
			t.Errorf("Text(%q) = %q, and again %q", s, out, again)
		}
		var b strings.Builder
		if _, err := fmt.Fprint(plain.Writer(&b), s); err != nil || b.String() != out {
			t.Errorf("Writer wrote %q, Text is %q, %v", b.String(), out, err)
		}
	})
}

// FuzzJSON: the same value, in safe characters.
func FuzzJSON(f *testing.F) {
	f.Add("\u009b\x7f\u202e\u200b\U000e0041 👨\u200d👩")
	f.Fuzz(func(t *testing.T, s string) {
		in, err := json.Marshal(strings.ToValidUTF8(s, ""))
		if err != nil {
			t.Fatal(err)
		}
		out := plain.JSON(in)
		harmless(t, string(out))
		var was, is string
		if err := json.Unmarshal(in, &was); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out, &is); err != nil || is != was {
			t.Errorf("%s became %s: %v", in, out, err)
		}
	})
}

func harmless(t *testing.T, s string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Errorf("%q is no UTF-8", s)
	}
	for _, r := range s {
		if r != '\n' && r != '\t' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || strings.ContainsRune("\u200b\u2060\ufeff\u00ad\u3164", r) || r >= 0xe0000 && r < 0xe1000 {
			t.Errorf("%q holds %U", s, r)
		}
	}
}
