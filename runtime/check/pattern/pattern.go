// Package pattern compiles the regular expressions of JSON Schema, which are those of ECMA-262, to Go's. It is for those
// who change which patterns are supported; the generator and package format call it.
//
// Most parts of a pattern mean the same in both. The others are rewritten: \s and \S, which go beyond ASCII, the dot, which excludes four
// line ends, \uXXXX and \cX, classes such as [^] and [\b], names of groups, and more than 1,000 repeats. A pattern is read as with the flag u, as JSON
// Schema recommends. A part that RE2 does not have (lookaround, backreferences) is an error. One that RE2 has beyond ECMA-262 (\A, \z,
// (?i)) is left as it is; Foreign finds it.
//
// A repeat is a quantifier in braces, such as {2,5}; an atom is what a quantifier repeats, if it is no group.
package pattern

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
)

// Compile returns the pattern as a regular expression of Go.
func Compile(text string) (*regexp.Regexp, error) {
	re2, err := RE2(text)
	if err != nil {
		return nil, err
	}
	return regexp.Compile(re2)
}

// Check returns the error of Compile, without the work that only a match needs.
func Check(text string) error {
	re2, err := RE2(text)
	if err == nil {
		_, err = syntax.Parse(re2, syntax.Perl)
	}
	return err
}

const (
	// space has the characters of \s, notSpace all others, as ranges of a class.
	space    = `\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
	notSpace = `\x{0}-\x{8}\x{e}-\x{1f}!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}` +
		`\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`
	notLineEnd = `[^\n\r\x{2028}\x{2029}]`
	all        = `\x{0}-\x{10ffff}`
)

// dotAll finds the flag s of RE2, with which the dot does not mean what it does in ECMA-262.
var dotAll = lazyregexp.New(`\(\?[imU]*s`)

// RE2 returns text in RE2's syntax, which may still not compile.
func RE2(text string) (string, error) {
	many := strings.IndexByte(text, '{') >= 0 && manyRepeats(text)
	if !many && !strings.ContainsAny(text, `\.[<`) {
		return text, nil // without these characters nothing needs rewriting
	}
	r := &rewriter{text: text, dotAll: strings.Contains(text, "(?") && dotAll().MatchString(text), many: many}
	for r.at < len(r.text) && r.err == nil {
		r.next()
	}
	return r.out.String(), r.err
}

// rewriter writes a pattern in RE2's syntax.
type rewriter struct {
	text   string // the pattern
	at     int    // how much of it is read
	out    strings.Builder
	dotAll bool
	err    error

	many  bool       // there are repeats that RE2 may not accept
	last  repeated   // the last atom or group, which a repeat would repeat
	group repeated   // the innermost open group,
	outer []repeated // and the groups around it
}

// next rewrites one character, escape, class or repeat.
func (r *rewriter) next() {
	rest := r.text[r.at:]
	if rest[0] == '{' && r.repeat() {
		return
	}
	r.begin()
	switch {
	case rest[0] == '.' && !r.dotAll:
		r.replace(1, notLineEnd)
	case rest[0] == '[':
		r.class()
	case strings.HasPrefix(rest, "(?<") && groupName(rest) > 0:
		r.replace(groupName(rest), "(") // the name is not used
	case strings.HasPrefix(rest, `\s`):
		r.replace(2, "["+space+"]")
	case strings.HasPrefix(rest, `\S`):
		r.replace(2, "[^"+space+"]")
	case rest[0] == '\\':
		a := r.escape()
		r.out.WriteString(a.text)
	default:
		_, size := utf8.DecodeRuneInString(rest)
		r.replace(size, rest[:size])
	}
}

// longestName bounds the names of groups and properties, so that looking for their end takes no time.
const longestName = 100

// groupName returns the length of the beginning of a named group, such as (?<name>, or 0 for lookbehind.
func groupName(rest string) int {
	if rest = rest[:min(len(rest), longestName)]; strings.HasPrefix(rest, "(?<=") || strings.HasPrefix(rest, "(?<!") {
		return 0
	}
	return strings.IndexByte(rest, '>') + 1
}

// braced returns the text in the braces that begin at r.at, and the offset after them.
func (r *rewriter) braced() (text string, after int, ok bool) {
	rest := r.text[r.at:min(len(r.text), r.at+longestName)]
	end := strings.IndexByte(rest, '}')
	if end < 0 || rest[0] != '{' {
		return "", 0, false
	}
	return rest[1:end], r.at + end + 1, true
}

// replace goes past size bytes of the pattern and writes by instead.
func (r *rewriter) replace(size int, by string) {
	r.at += size
	r.out.WriteString(by)
}

// atom is one part of a pattern, in RE2's syntax: a character, or what stands for one of several, such as \d.
type atom struct {
	text string
	char rune // -1: one of several
}

func several(text string) atom { return atom{text, -1} }

// char returns an atom of one character, escaped unless it is a letter, a digit or not ASCII.
func char(c rune) atom {
	if c >= utf8.RuneSelf || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' {
		return atom{string(c), c}
	}
	return atom{fmt.Sprintf(`\x{%x}`, c), c}
}

// escape reads an escape other than \s and \S.
func (r *rewriter) escape() atom {
	rest := r.text[r.at+1:]
	if rest == "" {
		r.at++
		return several(`\`) // RE2 says what is wrong
	}
	c, size := utf8.DecodeRuneInString(rest)
	r.at += 1 + size
	switch {
	case c == 'u':
		return r.unicode()
	case c == 'c' && len(rest) > 1 && isLetter(rest[1]):
		r.at++
		return char(rune(rest[1] % 32))
	case c == 'p' || c == 'P':
		return r.property(rest[:1])
	case '1' <= c && c <= '9':
		r.err = errors.New(`invalid escape sequence: \` + string(c) + " is a backreference")
	case c == '0':
		return char(0)
	case c >= utf8.RuneSelf || c == '/' || c == '-':
		return char(c)
	}
	if i := strings.IndexRune("tnvfr", c); i >= 0 {
		return char(rune("\t\n\v\f\r"[i]))
	}
	if c == 'x' && len(rest) > 2 {
		if n, err := strconv.ParseUint(rest[1:3], 16, 8); err == nil {
			r.at += 2
			return char(rune(n))
		}
	}
	if c < utf8.RuneSelf && !isLetter(byte(c)) {
		return char(c)
	}
	return several(`\` + string(c))
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// unicode reads what follows \u: four digits, two escapes of four for a surrogate pair, or digits in braces.
func (r *rewriter) unicode() atom {
	if digits, after, ok := r.braced(); ok {
		n, err := strconv.ParseUint(digits, 16, 32)
		if err == nil && n <= utf8.MaxRune && utf8.ValidRune(rune(n)) {
			r.at = after
			return char(rune(n))
		}
	}
	c := r.unit(r.at)
	if low := r.unit(r.at + 6); c>>10 == 0xD800>>10 && strings.HasPrefix(r.text[min(r.at+4, len(r.text)):], `\u`) && low>>10 == 0xDC00>>10 {
		r.at += 10
		return char(0x10000 + (c&0x3FF)<<10 + low&0x3FF)
	}
	if !utf8.ValidRune(c) {
		r.err = errors.New(`invalid escape sequence: \u takes four hexadecimal digits of a character, or as many as needed in braces`)
		return several("")
	}
	r.at += 4
	return char(c)
}

// unit returns the value of the four hexadecimal digits at an offset, or -1.
func (r *rewriter) unit(at int) rune {
	if at+4 > len(r.text) {
		return -1
	}
	n, err := strconv.ParseUint(r.text[at:at+4], 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// property reads what follows \p: RE2 has the names of scripts and categories without Script= and General_Category=.
func (r *rewriter) property(letter string) atom {
	name, after, ok := r.braced()
	if !ok {
		return several(`\` + letter)
	}
	r.at = after
	if key, value, ok := strings.Cut(name, "="); ok && propertyKeys[key] {
		name = value
	}
	return several(`\` + letter + "{" + name + "}")
}

var propertyKeys = map[string]bool{"Script": true, "sc": true, "General_Category": true, "gc": true}

// class rewrites a character class. A hyphen beside an escape such as \s is a character and makes no range.
func (r *rewriter) class() {
	r.at++
	not := strings.HasPrefix(r.text[r.at:], "^")
	if not {
		r.at++
	}
	var atoms []atom
	for r.at < len(r.text) && r.text[r.at] != ']' && r.err == nil {
		atoms = append(atoms, r.member())
	}
	if r.at >= len(r.text) {
		r.out.WriteString("[") // RE2 says what is wrong
		return
	}
	r.at++
	body := ranges(atoms)
	switch {
	case body == "" && not:
		r.out.WriteString("[" + all + "]")
	case body == "":
		r.out.WriteString("[^" + all + "]")
	case not:
		r.out.WriteString("[^" + body + "]")
	default:
		r.out.WriteString("[" + body + "]")
	}
}

// member reads one character or escape of a character class.
func (r *rewriter) member() atom {
	rest := r.text[r.at:]
	switch {
	case strings.HasPrefix(rest, `\s`):
		r.at += 2
		return several(space)
	case strings.HasPrefix(rest, `\S`):
		r.at += 2
		return several(notSpace)
	case strings.HasPrefix(rest, `\b`):
		r.at += 2
		return char('\b')
	case rest[0] == '\\':
		return r.escape()
	}
	c, size := utf8.DecodeRuneInString(rest)
	r.at += size
	if c == '-' {
		return atom{"-", c} // not escaped: it may make a range
	}
	return char(c)
}

// ranges joins the members of a character class, with those that make ranges.
func ranges(atoms []atom) string {
	var b strings.Builder
	for i := 0; i < len(atoms); i++ {
		a := atoms[i]
		if i+2 < len(atoms) && atoms[i+1].text == "-" && a.char >= 0 && atoms[i+2].char >= 0 {
			b.WriteString(char(a.char).text + "-" + char(atoms[i+2].char).text)
			i += 2
			continue
		}
		if a.char >= 0 {
			a = char(a.char)
		}
		b.WriteString(a.text)
	}
	return b.String()
}
