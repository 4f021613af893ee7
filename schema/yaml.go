package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxAliased is how many values aliases may add: nine lines of YAML can expand to billions.
const maxAliased = 100_000

// ParseYAML reads one YAML document as a JSON value. The Node is nil if the text is no YAML, not a single document, nested too deep, or expanded
// too far by aliases. What JSON can not express (other tags, numbers such as 0x10 or .inf, keys that are no strings, anchors
// that contain themselves) is reported; the rest is still returned. Of duplicate keys the first one's value is kept.
func ParseYAML(file string, data []byte) (*Node, Diagnostics) {
	p := yamlParser{file: file, data: data, lines: yamlLines(data), open: map[*yaml.Node]bool{}}
	if !p.checkText() {
		return nil, p.ds
	}
	doc, ok := p.document()
	if !ok {
		return nil, p.ds
	}
	n := p.value(doc.Content[0], "", 0)
	p.ds.Sort()
	if p.incomplete {
		return nil, p.ds // every missing part would be reported as an error of its own
	}
	return n, p.ds
}

type yamlParser struct {
	file       string
	data       []byte
	lines      []yamlLine
	cursor     yamlCursor
	nodes      slab
	open       map[*yaml.Node]bool // anchors that are being expanded
	inAlias    int
	anchored   int // values with an anchor that are being read
	aliased    int
	incomplete bool // a value was not read: nested too deep, expanded too far, or wrongly indented
	ds         Diagnostics
}

// checkText refuses text that is not UTF-8, which the YAML reader would report without a position.
func (p *yamlParser) checkText() bool {
	if at := invalidUTF8(p.data); at >= 0 {
		p.ds.ReportAt(p.at(at), "", "invalid-utf8", "save the file as UTF-8", "byte 0x%02x is not UTF-8", p.data[at])
		return false
	}
	return true
}

func (p *yamlParser) document() (*yaml.Node, bool) {
	if n := pieces(p); n > 1 {
		if doc := inPieces(p.data, n); doc != nil {
			return doc, true
		}
	}
	return p.onePiece()
}

func (p *yamlParser) onePiece() (*yaml.Node, bool) {
	dec := yaml.NewDecoder(bytes.NewReader(p.data))
	var doc, second yaml.Node
	if err := decode(dec, &doc); err != nil {
		p.syntax(err)
		return nil, false
	}
	switch err := decode(dec, &second); {
	case errors.Is(err, io.EOF):
		return &doc, true
	case err != nil:
		p.syntax(err)
	default:
		p.ds.ReportAt(p.position(&second), "", "multiple-documents", "keep one document to a file",
			"a second YAML document starts here")
	}
	return nil, false
}

// decode turns a panic of the YAML reader into an error: no input may cause a panic.
func decode(dec *yaml.Decoder, n *yaml.Node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: %v", r)
		}
	}()
	return dec.Decode(n)
}

func (p *yamlParser) value(y *yaml.Node, pointer string, depth int) *Node {
	if y.Kind == yaml.AliasNode {
		return p.alias(y, pointer, depth)
	}
	n := p.nodes.next()
	n.Pos, n.Pointer = p.position(y), pointer
	if p.inAlias > 0 {
		p.aliased++
	}
	if y.Anchor != "" {
		p.anchored++
		defer func() { p.anchored-- }()
	}
	switch {
	case depth > MaxDepth:
		p.incomplete = true
		p.ds.Report(n, "too-deep", "", "nested deeper than %d levels", MaxDepth)
	case y.Kind == yaml.MappingNode:
		n.Kind = Object
		p.plainTag(n, y, "!!map")
		p.members(n, y, depth)
	case y.Kind == yaml.SequenceNode:
		n.Kind, n.Items = Array, make([]*Node, 0, len(y.Content))
		p.plainTag(n, y, "!!seq")
		for i, item := range y.Content {
			n.Items = append(n.Items, p.value(item, pointer+"/"+strconv.Itoa(i), depth+1))
		}
	default:
		p.scalar(n, y)
	}
	return n
}

// alias returns a copy of the anchored value for the alias. It keeps the position of the original, where a
// mistake in it has to be corrected.
func (p *yamlParser) alias(y *yaml.Node, pointer string, depth int) *Node {
	here := &Node{Kind: Null, Pos: p.position(y), Pointer: pointer}
	switch {
	case p.open[y.Alias]:
		p.incomplete = true
		p.ds.Report(here, "yaml-alias", "", "alias %s stands inside the value that it names", quote(y.Value))
		return here
	case p.aliased > maxAliased:
		p.incomplete = true
		p.ds.ReportAt(Position{p.file, 1, 1}, "", "yaml-alias", "", "aliases expand to more than %d values", maxAliased)
		return here
	}
	p.open[y.Alias] = true
	p.inAlias++
	n := p.value(y.Alias, pointer, depth)
	p.inAlias--
	delete(p.open, y.Alias)
	return n
}

func (p *yamlParser) plainTag(n *Node, y *yaml.Node, want string) {
	if y.Tag != want {
		p.ds.Report(n, "yaml-tag", "remove the tag", "tag %s has no meaning in JSON", quote(y.Tag))
	}
}

func (p *yamlParser) members(n *Node, y *yaml.Node, depth int) {
	var merged []Member
	n.Members = make([]Member, 0, len(y.Content)/2)
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, value := y.Content[i], y.Content[i+1]
		if key.Kind == yaml.ScalarNode && key.Tag == "!!merge" {
			merged = p.merge(merged, value, n.Pointer, depth)
			continue
		}
		m := Member{KeyPos: p.position(key)}
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind != yaml.ScalarNode || key.Tag != "!!str" {
			p.ds.ReportAt(m.KeyPos, n.Pointer, "non-string-key", "quote it", "key %s is no string", quote(key.Value))
			n.Unread = true // so that no key is reported as missing
			continue
		}
		if key.Style == 0 && strings.HasPrefix(key.Value, "\u00a0") {
			p.incomplete = true // so that nothing else is reported about wrongly indented values
			p.ds.ReportAt(m.KeyPos, n.Pointer, "syntax", "indent with spaces: this is a no-break space", "not YAML: the key %s begins with a space that is none",
				quote(strings.TrimLeft(key.Value, "\u00a0 ")))
			continue
		}
		m.Key = key.Value
		m.Value = p.value(value, n.Pointer+"/"+EscapeToken(m.Key), depth+1)
		n.Members = append(n.Members, m)
		if p.anchored == 0 {
			y.Content[i], y.Content[i+1] = nil, nil // it is not read again: of a large text only one form is kept in memory
		}
	}
	n.Members = dropDuplicates(n.Members, n.Pointer, &p.ds)
	for _, m := range merged {
		if indexOfKey(n.Members, m.Key) < 0 {
			n.Members = append(n.Members, m)
		}
	}
}

// merge adds the members that "<<" brings in: those of a mapping, or of a list of mappings, of which the first takes precedence.
func (p *yamlParser) merge(merged []Member, y *yaml.Node, pointer string, depth int) []Member {
	v := p.value(y, pointer, depth)
	sources := []*Node{v}
	if v.Kind == Array {
		sources = v.Items
	}
	for _, s := range sources {
		if s.Kind != Object {
			p.ds.ReportAt(p.position(y), pointer, "yaml-merge", "", "<< takes a mapping or a list of mappings, not a %s", s.Kind)
		}
		for _, m := range s.Members {
			if indexOfKey(merged, m.Key) < 0 {
				merged = append(merged, m)
			}
		}
	}
	return merged
}

func (p *yamlParser) scalar(n *Node, y *yaml.Node) {
	const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle | yaml.TaggedStyle
	n.Plain, n.Date, n.Text = y.Style&quoted == 0, y.Tag == "!!timestamp", y.Value
	switch y.Tag {
	case "!!str", "!!timestamp", "!!merge":
		if n.Kind = String; n.Plain && isNumber(n.Text) {
			n.Kind = Number // beyond float64: the YAML reader takes it for text
		}
	case "!!null":
		n.Text = ""
	case "!!bool":
		n.Kind, n.Text = Bool, strings.ToLower(y.Value)
		if n.Text != "true" && n.Text != "false" {
			p.unread(n, "yaml-tag", "write true or false", "%s is no boolean", quote(y.Value))
		}
	case "!!int", "!!float":
		if n.Kind = Number; !isNumber(y.Value) {
			p.unread(n, "yaml-number", "write it in plain decimals, or quote it if it is text",
				"%s is no number that JSON can write", quote(y.Value))
			n.Text = "0"
		}
	default:
		n.Kind = String
		p.unread(n, "yaml-tag", "remove the tag", "tag %s has no meaning in JSON", quote(y.Tag))
	}
}

// unread reports a value that JSON can not express, and marks its substitute, so that nothing more is reported of it.
func (p *yamlParser) unread(n *Node, code, hint, format string, args ...any) {
	p.ds.Report(n, code, hint, format, args...)
	n.Unread = true
}
