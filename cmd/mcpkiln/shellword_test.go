package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
)

// TestAShellWordIsPastedAsItIsShown: a shell makes of it the text that it was made of, and a terminal shows nothing of it otherwise than it is.
func TestAShellWordIsPastedAsItIsShown(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "''",
		"q1":                            "q1",
		"two words":                     "'two words'",
		"it's":                          `'it'\''s'`,
		`$HOME "x" \ !!`:                `'$HOME "x" \ !!'`,
		"-x":                            "'-x'",
		"größe 👩‍👩‍👧":                   "'größe 👩‍👩‍👧'",
		"a\x1b[2J":                      `$'a\033[2J'`,
		"two\nlines\tand it's \\ \x7f1": `$'two\012lines\011and it\'s \\ \1771'`,
		"\u202egnp\u009b1":              `$'\342\200\256gnp\302\2331'`,
		"a\u200b1":                      `$'a\342\200\2131'`,
	} {
		word := shellWord(text)
		if word != want || plain.Text(word) != word {
			t.Errorf("%q: %s, want %s", text, word, want)
		}
		out, err := exec.Command("bash", "-c", "printf '%s.' "+word).CombinedOutput()
		if err != nil || strings.TrimSuffix(string(out), ".") != text {
			t.Errorf("%q: bash makes %q of %s: %v", text, out, word, err)
		}
	}
	if word := shellJSON([]byte("{\"it's\":\"\u202e\u009b\"}")); word != `'{"it'\''s":"\u202e\u009b"}'` {
		t.Error(word)
	}
}
