package emit

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"
	"unicode"
)

func FuzzCommentsAreNeverCode(f *testing.F) {
	for _, seed := range []string{
		"", "plain", "*/ func init() {}", "//go:generate x", "a\nb\rc\r\nd\u2028e\u2029f\vg\fh\u0085i", "\x00\u202e\ufeff\xff",
		"+build ignore", " +build ignore", "\t+build x", "/* open", strings.Repeat("long ", 100), strings.Repeat("x", 500),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines := commentLines(text)
		src := strings.Join(lines, "\n") + "\npackage p\n"
		out, err := formatSource([]byte(src))
		if err != nil {
			t.Fatalf("%q makes\n%s\n%v", text, src, err)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), "x.go", out, parser.ParseComments)
		if err != nil || len(parsed.Decls) > 0 {
			t.Fatalf("%q makes\n%s\n%v", text, out, err)
		}
		for line := range strings.Lines(string(out)) {
			line = strings.TrimSuffix(line, "\n")
			if line == "package p" || line == "//" || line == "" {
				continue
			}
			if !strings.HasPrefix(line, "// ") && !strings.HasPrefix(line, "//\t") || strings.HasPrefix(line, "// +build") {
				t.Errorf("%q makes the line %q", text, line)
			}
			if strings.IndexFunc(line, func(r rune) bool { return r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) }) >= 0 {
				t.Errorf("%q makes the invisible %q", text, line)
			}
		}
	})
}

func TestCommentsWrap(t *testing.T) {
	for _, line := range commentLines(strings.Repeat("word ", 100)) {
		if len(line) > commentWidth {
			t.Errorf("%d characters: %s", len(line), line)
		}
	}
	if got := strings.Join(commentLines("one", "", "two\n\nthree"), "|"); got != "// one|//|// two|//|// three" {
		t.Errorf("got %s", got)
	}
}

// gofmt takes a short paragraph between others for a heading, and marks it.
func TestCommentsHaveTheHeadingsThatGofmtMarks(t *testing.T) {
	for text, want := range map[string]string{
		"one\n\nRate limits\n\ntwo":   "// one|//|// # Rate limits|//|// two",
		"one\n\nRate limits.\n\ntwo":  "// one|//|// Rate limits.|//|// two",
		"Rate limits\n\ntwo":          "// Rate limits|//|// two",
		"one\n\nRate limits":          "// one|//|// Rate limits",
		"one\n\n# Marked\n\ntwo":      "// one|//|// # Marked|//|// two",
		"one\n\n[x]: http://y\n\ntwo": "// one|//|// \\[x]: http://y|//|// two",
	} {
		got := commentLines(text)
		if joined := strings.Join(got, "|"); joined != want {
			t.Errorf("%q makes %s, want %s", text, joined, want)
		}
		src := "package p\n\n" + strings.Join(got, "\n") + "\ntype T int\n"
		if out, err := formatSource([]byte(src)); err != nil || string(out) != src {
			t.Errorf("gofmt writes\n%s\n%v, want\n%s", out, err, src)
		}
	}
}
