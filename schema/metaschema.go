package schema

import (
	"embed"
	"strings"
)

// metaSchemas holds the meta-schemas of the drafts, each in one document, without annotations.
//
//go:embed dialect/draft-07.json dialect/2020-12.json
var metaSchemas embed.FS

// refersToMeta reports whether a reference below root leads to the dialect's meta-schema.
func refersToMeta(root *Node, dialect Dialect) bool {
	found := false
	root.Walk(func(n *Node) bool {
		ref := n.Get("$ref")
		found = found || ref.Is(String) && isMetaRef(ref.Text, dialect)
		return !found
	})
	return found
}

func isMetaRef(ref string, dialect Dialect) bool {
	if !strings.HasPrefix(ref, "http") {
		return false
	}
	rest, ok := strings.CutPrefix(strings.Replace(ref, "https:", "http:", 1), strings.Replace(dialect.String(), "https:", "http:", 1))
	return ok && (rest == "" || rest[0] == '#')
}

// metaSchema returns the dialect's meta-schema as a document. The file in the positions of its nodes is the URI of the dialect.
func metaSchema(dialect Dialect) *Document {
	name := "dialect/2020-12.json"
	if dialect == Draft7 {
		name = "dialect/draft-07.json"
	}
	data, err := metaSchemas.ReadFile(name)
	if err != nil {
		panic("schema: " + name + " is not embedded")
	}
	root, ds := ParseJSON(dialect.String(), data)
	if ds.HasErrors() {
		panic("schema: " + ds.Error())
	}
	d := &Document{Root: root, Dialect: dialect, refused: &refusals{reasons: map[sample]string{}}}
	d.ids = newIndex(root, "", dialect, &ds)
	return d
}
