package emit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// source collects Go source, formatted as by gofmt. Types and validators, nearly all of a package's text, are written with it;
// doc.go says why not with jennifer.
type source struct {
	b     []byte
	depth int
	paths []string // import paths of the packages that are used
	names map[qualified]string
}

// sized is a source with room for so many bytes: to grow to that size would take as long as the writing.
func sized(bytes int) *source { return &source{b: make([]byte, 0, bytes)} }

// qualified is a name in a package.
type qualified struct{ path, name string }

// use records that the package at path is used, and returns a qualified name in it: check.Raw.
func (s *source) use(path, name string) string {
	q := qualified{path, name}
	if written, ok := s.names[q]; ok {
		return written
	}
	if s.names == nil {
		s.names = map[qualified]string{}
	}
	if !slices.Contains(s.paths, path) {
		s.paths = append(s.paths, path)
	}
	s.names[q] = path[strings.LastIndexByte(path, '/')+1:] + "." + name
	return s.names[q]
}

// function is the name by which code of pkg calls a function of one of its types; with a client, the shared package has the function.
func (s *source) function(pkg *model.Package, name string) string {
	if exported, ok := pkg.Exported[name]; ok {
		return s.use(pkg.Shared.Path, exported)
	}
	return name
}

// runtime is use of runtime/check.
func (s *source) runtime(name string) string { return s.use(checkPath, name) }

// format is use of runtime/check/format.
func (s *source) format(name string) string { return s.use(formatPath, name) }

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

// open writes a line that begins a block, and indents the next lines.
func (s *source) open(parts ...string) {
	s.line(parts...)
	s.depth++
}

// close ends a block.
func (s *source) close(parts ...string) {
	s.depth--
	s.line(parts...)
}

// block writes lines that have no indentation yet. A line that ends with a brace indents those up to the closing brace; one that ends with a period,
// in a chain of calls, indents the next line.
func (s *source) block(text string) {
	chained := 0
	for line := range strings.SplitSeq(text, "\n") {
		if line[0] == '}' {
			s.depth--
		}
		s.depth += chained
		s.line(line)
		s.depth -= chained
		chained = 0
		switch line[len(line)-1] {
		case '{':
			s.depth++
		case '.':
			chained = 1
		}
	}
}

// label writes a line one step to the left: case and default.
func (s *source) label(parts ...string) {
	s.depth--
	s.line(parts...)
	s.depth++
}

// comment writes lines of a schema or manifest as a comment.
func (s *source) comment(lines ...string) {
	for _, line := range commentLines(lines...) {
		s.line(line)
	}
}

// file returns the whole file: header, package clause, imports (those of the standard library first) and the collected
// source, in the same memory where it has room. Nothing can be written to s afterwards.
func (s *source) file(header, pkg string) []byte {
	paths := s.paths
	sortPaths(paths)
	b := append(make([]byte, 0, 1024), header...)
	b = append(b, "\n\npackage "+pkg...)
	switch len(paths) {
	case 0:
	case 1:
		b = append(b, "\n\nimport \""+paths[0]+"\""...)
	default:
		b = append(b, "\n\nimport ("...)
		for i, path := range paths {
			if i > 0 && isDotted(path) && !isDotted(paths[i-1]) {
				b = append(b, '\n')
			}
			b = append(b, "\n\t\""+path+"\""...)
		}
		b = append(b, "\n)"...)
	}
	b = append(b, '\n')
	return slices.Insert(s.b, 0, b...)
}

func sortPaths(paths []string) {
	slices.SortFunc(paths, func(a, b string) int {
		switch dotted := isDotted(a); {
		case dotted == isDotted(b):
			return strings.Compare(a, b)
		case dotted:
			return 1
		}
		return -1
	})
}

// isDotted reports whether an import path has a dot: those of the standard library have none.
func isDotted(path string) bool { return strings.Contains(path, ".") }

// fields writes the fields of a composite literal, each beginning a line. As gofmt does, it aligns the values of neighbours that take one line
// each.
func (s *source) fields(all []row) {
	var run []row
	flush := func() { s.rows(run); run = nil }
	for _, r := range all {
		if !strings.Contains(r.rest, "\n") {
			run = append(run, row{r.name + ":", r.rest + ","})
			continue
		}
		flush()
		lines := strings.Split(r.rest, "\n")
		s.line(r.name, ": ", lines[0])
		for i, line := range lines[1:] {
			if i == len(lines)-2 {
				line += ","
			}
			s.line(line)
		}
	}
	flush()
}

// row is one line of an aligned block: a name and the rest of the line.
type row struct{ name, rest string }

// rows writes rows with their second parts aligned, as gofmt does for neighbours.
func (s *source) rows(all []row) {
	width := 0
	for _, r := range all {
		width = max(width, runes(r.name))
	}
	for _, r := range all {
		s.line(r.name, strings.Repeat(" ", width-runes(r.name)), " ", r.rest)
	}
}

// orElse ends a block and begins the one of else.
func (s *source) orElse() {
	s.close("} else {")
	s.depth++
}

// oneLine writes a function of one statement: on one line where gofmt, which counts bytes here, leaves it there.
func (s *source) oneLine(header, body string) {
	if len(header)+len(body) <= maxOneLine {
		s.line(header, " { ", body, " }")
		return
	}
	s.open(header, " {")
	s.line(body)
	s.close("}")
}

// tagged is a field of a struct with its JSON name.
type tagged struct{ name, typ, tag string }

// taggedRows writes fields with their types and tags aligned. A field without a tag ends an aligned group of tags, as in gofmt.
func (s *source) taggedRows(all []tagged) {
	rows := make([]row, len(all))
	for i := 0; i < len(all); {
		end, width := i, 0
		for end < len(all) && all[end].tag != "" {
			width = max(width, runes(all[end].typ))
			end++
		}
		for ; i < end; i++ {
			f := all[i]
			rows[i] = row{f.name, f.typ + strings.Repeat(" ", width-runes(f.typ)) + " `json:\"" + f.tag + "\"`"}
		}
		if i < len(all) {
			rows[i] = row{all[i].name, all[i].typ}
			i++
		}
	}
	s.rows(rows)
}

// runes is the width of a name as gofmt counts it.
func runes(name string) int { return len([]rune(name)) }

// goString is text as a Go string literal, between backquotes if that saves escapes. Invisible characters are escaped.
func goString(text string) string {
	escapes := 0
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ' || c > '~' || c == '`':
			return shorter(text)
		case c == '"' || c == '\\':
			escapes++
		}
	}
	if escapes > 0 {
		return "`" + text + "`"
	}
	return `"` + text + `"`
}

// shorter is goString for every text: the shorter of the literals with quotes and with backquotes. It is slow.
func shorter(text string) string {
	plain := strconv.Quote(text)
	if raw := "`" + text + "`"; len(raw) < len(plain) && strconv.CanBackquote(text) && !strings.ContainsFunc(text, invisible) {
		return raw
	}
	return plain
}

func invisible(r rune) bool { return !strconv.IsPrint(r) }
