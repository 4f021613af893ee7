package emit

import (
	"bytes"
	gofmt "go/format"
	"strings"
	"testing"
)

// Imports stand as goimports leaves them: the standard library first, and what was apart stays apart.
func TestImportsAreGrouped(t *testing.T) {
	for src, want := range map[string]string{
		"package p\n\nimport \"time\"\n":                                         "package p\n\nimport \"time\"\n",
		"package p\n\nimport (\n\"context\"\n\"errors\"\n)\n":                    "package p\n\nimport (\n\t\"context\"\n\t\"errors\"\n)\n",
		"package p\n\nimport (\n\"context\"\na \"example.com/a\"\n\"time\"\n)\n": "package p\n\nimport (\n\t\"context\"\n\t\"time\"\n\n\ta \"example.com/a\"\n)\n",
		"package p\n\nimport (\n\"time\"\n\n\"reports/kiln\"\n\"a.b/c\"\n)\n":    "package p\n\nimport (\n\t\"time\"\n\n\t\"reports/kiln\"\n\n\t\"a.b/c\"\n)\n",
		"package p\n\nimport (\n\"time\"\n\n)\n":                                 "package p\n\nimport (\n\t\"time\"\n)\n",
		"package p\n\nconst s = `\nimport (\n\"a.b/c\"\n\"time\"`\n":             "package p\n\nconst s = `\nimport (\n\"a.b/c\"\n\"time\"`\n",
	} {
		if got, err := formatSource([]byte(src)); err != nil || string(got) != want {
			t.Errorf("%s\nbecomes %s, %v", src, got, err)
		}
	}
}

// gofmt counts the bytes of a name where it decides whether a function fits on a line.
func TestAFunctionIsOnOneLineWhereGofmtLeavesIt(t *testing.T) {
	for _, letter := range []string{"a", "ä", "語"} {
		for n := range 60 {
			name := strings.Repeat(letter, n)
			s := sized(0)
			s.line("package p")
			s.line()
			s.oneLine("func F"+name+"() error", "return err"+name)
			formatted, err := gofmt.Source(s.b)
			if err != nil || !bytes.Equal(formatted, s.b) {
				t.Errorf("%d times %s: %v\n%s", n, letter, err, formatted)
			}
		}
	}
}
