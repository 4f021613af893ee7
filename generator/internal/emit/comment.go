package emit

import (
	doccomment "go/doc/comment"
	"strings"
	"unicode"

	"github.com/dave/jennifer/jen"
)

// commentWidth is where comments wrap, in characters after the slashes.
const commentWidth = 110

// comment returns lines as a Go comment. Every text of a schema or manifest goes through here or through commentLines, so that
// it is a comment and nothing else.
func comment(lines ...string) *jen.Statement {
	// jen prints a comment that starts with slashes as it is.
	return jen.Comment(strings.Join(commentLines(lines...), "\n"))
}

// commentLines wraps lines and returns each as `// line`. Text can not end the comment, be a directive or reorder the code
// after it: newlines split, control characters and invisible marks are replaced, and the space after the slashes
// keeps //go: and //line from being directives. An empty line becomes `//`.
func commentLines(lines ...string) []string {
	var out []string
	for _, line := range lines {
		for part := range strings.SplitSeq(harmless(line), "\n") {
			wrapped := wrap(part)
			if len(out) > 0 && out[len(out)-1] == "//" && wrapped[0] == "//" {
				continue // gofmt leaves one empty line between paragraphs
			}
			out = append(out, wrapped...)
		}
	}
	for len(out) > 1 && out[len(out)-1] == "//" {
		out = out[:len(out)-1]
	}
	for i := 1; i < len(out)-2; i++ {
		if out[i-1] == "//" && out[i+1] == "//" && isImplicitHeading(out[i][len("// "):]) {
			out[i] = "// # " + out[i][len("// "):]
		}
	}
	return out
}

// isImplicitHeading reports whether gofmt marks a line that is a paragraph of its own, between others, as a heading.
func isImplicitHeading(line string) bool {
	blocks := new(doccomment.Parser).Parse("text\n\n" + line + "\n\ntext").Content
	_, ok := blocks[1].(*doccomment.Heading)
	return ok && !strings.HasPrefix(line, "#")
}

func wrap(line string) []string {
	words := strings.Fields(line)
	if len(words) == 0 {
		return []string{"//"}
	}
	var out []string
	current := append(make([]byte, 0, min(len(line), commentWidth)+8), "//"...)
	for _, w := range words {
		if len(current)+1+len(w) > commentWidth && len(current) > 2 {
			out = append(out, string(current))
			current = current[:2]
		}
		if len(current) == 2 && (strings.HasPrefix(w, "+build") || w[0] == '[' && strings.Contains(line, "]:")) {
			w = "\\" + w // a build constraint before a package clause, or a link that gofmt would move to the end
		}
		current = append(append(current, ' '), w...)
	}
	return append(out, string(current))
}

// quotes replaces the quotes that gofmt replaces in doc comments.
var quotes = strings.NewReplacer("``", "“", "''", "”")

// harmless replaces characters that a terminal or an editor would not show as they are, or that Go's scanner refuses: every way to end a line
// becomes \n, other control characters and invisible format characters (bidirectional overrides, byte order marks,
// zero-width joiners) become U+FFFD.
func harmless(text string) string {
	if strings.Contains(text, "``") || strings.Contains(text, "''") {
		text = quotes.Replace(text)
	}
	if strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r >= 0x7F }) < 0 {
		return text // nearly all text; the rest of this function is slow
	}
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\u0085", "\n", "\v", "\n", "\f", "\n").Replace(text)
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(text, string(unicode.ReplacementChar)))
}
