package emit

import (
	"strconv"
	"strings"
)

// source collects Go source that gofmt leaves as it is. Types and validators, nearly all of a package's text, are
// written with it; doc.go tells why not with jennifer.
type source struct {
	b       []byte
	depth   int
	imports bool // runtime/check is used
}

// line writes one line at the current indentation, its parts joined. No parts make an empty line.
func (s *source) line(parts ...string) {
	if len(parts) > 0 {
		for range s.depth {
			s.b = append(s.b, '\t')
		}
	}
	for _, p := range parts {
		s.b = append(s.b, p...)
	}
	s.b = append(s.b, '\n')
}

// open writes a line that begins a block, and indents what follows.
func (s *source) open(parts ...string) {
	s.line(parts...)
	s.depth++
}

// close ends a block.
func (s *source) close(parts ...string) {
	s.depth--
	s.line(parts...)
}

// label writes a line one step to the left: case and default.
func (s *source) label(parts ...string) {
	s.depth--
	s.line(parts...)
	s.depth++
}

// comment writes lines of text by others as a comment.
func (s *source) comment(lines ...string) {
	for _, line := range commentLines(lines...) {
		s.line(line)
	}
}

// file returns the whole file: header, package clause, the import of runtime/check if it is used, and what was written.
func (s *source) file(header, pkg string) []byte {
	var b []byte
	b = append(b, header...)
	b = append(b, "\n\npackage "...)
	b = append(b, pkg...)
	if s.imports {
		b = append(b, "\n\nimport \""+checkPath+"\""...)
	}
	b = append(b, '\n')
	return append(b, s.b...)
}

// row is one line of an aligned block: a name and what follows it.
type row struct{ name, rest string }

// rows writes rows with what follows the name aligned, as gofmt does for neighbours.
func (s *source) rows(all []row) {
	width := 0
	for _, r := range all {
		width = max(width, runes(r.name))
	}
	for _, r := range all {
		s.line(r.name, strings.Repeat(" ", width-runes(r.name)), " ", r.rest)
	}
}

// runes is the width of a name as gofmt counts it.
func runes(name string) int { return len([]rune(name)) }

// quoted is text as a Go string literal, between backquotes if that saves escapes. What can not be seen is escaped.
func quoted(text string) string {
	plain := strconv.Quote(text)
	if raw := "`" + text + "`"; len(raw) < len(plain) && strconv.CanBackquote(text) && !strings.ContainsFunc(text, invisible) {
		return raw
	}
	return plain
}

func invisible(r rune) bool { return !strconv.IsPrint(r) }
