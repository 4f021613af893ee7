package server

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire/edit"
)

// metaMember is one key of a _meta with its value; revision.metaMember is the name of the member _meta itself.
type metaMember struct {
	key   string
	value json.RawMessage
}

// mergeMeta adds members to a result's _meta. A member replaces an earlier one with its key.
func (rev *revision) mergeMeta(meta []byte, more []metaMember) []byte {
	if len(more) == 0 {
		return meta
	}
	var all []metaMember
	for _, m := range edit.ObjectOf(meta) {
		all, _ = withMember(all, m.Name, m.Value)
	}
	for _, m := range more {
		all, _ = withMember(all, m.key, m.value)
	}
	return rev.encodeMeta(all)
}

// encodeMeta returns a handler's members as a _meta, without the keys that the runtime owns.
func (rev *revision) encodeMeta(members []metaMember) []byte {
	members = slices.DeleteFunc(slices.Clone(members), func(m metaMember) bool { return slices.Contains(rev.Own.Meta, m.key) })
	if len(members) == 0 {
		return nil
	}
	b := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(check.AppendString(b, m.key), ':'), m.value...)
	}
	return append(b, '}')
}

// withMember returns meta with a value under a key, in place of an earlier value.
func withMember(meta []metaMember, key string, value any) ([]metaMember, error) {
	if err := checkMetaKey(key); err != nil {
		return meta, err
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return meta, fmt.Errorf("the value of %q in _meta: %w", key, err)
	}
	meta = slices.DeleteFunc(meta, func(m metaMember) bool { return m.key == key })
	return append(meta, metaMember{key, raw}), nil
}

// checkMetaKey checks a key of _meta against the protocol's rule (LET04): an optional prefix of labels separated by dots, followed by a
// slash, then a name. A prefix whose second label is mcp or modelcontextprotocol, in any case, is reserved, except that of the protocol's
// extensions. Revision 2025-06-18 also reserves a prefix in which such a label is followed by another, wherever it stands (tools.mcp.com/). That is
// refused in every revision, because a handler writes its keys once for all of them. A name without a prefix is reserved nowhere.
func checkMetaKey(key string) error {
	prefix, name, found := strings.Cut(key, "/")
	if !found {
		prefix, name = "", key
	}
	labels := strings.Split(prefix, ".")
	for i := 0; found && i < len(labels); i++ {
		if l := labels[i]; l == "" || !isLetter(l[0]) || !isWord(l, "-") {
			return fmt.Errorf("%q is no key for _meta: labels of its prefix begin with a letter and end with a letter or digit, with letters, digits and hyphens between", rpc.Cut(key))
		}
	}
	if name != "" && !isWord(name, "-._") {
		return fmt.Errorf("%q is no key for _meta: its name begins and ends with a letter or digit, with hyphens, underscores and dots between", rpc.Cut(key))
	}
	for i, l := range labels {
		if isProtocolLabel(l) && (i == 1 || i < len(labels)-1) && prefix != "io.modelcontextprotocol" {
			return reservedKey(key)
		}
	}
	return nil
}

func isProtocolLabel(label string) bool {
	return strings.EqualFold(label, "modelcontextprotocol") || strings.EqualFold(label, "mcp")
}

func reservedKey(key string) error {
	return fmt.Errorf("%q is no key for _meta: it is reserved for the protocol", rpc.Cut(key))
}

// ownMeta returns the keys of _meta that the protocol defines, in any revision. They are removed from results (wire.Own); a definition that
// is added with one is refused, as it is in a manifest.
func (s *Server) ownMeta() []string { return s.revisions[0].Own.Meta }

// isWord reports whether text begins and ends with a letter or digit, and has only those and characters of inner between.
func isWord(text, inner string) bool {
	for i := range len(text) {
		c := text[i]
		edge := i == 0 || i == len(text)-1
		if !isLetter(c) && !('0' <= c && c <= '9') && (edge || strings.IndexByte(inner, c) < 0) {
			return false
		}
	}
	return text != ""
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
