package schema

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"sync"

	"go.yaml.in/yaml/v3"
)

// splitAbove is the size of a text from which its pieces are read concurrently.
const splitAbove = 128 << 10

// inPieces reads a text whose largest top-level mapping is in block style: pieces with the members of that mapping are read concurrently,
// as is the rest without them. It returns nil if the text is not like that or a piece can not be read by itself, for any
// reason: then the whole text has to be read, which also finds the position of an error.
//
// Cutting between two members can not change the result. Quotes and brackets that are open at the cut are an error in the
// piece before it, an alias of an anchor in another piece is one in its own piece, and everything else ends before a line that is not indented
// further.
func inPieces(data []byte, pieces int) *yaml.Node {
	b := largestBlock(data)
	if b == nil {
		return nil
	}
	texts := append(b.cut(data, pieces), b.without(data))
	docs := make([]*yaml.Node, len(texts))
	var wg sync.WaitGroup
	for i, text := range texts {
		wg.Go(func() { docs[i] = singleMapping(text) })
	}
	wg.Wait()
	members := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for i, doc := range docs {
		if doc == nil {
			return nil
		}
		if i < len(docs)-1 {
			members.Content = append(members.Content, doc.Content[0].Content...)
		}
	}
	return b.join(docs[len(docs)-1], members)
}

// pieces is the number of pieces to read a text in.
func pieces(p *yamlParser) int {
	if len(p.data) < splitAbove || len(p.lines) != bytes.Count(p.data, []byte("\n"))+1 {
		return 1 // small, or with line ends that only the YAML reader knows
	}
	return min(runtime.GOMAXPROCS(0), len(p.data)/splitAbove+1)
}

// singleMapping reads one document that is a mapping; nil if the text is anything else.
func singleMapping(text []byte) *yaml.Node {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, second yaml.Node
	if decode(dec, &doc) != nil || !errors.Is(decode(dec, &second), io.EOF) || doc.Content[0].Kind != yaml.MappingNode {
		return nil
	}
	return &doc
}

// block is a mapping in block style below a top-level key.
type block struct {
	keyLine  int   // of the key, from 1
	from, to int   // the lines of the members
	starts   []int // offsets at which members begin
	lines    []int // the lines of these, from 1
}

// largestBlock returns the block with the longest text, or nil.
func largestBlock(data []byte) *block {
	var largest, b *block
	indent, line := 0, 0
	keep := func(end int) {
		if b != nil && len(b.starts) > 1 && (largest == nil || end-b.from > largest.to-largest.from) {
			b.to = end
			largest = b
		}
		b = nil
	}
	for at := 0; at < len(data); {
		end := at + bytes.IndexByte(data[at:], '\n') + 1
		if end == at {
			end = len(data)
		}
		line++
		text := bytes.TrimRight(data[at:end], " \r\n")
		depth := len(text) - len(bytes.TrimLeft(text, " "))
		switch {
		case len(text) == 0 || text[depth] == '#':
		case depth == 0:
			keep(at)
			if opensBlock(text) {
				b, indent = &block{keyLine: line, from: end}, 0
			}
		case b == nil:
		case indent == 0 || depth == indent:
			indent = depth
			b.starts, b.lines = append(b.starts, at), append(b.lines, line)
			if !beginsMember(text[depth]) {
				b = nil
			}
		case depth < indent:
			b = nil // invalid indentation
		}
		at = end
	}
	keep(len(data))
	return largest
}

// opensBlock reports whether a line is only a key without quotes.
func opensBlock(text []byte) bool {
	key, found := bytes.CutSuffix(text, []byte(":"))
	return found && len(key) > 0 && bytes.IndexFunc(key, func(r rune) bool { return r >= 0x80 || !beginsMember(byte(r)) }) < 0
}

// beginsMember reports whether a member may begin with c: a letter, digit or underscore; quotes and other marks could continue on later lines.
func beginsMember(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

// cut returns the members in about n pieces of equal length. Empty lines before each keep its line numbers.
func (b *block) cut(data []byte, n int) [][]byte {
	var texts [][]byte
	first := 0
	for i := range b.starts {
		end := b.to
		if i+1 < len(b.starts) {
			end = b.starts[i+1]
		}
		if i+1 < len(b.starts) && (end-b.starts[first])*n < b.to-b.from {
			continue
		}
		texts = append(texts, append(bytes.Repeat([]byte("\n"), b.lines[first]-1), data[b.starts[first]:end]...))
		first = i + 1
	}
	return texts
}

// without is the text with empty lines for the members.
func (b *block) without(data []byte) []byte {
	blank := bytes.Repeat([]byte("\n"), bytes.Count(data[b.from:b.to], []byte("\n")))
	return bytes.Join([][]byte{data[:b.from], blank, data[b.to:]}, nil)
}

// join puts the members into the rest, at the key that has no value there.
func (b *block) join(rest, members *yaml.Node) *yaml.Node {
	top := rest.Content[0].Content
	for i := 0; i+1 < len(top); i += 2 {
		if top[i].Line == b.keyLine && top[i+1].Tag == "!!null" {
			members.Line, members.Column = members.Content[0].Line, members.Content[0].Column
			top[i+1] = members
			return rest
		}
	}
	return nil
}
