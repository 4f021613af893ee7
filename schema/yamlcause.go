package schema

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
)

// isControl reports whether YAML allows a character nowhere.
func isControl(r rune) bool {
	return unicode.IsControl(r) && !strings.ContainsRune("\t\n\r\u0085", r) || r == '\ufffe' || r == '\uffff'
}

// quotes is the offset of a quote that makes the line of an offset wrong, and its remedy: the text that it begins has no end, or ends
// too early. The remedy is "" if there is none. Of a text that begins in the first line the reader names another line.
func (p *yamlParser) quotes(at int) (int, string) {
	for _, line := range []int{p.quotedSince(at), 1} {
		from := p.firstText(line)
		for _, word := range yamlWord().FindAllIndex(p.data[from:], -1) {
			begin, end := from+word[0], from+word[1]
			if begin > p.lineEnd(from) {
				break
			}
			if wrong, hint := p.quote(begin, end); hint != "" {
				return wrong, hint
			}
		}
	}
	return at, ""
}

// quote is quotes for a word.
func (p *yamlParser) quote(begin, end int) (int, string) {
	quote := p.data[begin]
	before := bytes.TrimRight(p.data[p.lines[p.lineOf(begin)].start:begin], " ")
	if quote != '"' && quote != '\'' || len(before) > 0 && !bytes.ContainsRune([]byte(":,[{-?"), rune(before[len(before)-1])) {
		return 0, "" // in a text without quotes
	}
	after := bytes.TrimLeft(p.data[end:p.lineEnd(end)], " \t\r")
	switch {
	case end == len(p.data) && (end == begin+1 || p.data[end-1] != quote):
		return begin, fmt.Sprintf("close the quotes: the text that begins here has no other %c", quote)
	case len(after) == 0 || bytes.ContainsRune([]byte(",:]}#"), rune(after[0])):
		return 0, ""
	case bytes.Contains(p.data[begin:end], []byte("\n")):
		return begin, fmt.Sprintf("close the quotes: the text that begins here goes on to the next %c, in line %d", quote, p.at(end).Line)
	case quote == '"':
		return end - 1, `write \" for a quote in the text: it ends here`
	}
	return end - 1, "write '' for a quote in the text: it ends here"
}

// quotedSince returns the line in which a text in quotes begins that goes on to the line of an offset; else the line of the offset.
func (p *yamlParser) quotedSince(at int) int {
	i := p.lineOf(at)
	var n yaml.Node
	if err := decode(yaml.NewDecoder(bytes.NewReader(p.data[:p.lines[i].start])), &n); err != nil {
		if line, message := splitYAMLError(err); strings.HasPrefix(message, "found unexpected end of stream") {
			return line
		}
	}
	return i + 1
}

// loneWord matches a line with nothing but a word in it.
var loneWord = lazyregexp.New(`^\s*[\w.$-]+\s*$`)

// indentation is the remedy for a line that does not stand below a line that it could belong to; "" for another one.
func (p *yamlParser) indentation(at int) string {
	column, next := p.at(at).Column, true // next: no text is between the lines
	for line := p.lineOf(at); line > 0; line-- {
		first := p.firstText(line)
		text := bytes.TrimRight(p.data[first:p.lineEnd(first)], " \t\r")
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		above := p.at(first).Column
		inItem := above + int32(len(text)-len(bytes.TrimLeft(text, "- "))) // in an item of a list, which begins with a dash
		switch {
		case above > column:
			next = false
			continue
		case above == column || inItem == column || next && bytes.HasSuffix(text, []byte(":")):
			return ""
		case next && loneWord().Match(text):
			return fmt.Sprintf("write %s: in line %d if that is a key", text, p.at(first).Line)
		}
		return "indent it as far as the keys that it belongs to: none above begins in this column"
	}
	return ""
}
