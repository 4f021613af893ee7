package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
)

var (
	yamlErrorLine   = lazyregexp.New(`^line (\d+): `)
	yamlErrorAnchor = lazyregexp.New(`^unknown anchor '(.*)' referenced`)

	// Errors of the YAML grammar, unlike those of its tokens, come with a line that is one too low.
	yamlGrammarError = lazyregexp.New(`expected (<document start>|node content|key|'-' indicator|',' or)`)
	// The line of these errors is that of the mapping, list or text around, which may start far above.
	yamlBlockError = lazyregexp.New(`expected (<document start>|key|'-' indicator)|found a tab character`)
)

// syntax reports an error of the YAML reader at the best known position: the reader names a line, sometimes the wrong one,
// and never a column.
func (p *yamlParser) syntax(err error) {
	if errors.Is(err, io.EOF) {
		p.ds.ReportAt(Position{p.file, 1, 1}, "", "empty-file", "", "the file holds no value")
		return
	}
	if HasConflict(p.data) {
		p.ds = append(p.ds, conflictIn(p.file, p.data)...)
		return
	}
	line, message := splitYAMLError(err)
	at := p.firstText(line)
	if i := bytes.IndexFunc(p.data, isControl); i >= 0 && strings.HasPrefix(message, "control characters") {
		r, _ := utf8.DecodeRune(p.data[i:])
		p.ds.ReportAt(p.at(i), "", "syntax", "remove it, or write an escape in double quotes", "not YAML: %s: %U", message, r) // the reader names no line
		return
	}
	if strings.HasPrefix(message, "exceeded max depth") {
		p.ds.ReportAt(p.at(at), "", "too-deep", "", "nested deeper than %d levels", MaxDepth)
		return
	}
	switch m := yamlErrorAnchor().FindStringSubmatch(message); {
	case m != nil:
		at = max(0, bytes.Index(p.data, []byte("*"+m[1])))
	case yamlBlockError().MatchString(message):
		at = p.firstText(p.firstBadLine(message))
	case yamlGrammarError().MatchString(message):
		at = p.firstText(min(line+1, p.lastTextLine()))
	}
	if p.jsonFault(0) || p.jsonFault(at) {
		return
	}
	at, hint := p.cause(at, message)
	p.ds.ReportAt(p.at(at), "", "syntax", hint, "not YAML: %s", message)
}

var (
	noBreakSpace = lazyregexp.New(`(?m)^[ \t]*\x{a0}`)
	// secondColon matches a value without quotes that contains a colon, up to that colon.
	secondColon = lazyregexp.New(`^\s*(?:- +)?[^\s"'#:\[{][^"'#:\[{]*: +[^\s"'\[{&*!|>][^"#]*?:(?:\s|$)`)
	// dashTab matches dashes of a list with a tab after the last one.
	dashTab = lazyregexp.New(`^(?:- *)+\t`)
	// noSpace matches a key and its value without a space between them, up to the colon.
	noSpace = lazyregexp.New(`^\s*(?:- +)?[A-Za-z$][\w$.-]*:[^\s:/]`)
)

// cause is the offset at which the mistake behind an error probably is, and its remedy: the reader notices a colon
// without a space after it, or a wrong indentation, only in later lines.
func (p *yamlParser) cause(at int, message string) (int, string) {
	before := p.lines[max(0, p.lineOf(at)-1)].start
	if m := noBreakSpace().FindIndex(p.data[before:p.lineEnd(at)]); m != nil {
		return before + m[1] - len("\u00a0"), "indent with spaces: this is a no-break space"
	}
	if p.tabBefore(p.at(at)) {
		return at, "indent with spaces; YAML allows no tabs there"
	}
	switch {
	case strings.HasPrefix(message, "unknown anchor"):
		return at, "quote the text if it is none: in YAML a value that begins with * refers to an anchor"
	case strings.HasPrefix(message, "found invalid Unicode character escape code"), strings.HasPrefix(message, "found unknown escape character"):
		return p.escape(at)
	case strings.HasPrefix(message, "found unexpected end of stream"), yamlGrammarError().MatchString(message):
		begin, hint := p.quotes(at)
		if hint == "" && yamlBlockError().MatchString(message) {
			hint = p.indentation(at)
		}
		return begin, hint
	case dashTab().Match(p.data[at:p.lineEnd(at)]):
		return at, "write a space after the dash; YAML allows no tab there"
	case strings.HasPrefix(message, "found character that cannot start any token"):
		return at, "quote the text that begins with a character such as @, % or a backtick"
	}
	if !strings.HasPrefix(message, "mapping values are not allowed") && !strings.HasPrefix(message, "could not find expected ':'") {
		return at, ""
	}
	for i := p.lineOf(at); i >= 0 && i > p.lineOf(at)-2; i-- {
		line := p.data[p.lines[i].start:p.lineEnd(p.lines[i].start)]
		if m := secondColon().Find(line); m != nil {
			return p.lines[i].start + bytes.LastIndexByte(m, ':'), "quote the text: YAML takes what is before a colon for a key"
		}
		if m := noSpace().Find(line); m != nil {
			return p.lines[i].start + bytes.LastIndexByte(m, ':'), "write a space after the colon"
		}
	}
	if strings.HasPrefix(message, "could not find") {
		return at, "write a colon if this is a key; a text is indented deeper than its key"
	}
	return at, p.indentation(at)
}

var (
	// yamlWord matches a text in double or single quotes, a comment, or a word of a text without quotes.
	yamlWord = lazyregexp.New(`(?s)"(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?|#[^\n]*|[^\s"'#:,\[\]{}][^\s,\[\]{}]*`)
	// yamlEscape matches an escape in double quotes, or what JSON writes for a character such as an emoji: two escapes, each for half of it.
	yamlEscape = lazyregexp.New(`(?s)\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)`)
)

// escape is the offset of the escape that the reader refused, in a text in double quotes that begins in the line of an offset, and what to write
// instead.
func (p *yamlParser) escape(at int) (int, string) {
	for _, word := range yamlWord().FindAllIndex(p.data[at:], -1) {
		text := p.data[at+word[0] : at+word[1]]
		if text[0] != '"' {
			continue
		}
		for _, m := range yamlEscape().FindAllIndex(text, -1) {
			if hint := escapeHint(string(text[m[0]:m[1]])); hint != "" {
				return at + word[0] + m[0], hint
			}
		}
	}
	return at, ""
}

// escapeHint is the remedy for an escape that YAML refuses, "" for one that it takes.
func escapeHint(escape string) string {
	high, low, pair := strings.Cut(escape[2:], `\u`)
	code, _ := strconv.ParseUint(high, 16, 32) // 0 for an escape without digits
	switch {
	case pair:
		second, _ := strconv.ParseUint(low, 16, 16)
		r := utf16.DecodeRune(rune(code), rune(second))
		return fmt.Sprintf(`write %c or \U%08X: YAML, unlike JSON, has no pairs of escapes`, r, r)
	case utf16.IsSurrogate(rune(code)):
		return "write a whole character: half of a surrogate pair is none"
	case code > unicode.MaxRune:
		return `write an escape of a character: the last one is \U0010FFFF`
	case escape == `\/`:
		return "write / without the backslash"
	case !strings.Contains("0abtnvfre \"'\\N_LPxuU\t\r\n", escape[1:2]):
		return `write \\ for a backslash, or put the text in single quotes`
	}
	return ""
}

// lineEnd is the offset of the end of the line that contains at.
func (p *yamlParser) lineEnd(at int) int {
	if end := bytes.IndexByte(p.data[at:], '\n'); end >= 0 {
		return at + end
	}
	return len(p.data)
}

// jsonStart matches the beginning of JSON that is unlikely to be YAML: a quote in its first brackets.
var jsonStart = lazyregexp.New(`[\[{][\[{\s]*"`)

// jsonFault looks for JSON that begins in the line of an offset, and reports its syntax error: the YAML reader only
// names the line of the opening bracket.
func (p *yamlParser) jsonFault(from int) bool {
	start := jsonStart().FindIndex(p.data[from:])
	if start == nil || bytes.ContainsAny(p.data[from:from+start[0]], "\n") {
		return false
	}
	l := p.lines[p.lineOf(from)]
	json := jsonParser{file: p.file, data: p.data, at: from + start[0], line: l.line, lineStart: l.lineStart}
	if json.value("", 0); !json.failed || p.unquoted(json.ds[0].Pos) {
		return false
	}
	p.ds = append(p.ds, json.ds...)
	return true
}

// unquoted reports whether there is a word without quotes where JSON needs a key or a value: in YAML that is no error.
func (p *yamlParser) unquoted(pos Position) bool {
	i := sort.Search(len(p.lines), func(i int) bool { return p.lines[i].line >= int(pos.Line) })
	at := p.lines[i].lineStart + int(pos.Column) - 1
	before := bytes.TrimRight(p.data[:at], " \t\r\n")
	return at < len(p.data) && !bytes.ContainsRune([]byte(`,:]}"`), rune(p.data[at])) && bytes.ContainsRune([]byte("[{,:"), rune(before[len(before)-1]))
}

// splitYAMLError takes the line out of the error's text. Without one the error is in the first line.
func splitYAMLError(err error) (int, string) {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	m := yamlErrorLine().FindStringSubmatch(message)
	if m == nil {
		return 1, message
	}
	line, err := strconv.Atoi(m[1])
	if err != nil {
		return 1, message
	}
	return line, strings.TrimPrefix(message, m[0])
}

// firstBadLine returns the first line with which the text up to it fails with this message.
func (p *yamlParser) firstBadLine(message string) int {
	return 1 + sort.Search(len(p.lines)-1, func(i int) bool {
		var n yaml.Node
		err := decode(yaml.NewDecoder(bytes.NewReader(p.data[:p.lines[i+1].start])), &n)
		if err == nil {
			return false
		}
		_, m := splitYAMLError(err)
		return m == message
	})
}

func (p *yamlParser) lastTextLine() int {
	return p.lineOf(max(0, len(bytes.TrimRight(p.data, " \t\r\n"))-1)) + 1
}

func (p *yamlParser) tabBefore(pos Position) bool {
	line := sourceLine(p.data, int(pos.Line))
	text := bytes.TrimLeft(line, " \t")
	return bytes.Contains(line[:len(line)-len(text)], []byte("\t"))
}
