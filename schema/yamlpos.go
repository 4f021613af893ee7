package schema

import (
	"bytes"
	"sort"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// yamlLine is the start of a line as the YAML reader counts them. It also ends lines at a lone CR, NEL, LS and PS, where
// editors and Render do not, so both ways of counting are kept.
type yamlLine struct {
	start     int // offset of the reader's line
	line      int // number of the editor's line
	lineStart int // offset of the editor's line
}

func yamlLines(data []byte) []yamlLine {
	line, lineStart := 1, 0
	if bytes.HasPrefix(data, []byte(byteOrderMark)) {
		lineStart = len(byteOrderMark)
	}
	lines := []yamlLine{{lineStart, 1, lineStart}}
	for i := lineStart; i < len(data); {
		size := lineBreak(data[i:])
		if size == 0 {
			i++
			continue
		}
		i += size
		if data[i-1] == '\n' {
			line, lineStart = line+1, i
		}
		lines = append(lines, yamlLine{i, line, lineStart})
	}
	return lines
}

// lineBreak returns the length of the line break that b starts with, or 0.
func lineBreak(b []byte) int {
	switch b[0] {
	case '\n':
		return 1
	case '\r':
		if len(b) > 1 && b[1] == '\n' {
			return 2
		}
		return 1
	case 0xC2:
		if len(b) > 1 && b[1] == 0x85 {
			return 2
		}
	case 0xE2:
		if len(b) > 2 && b[1] == 0x80 && (b[2] == 0xA8 || b[2] == 0xA9) {
			return 3
		}
	}
	return 0
}

// position turns the reader's line and column, which counts characters, into ours.
func (p *yamlParser) position(y *yaml.Node) Position {
	if y.Line < 1 || y.Line > len(p.lines) {
		return Position{File: p.file}
	}
	l := p.lines[y.Line-1]
	c := &p.cursor
	if c.line != y.Line || c.column > y.Column {
		*c = yamlCursor{y.Line, 1, l.start}
	}
	for c.column < y.Column && c.at < len(p.data) {
		size := 1
		if p.data[c.at] >= utf8.RuneSelf {
			_, size = utf8.DecodeRune(p.data[c.at:])
		}
		c.at += size
		c.column++
	}
	return Position{File: p.file, Line: int32(l.line), Column: int32(c.at - l.lineStart + 1)}
}

// yamlCursor remembers where the last column was found: values come in source order, and counting each one from the
// start of a long line would cost the square of its length.
type yamlCursor struct{ line, column, at int }

// at returns the position of a byte.
func (p *yamlParser) at(offset int) Position {
	l := p.lines[p.lineOf(offset)]
	return Position{File: p.file, Line: int32(l.line), Column: int32(max(offset-l.lineStart, 0) + 1)}
}

// lineOf returns the index of the reader's line that holds a byte.
func (p *yamlParser) lineOf(offset int) int {
	return max(0, sort.Search(len(p.lines), func(i int) bool { return p.lines[i].start > offset })-1)
}

// firstText returns the offset of the first byte that is not blank in the reader's line.
func (p *yamlParser) firstText(line int) int {
	line = min(max(line, 1), len(p.lines))
	at := p.lines[line-1].start
	for at < len(p.data) && (p.data[at] == ' ' || p.data[at] == '\t') {
		at++
	}
	return at
}

// invalidUTF8 returns the offset of the first byte that is not UTF-8, or -1.
func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		if data[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}
