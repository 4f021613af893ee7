package pattern

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
)

// Foreign returns the first part of a pattern that RE2 accepts and ECMA-262 with the flag u does not, and what to write instead; both are empty if
// there is none. Validators of clients refuse such a part, or give it another meaning. Compile gives it the meaning that it has in RE2, except for
// classes such as [:alpha:], which it takes for letters and colons.
func Foreign(text string) (part, instead string) {
	inClass := false
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		switch rest[0] {
		case '\\':
			if part, instead = foreignEscape(rest); part != "" {
				return part, instead
			}
			i++ // the escaped character
		case '[':
			if inClass {
				if m := posixClass().FindStringSubmatch(rest); m != nil && posixClasses[m[2]] != "" {
					return "[" + m[0] + "]", "[" + m[1] + posixClasses[m[2]] + "]"
				}
			}
			inClass = true
		case ']':
			inClass = false
		case '(', '{':
			if part, instead = foreignGroup(rest); part != "" && !inClass {
				return part, instead
			}
		}
	}
	return "", ""
}

// foreignEscape is Foreign for a part that begins with a backslash.
func foreignEscape(rest string) (part, instead string) {
	if m := matchAfter(`\p`, property, rest); m != nil {
		return foreignProperty(m)
	}
	if m := matchAfter(`\P`, property, rest); m != nil {
		return foreignProperty(m)
	}
	switch {
	case strings.HasPrefix(rest, `\A`):
		return `\A`, "^"
	case strings.HasPrefix(rest, `\z`):
		return `\z`, "$"
	case strings.HasPrefix(rest, `\Q`):
		return `\Q`, `a backslash before each of ^ $ \ . * + ? ( ) [ ] { } |`
	case strings.HasPrefix(rest, `\a`):
		return `\a`, `\x07`
	case strings.HasPrefix(rest, `\x{`):
		return `\x{`, `\u{`
	case strings.HasPrefix(rest, `\0`) && octal().MatchString(rest):
		return rest[:3], `\x and two hexadecimal digits`
	}
	return "", ""
}

// matchAfter returns the submatches of text if it begins as all matches do: most texts do not, and then the expression is not even compiled.
func matchAfter(begins string, expression func() *regexp.Regexp, text string) []string {
	if !strings.HasPrefix(text, begins) {
		return nil
	}
	return expression().FindStringSubmatch(text)
}

var (
	octal = lazyregexp.New(`^\\0[0-9]`)
	// property matches the escapes of Unicode properties: p or P, and a letter or a name in braces.
	property = lazyregexp.New(`^\\([pP])(?:([A-Za-z])|\{([^}]*)\})`)
)

// foreignProperty is Foreign for a match of property: \pL, \p{^L}, and names of scripts without Script=.
func foreignProperty(m []string) (part, instead string) {
	name, not := strings.CutPrefix(m[3], "^")
	script := unicode.Scripts[name] != nil
	switch {
	case m[2] != "":
		return m[0], `\` + m[1] + "{" + m[2] + "}"
	case !not && !script:
		return "", ""
	case script:
		name = "Script=" + name
	}
	letter := m[1]
	if not {
		letter = map[string]string{"p": "P", "P": "p"}[letter]
	}
	return m[0], `\` + letter + "{" + name + "}"
}

// foreignGroup is Foreign for a part that begins with a parenthesis or a brace.
func foreignGroup(rest string) (part, instead string) {
	if m := matchAfter("(?", flags, rest); m != nil && (m[2] == ")" || strings.Contains(m[1], "U")) {
		if strings.Contains(m[1], "U") {
			return m[0], "nothing: how much a repeat takes does not change what matches"
		}
		around := "(?" + m[1] + ":…) around what it is about"
		if strings.HasPrefix(m[1], "i") {
			return m[0], "both letters, as in [Aa], or " + around
		}
		return m[0], around
	}
	if strings.HasPrefix(rest, "(?P<") {
		return "(?P<", "(?<"
	}
	if m := matchAfter("{,", atMost, rest); m != nil {
		return m[0], "{0" + m[1] + "}, or \\{ for the character"
	}
	return "", ""
}

var (
	flags  = lazyregexp.New(`^\(\?([imsU]+(?:-[imsU]+)?|-[imsU]+)([:)])`)
	atMost = lazyregexp.New(`^\{(,[0-9]+)\}`)

	posixClass = lazyregexp.New(`^\[:(\^?)([a-z]+):\]`)
)

// posixClasses has the characters of POSIX's classes as ECMA-262 writes them.
var posixClasses = map[string]string{
	"alnum": "A-Za-z0-9", "alpha": "A-Za-z", "ascii": `\x00-\x7f`, "blank": ` \t`, "cntrl": `\x00-\x1f\x7f`, "digit": "0-9", "graph": "!-~", "lower": "a-z",
	"print": " -~", "punct": "!-\\/:-@\\[-`\\{-~", "space": `\s`, "upper": "A-Z", "word": `\w`, "xdigit": "0-9A-Fa-f",
}
