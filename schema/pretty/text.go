package pretty

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
)

// appendText appends a text. One that has more characters than room, or several lines, becomes a block scalar at indent.
func appendText(b []byte, text string, indent, room int) []byte {
	if !strings.Contains(text, "\n") && utf8.RuneCountInString(text) < room || slices.ContainsFunc([]rune(text), special) {
		return append(b, line(text)...)
	}
	for _, form := range [...]func(string, int) string{literal, folded, anyLiteral} {
		if block := form(text, indent); block != "" && reads(block, text) {
			return append(b, block...)
		}
	}
	return append(b, line(text)...)
}

// special reports whether a character has to be escaped, which a block scalar can not.
func special(r rune) bool { return r != '\n' && (!unicode.IsGraphic(r) || r == utf8.RuneError) }

// longestLiteral is the length up to which lines of a text are not folded, if most of them are so short.
const longestLiteral = 120

// literal is a text of several lines as a literal block; empty if half of them are too long, or there is only one.
func literal(text string, indent int) string {
	long, short := 0, 0
	for line := range strings.SplitSeq(text, "\n") {
		switch n := utf8.RuneCountInString(line); {
		case n > longestLiteral:
			long++
		case n > 0:
			short++
		}
	}
	if !strings.Contains(text, "\n") || long >= short {
		return ""
	}
	return anyLiteral(text, indent)
}

func anyLiteral(text string, indent int) string {
	return block("|", text, strings.Split(text, "\n"), indent)
}

// block is a block scalar of that style (| or >) with these lines, of which the last is empty if the text ends with a newline.
func block(style, text string, lines []string, indent int) string {
	var b strings.Builder
	b.WriteString(style)
	if body, ends := strings.CutSuffix(text, "\n"); !ends {
		b.WriteByte('-')
	} else if lines = lines[:len(lines)-1]; strings.HasSuffix(body, "\n") {
		b.WriteByte('+')
	}
	for _, line := range lines {
		b.WriteByte('\n')
		if line != "" {
			b.WriteString(strings.Repeat(" ", indent) + line)
		}
	}
	return b.String()
}

// folded is a folded block, whose lines are divided between words. A line that begins with a space is not divided, since YAML does not fold it.
func folded(text string, indent int) string {
	var lines []string
	all := strings.Split(text, "\n")
	for i, line := range all {
		if strings.HasPrefix(line, " ") {
			lines = append(lines, line)
			continue
		}
		lines = append(lines, Wrap(line, Width-indent)...)
		if joined(all, i) {
			lines = append(lines, "")
		}
	}
	return block(">", text, lines, indent)
}

// joined reports whether folding would join a line and the next that is not empty.
func joined(all []string, i int) bool {
	if all[i] == "" {
		return false
	}
	for _, next := range all[i+1:] {
		if next != "" {
			return !strings.HasPrefix(next, " ")
		}
	}
	return false
}

// Wrap divides a line at single spaces between words, into lines of that many characters where it can.
func Wrap(line string, width int) (all []string) {
	for utf8.RuneCountInString(line) > width {
		at := cut(line, width)
		if at < 0 {
			break
		}
		all, line = append(all, line[:at]), line[at+1:]
	}
	return append(all, line)
}

// cut is the last single space in the first width characters of a line, or else the first one after them; negative if there is none.
func cut(line string, width int) int {
	best, seen := -1, 0
	for i, r := range line {
		if r == ' ' && i > 0 && i+1 < len(line) && line[i-1] != ' ' && line[i+1] != ' ' {
			if best >= 0 && seen > width {
				return best
			}
			best = i
		}
		seen++
	}
	return best
}

// reads reports whether YAML reads a scalar as that text.
func reads(scalar, text string) bool {
	var n yaml.Node
	if yaml.Unmarshal([]byte("k: "+scalar+"\n"), &n) != nil || len(n.Content) != 1 || len(n.Content[0].Content) != 2 {
		return false
	}
	value := n.Content[0].Content[1]
	return value.Tag == "!!str" && value.Value == text
}

// plainText matches texts that need no quotes, unless they are one of words; inBrackets those that need none between brackets, either.
var (
	plainText  = lazyregexp.New(`^[A-Za-z_/$][^:#\\]*(:[\w/.+-][^:#\\]*)*$`)
	inBrackets = lazyregexp.New(`^[^,\[\]{}"'|&*!?]*$`)
)

// words are booleans or null in some version of YAML.
var words = map[string]bool{"true": true, "false": true, "null": true, "yes": true, "no": true, "on": true, "off": true, "y": true, "n": true}

// line is a text after a key, on the rest of its line.
func line(text string) string {
	special := func(r rune) bool { return !unicode.IsGraphic(r) || r > 0x7F && unicode.IsSpace(r) }
	if plainText().MatchString(text) && !strings.HasSuffix(text, " ") && !words[strings.ToLower(text)] && !strings.ContainsFunc(text, special) {
		return text
	}
	return quoted(text)
}

// inline is a text on a line with others.
func inline(text string) string {
	if inBrackets().MatchString(text) {
		return line(text)
	}
	return quoted(text)
}

// quoted is a text in quotes, with invisible characters escaped.
func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		default:
			b.WriteString(visible(r))
		}
	}
	return b.String() + `"`
}

// visible returns a character, escaped as in quotes if it is a control character, changes the direction of writing, or can not be seen.
func visible(r rune) string {
	switch {
	case unicode.IsGraphic(r):
		return string(r)
	case r > 0xFFFF:
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}
