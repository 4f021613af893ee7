package schema

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind is the JSON type of a Node.
type Kind uint8

// The kinds of JSON values.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

var kindNames = [...]string{Null: "null", Bool: "boolean", Number: "number", String: "string", Array: "array", Object: "object"}

// String returns JSON Schema's name of the kind.
func (k Kind) String() string { return kindNames[k] }

// Node is one JSON value and its position. Nodes are not changed after parsing, so they may be
// shared between goroutines and between documents.
type Node struct {
	Kind Kind

	// Plain says that it was a YAML scalar without quotes and without an explicit tag, and Date that YAML takes it for a date: 2026-07-28.
	Plain, Date bool

	// Unread says that the value is a substitute for one that could not be read, which has been reported: nothing more is reported of it.
	Unread bool

	Pos     Position
	Pointer string // JSON Pointer from the root of the file

	Text    string   // String: the value; Number: the literal, exactly; Bool: "true" or "false"
	Members []Member // Object: in source order, keys unique
	Items   []*Node  // Array
}

// nodesAtOnce is how many nodes are allocated together: they fill 8 KiB, a size class of Go's allocator.
const nodesAtOnce = 73

// slab allocates nodes, nodesAtOnce at a time.
type slab struct{ unused []Node }

func (s *slab) next() *Node {
	if len(s.unused) == 0 {
		s.unused = make([]Node, nodesAtOnce)
	}
	n := &s.unused[0]
	s.unused = s.unused[1:]
	return n
}

// Member is one key and value of an object.
type Member struct {
	Key    string
	KeyPos Position
	Value  *Node
}

// Get returns the value of key, or nil if n is no object or has no such key. A nil n is allowed.
func (n *Node) Get(key string) *Node {
	if m := n.Member(key); m != nil {
		return m.Value
	}
	return nil
}

// Member returns the member of key, or nil. A nil n is allowed.
func (n *Node) Member(key string) *Member {
	if n == nil {
		return nil
	}
	for i := range n.Members {
		if n.Members[i].Key == key {
			return &n.Members[i]
		}
	}
	return nil
}

// members is n.Members of a node that may be missing.
func (n *Node) members() []Member {
	if n == nil {
		return nil
	}
	return n.Members
}

// items is n.Items of a node that may be missing.
func (n *Node) items() []*Node {
	if n == nil {
		return nil
	}
	return n.Items
}

// Is reports whether n is not nil and of kind k.
func (n *Node) Is(k Kind) bool { return n != nil && n.Kind == k }

// Lookup follows a JSON Pointer relative to n: "" is n itself. It returns nil where the pointer leads nowhere.
func (n *Node) Lookup(pointer string) *Node {
	if pointer == "" {
		return n
	}
	rest, ok := strings.CutPrefix(pointer, "/")
	for ok && n != nil {
		var token string
		token, rest, ok = strings.Cut(rest, "/")
		n = n.child(UnescapeToken(token))
	}
	if !strings.HasPrefix(pointer, "/") {
		return nil
	}
	return n
}

func (n *Node) child(token string) *Node {
	if n.Kind == Object {
		return n.Get(token)
	}
	i, err := strconv.Atoi(token)
	if n.Kind != Array || err != nil || i < 0 || i >= len(n.Items) || strconv.Itoa(i) != token {
		return nil
	}
	return n.Items[i]
}

// Walk calls visit for n and everything below it in source order, as long as visit returns true for the parent.
func (n *Node) Walk(visit func(*Node) bool) {
	if n == nil {
		return
	}
	if n.mustBeUnpacked(); !visit(n) {
		return
	}
	for i := range n.Members {
		n.Members[i].Value.Walk(visit)
	}
	for _, item := range n.Items {
		item.Walk(visit)
	}
}

// hasKey reports whether n or a value below it has a member of that key.
func (n *Node) hasKey(key string) bool {
	found := false
	n.Walk(func(n *Node) bool {
		found = found || n.Get(key) != nil
		return !found
	})
	return found
}

// JSON returns n as compact JSON: members in source order, numbers as they were written.
func (n *Node) JSON() []byte { return n.AppendJSON(nil) }

// AppendJSON appends the same to b.
func (n *Node) AppendJSON(b []byte) []byte {
	switch n.Kind {
	case Object:
		b = append(b, '{')
		for i := range n.Members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendQuoted(b, n.Members[i].Key), ':')
			b = n.Members[i].Value.AppendJSON(b)
		}
		return append(b, '}')
	case Array:
		b = append(b, '[')
		for i, item := range n.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.AppendJSON(b)
		}
		return append(b, ']')
	case String:
		return appendQuoted(b, n.Text)
	case Null:
		return append(b, "null"...)
	default:
		n.mustBeUnpacked()
		return append(b, n.Text...)
	}
}

// QuoteJSON returns text as a JSON string, with as few escapes as JSON allows.
func QuoteJSON(text string) string {
	if !strings.ContainsFunc(text, escaped) {
		return `"` + text + `"`
	}
	return string(appendQuoted(nil, text))
}

// escaped reports whether a character has to be escaped in a JSON string.
func escaped(r rune) bool { return r < 0x20 || r == '"' || r == '\\' || r == 0x7f }

// appendQuoted escapes only what JSON demands, so that text stays readable in generated constants.
func appendQuoted(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\t':
			b = append(b, '\\', 't')
		case c < 0x20 || c == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// Value returns n as encoding/json would decode it with UseNumber, for the reference validator.
func (n *Node) Value() any {
	switch n.Kind {
	case Object:
		m := make(map[string]any, len(n.Members))
		for i := range n.Members {
			m[n.Members[i].Key] = n.Members[i].Value.Value()
		}
		return m
	case Array:
		s := make([]any, len(n.Items))
		for i, item := range n.Items {
			s[i] = item.Value()
		}
		return s
	case String:
		return n.Text
	case Number:
		return json.Number(n.Text)
	case Bool:
		return n.Text == "true"
	default:
		return nil
	}
}

// EscapeToken writes a key as one token of a JSON Pointer.
func EscapeToken(key string) string {
	if strings.IndexByte(key, '~') < 0 && strings.IndexByte(key, '/') < 0 {
		return key
	}
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}

// UnescapeToken is the reverse of EscapeToken.
func UnescapeToken(token string) string {
	if !strings.Contains(token, "~") {
		return token
	}
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}

// describe shows a value in a message.
func describe(n *Node) string {
	switch n.Kind {
	case Object:
		return "an object"
	case Array:
		if len(n.Items) == 0 {
			return "an empty list"
		}
		return "a list"
	case String:
		return "the string " + quote(n.Text)
	case Number:
		return "the number " + excerpt(n.Text)
	case Bool:
		return "the boolean " + n.Text
	default:
		return "null"
	}
}

// quote shows text in a message, on one line and not too long.
func quote(s string) string { return strconv.Quote(excerpt(s)) }

// excerpt shortens source text for a message.
func excerpt(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	cut := most
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
