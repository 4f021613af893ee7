package schema

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// ParseJSON reads one JSON value. It stops at a syntax error, and the Node is nil; of duplicate keys the first one's value
// is kept. Text that is not UTF-8, lone surrogates and nesting beyond MaxDepth are syntax errors (VAL07).
func ParseJSON(file string, data []byte) (*Node, Diagnostics) {
	p := jsonParser{file: file, data: data, line: 1}
	if len(data) >= len(byteOrderMark) && string(data[:len(byteOrderMark)]) == byteOrderMark {
		p.at, p.lineStart = len(byteOrderMark), len(byteOrderMark)
	}
	var n *Node
	if len(bytes.TrimLeft(data[p.at:], " \t\r\n")) == 0 {
		p.fail(p.at, "empty-file", "", "the file holds no value")
	} else {
		n = p.value("", 0)
	}
	if n != nil {
		if p.space(); p.at < len(p.data) {
			p.fail(p.at, "syntax", "", "more text after the end of the JSON value")
		}
	}
	if p.failed {
		if n = nil; HasConflict(data) {
			p.ds = conflictIn(file, data)
		}
	}
	p.ds.Sort()
	return n, p.ds
}

// jsonParser is written by hand because encoding/json keeps neither positions nor duplicate keys nor the order of
// members, and reading the text a second time for these would cost more.
type jsonParser struct {
	file      string
	data      []byte
	at        int
	line      int
	lineStart int
	nodes     slab
	ds        Diagnostics
	failed    bool
}

func (p *jsonParser) position(at int) Position {
	return Position{File: p.file, Line: int32(p.line), Column: int32(at - p.lineStart + 1)}
}

// fail records the syntax error that ends the run.
func (p *jsonParser) fail(at int, code, hint, format string, args ...any) *Node {
	if !p.failed {
		p.failed = true
		p.ds.ReportAt(p.position(at), "", code, hint, format, args...)
	}
	return nil
}

func (p *jsonParser) space() {
	for p.at < len(p.data) {
		switch p.data[p.at] {
		case '\n':
			p.line++
			p.lineStart = p.at + 1
		case ' ', '\t', '\r':
		default:
			return
		}
		p.at++
	}
}

// next skips space and returns the byte that follows, or 0 at the end.
func (p *jsonParser) next() byte {
	p.space()
	if p.at < len(p.data) {
		return p.data[p.at]
	}
	return 0
}

func (p *jsonParser) node(kind Kind, pointer string) *Node {
	n := p.nodes.next()
	n.Kind, n.Pos, n.Pointer = kind, p.position(p.at), pointer
	return n
}

func (p *jsonParser) value(pointer string, depth int) *Node {
	c := p.next()
	if depth > MaxDepth {
		return p.fail(p.at, "too-deep", "", "nested deeper than %d levels", MaxDepth)
	}
	switch {
	case c == '{':
		return p.object(pointer, depth)
	case c == '[':
		return p.array(pointer, depth)
	case c == '"':
		n := p.node(String, pointer)
		n.Text = p.str()
		return n
	case c == '-' || '0' <= c && c <= '9':
		return p.number(pointer)
	case c == 't':
		return p.word("true", Bool, pointer)
	case c == 'f':
		return p.word("false", Bool, pointer)
	case c == 'n':
		return p.word("null", Null, pointer)
	}
	return p.unexpected("a value")
}

func (p *jsonParser) object(pointer string, depth int) *Node {
	n := p.node(Object, pointer)
	p.at++
	if p.next() == '}' {
		p.at++
		return n
	}
	for {
		m, ok := p.member(pointer, depth)
		if !ok {
			return nil
		}
		n.Members = append(n.Members, m)
		switch p.next() {
		case ',':
			p.at++
		case '}':
			p.at++
			n.Members = dropDuplicates(n.Members, pointer, &p.ds)
			return n
		default:
			return p.unexpected("a comma or }")
		}
	}
}

func (p *jsonParser) member(pointer string, depth int) (m Member, ok bool) {
	if p.next() != '"' {
		p.unexpected("a key in quotes")
		return m, false
	}
	m.KeyPos = p.position(p.at)
	m.Key = p.str()
	if p.failed {
		return m, false
	}
	if p.next() != ':' {
		p.unexpected("a colon")
		return m, false
	}
	p.at++
	m.Value = p.value(pointer+"/"+EscapeToken(m.Key), depth+1)
	return m, !p.failed
}

func (p *jsonParser) array(pointer string, depth int) *Node {
	n := p.node(Array, pointer)
	p.at++
	if p.next() == ']' {
		p.at++
		return n
	}
	for {
		item := p.value(pointer+"/"+strconv.Itoa(len(n.Items)), depth+1)
		if p.failed {
			return nil
		}
		n.Items = append(n.Items, item)
		switch p.next() {
		case ',':
			p.at++
		case ']':
			p.at++
			return n
		default:
			return p.unexpected("a comma or ]")
		}
	}
}

func (p *jsonParser) word(word string, kind Kind, pointer string) *Node {
	n := p.node(kind, pointer)
	end := p.at + len(word)
	if end > len(p.data) || string(p.data[p.at:end]) != word {
		return p.unexpected("a value")
	}
	p.at = end
	if kind == Bool {
		n.Text = word
	}
	return n
}

func (p *jsonParser) number(pointer string) *Node {
	n := p.node(Number, pointer)
	end := p.at
	for end < len(p.data) && isNumberByte(p.data[end]) {
		end++
	}
	n.Text = string(p.data[p.at:end])
	if !isNumber(n.Text) {
		return p.fail(p.at, "syntax", "", "%s is no JSON number", excerpt(n.Text))
	}
	p.at = end
	return n
}

func isNumberByte(c byte) bool {
	return '0' <= c && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}

func (p *jsonParser) unexpected(want string) *Node {
	if p.at >= len(p.data) {
		return p.fail(p.at, "syntax", "", "the text ends where %s should stand", want)
	}
	r, size := utf8.DecodeRune(p.data[p.at:])
	if r == utf8.RuneError && size == 1 {
		return p.fail(p.at, "invalid-utf8", "save the file as UTF-8", "byte 0x%02x is not UTF-8", p.data[p.at])
	}
	hint := ""
	if (r == '}' || r == ']') && p.afterComma() {
		hint = "remove the comma before it"
	}
	return p.fail(p.at, "syntax", hint, "%s instead of %s", fmt.Sprintf("%q", r), want)
}

func (p *jsonParser) afterComma() bool {
	for i := p.at - 1; i >= 0; i-- {
		switch p.data[i] {
		case ' ', '\t', '\r', '\n':
		default:
			return p.data[i] == ','
		}
	}
	return false
}
