package importer

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
)

// Options are choices that the source does not make.
type Options struct {
	Name, Version string // of the server; they override those of the source
	Package       string // Go package; "" for one that is derived from the server's name
	Schema        string // file with the manifest's JSON Schema, for editors; "" for none
	Client        bool   // the manifest is only for a client
	Suggest       bool   // add comments that suggest stricter schemas
}

// draft is a manifest under construction.
type draft struct {
	source  *Source
	o       Options
	server  *schema.Node
	schemas *schema.Node    // shared by tools; may be empty
	tools   *schema.Node    // by name
	unnamed bool            // the source does not name the server
	taken   map[string]bool // Go names in use, once rename was called
	lost    []Loss
}

// toolKeys are the members of a tool that a manifest can have, in its order.
var toolKeys = []string{"title", "description", "icons", "annotations", "_meta", "execution", "inputSchema", "outputSchema"}

// newDraft makes a manifest from a source. What a manifest can not have is added to the losses.
func newDraft(s *Source, o Options, share bool) *draft {
	d := &draft{source: s, o: o, schemas: object(), tools: object()}
	d.server = d.about()
	for _, t := range s.Tools {
		name := t.Get("name").Text
		tool := object()
		for _, key := range toolKeys {
			if v := t.Get(key); v != nil {
				put(tool, key, d.kept(name, key, v))
			}
		}
		for _, m := range t.Members {
			if m.Key != "name" && !slices.Contains(toolKeys, m.Key) {
				d.lose(name, "/"+schema.EscapeToken(m.Key), "a manifest has no such member of a tool")
			}
		}
		put(d.tools, name, tool)
	}
	if share {
		d.share()
	}
	return d
}

// kept returns the value of a tool's member as the manifest will have it.
func (d *draft) kept(tool, key string, v *schema.Node) *schema.Node {
	switch key {
	case "inputSchema", "outputSchema":
		return schema.EachSchema(v, sorted)
	case "execution":
		out := object()
		for _, m := range v.Members {
			if m.Key == "taskSupport" {
				put(out, m.Key, m.Value)
			} else {
				d.lose(tool, "/execution/"+schema.EscapeToken(m.Key), "a manifest has no such member of execution")
			}
		}
		return out
	}
	return clone(v)
}

// serverKeys are the members of a manifest's server, in its order.
var serverKeys = []string{"name", "version", "title", "description", "websiteUrl", "icons"}

// about returns the server member of the manifest.
func (d *draft) about() *schema.Node {
	out := object()
	for _, key := range serverKeys {
		v := d.source.Server.Get(key)
		switch key {
		case "name":
			d.unnamed = d.o.Name == "" && (!v.Is(schema.String) || v.Text == "")
			v = text(cmp.Or(d.o.Name, textOf(v), d.o.Package, stem(d.source.File)))
		case "version":
			v = text(cmp.Or(d.o.Version, textOf(v), "0.0.0"))
		}
		if v != nil {
			put(out, key, clone(v))
		}
	}
	if d.source.Instructions != "" {
		put(out, "instructions", text(d.source.Instructions))
	}
	return out
}

// stem returns a name for a server that the source does not name: the file's name without its extension.
func stem(file string) string {
	base := path.Base(strings.ReplaceAll(file, `\`, "/"))
	if ext := path.Ext(base); len(ext) > 1 && len(ext) < len(base) {
		return strings.TrimSuffix(base, ext)
	}
	return "server"
}

// packageName returns the name of the Go package, derived from the server's name after the last slash.
func (d *draft) packageName() string {
	if d.o.Package != "" {
		return d.o.Package
	}
	return manifest.PackageName(path.Base(d.server.Get("name").Text))
}

// first and last are the keywords that are written at the beginning and the end of a schema.
var (
	first = []string{"$schema", "$id", "$anchor", "$ref", "type", "title", "description", "format", "enum", "const"}
	last  = []string{"default", "examples", "required", "properties", "patternProperties", "additionalProperties", "unevaluatedProperties", "$defs", "definitions"}
)

// sorted returns a schema with its keywords in an order that is easy to read.
func sorted(n *schema.Node) *schema.Node {
	rank := func(m schema.Member) int {
		if i := slices.Index(first, m.Key); i >= 0 {
			return i - len(first)
		}
		return slices.Index(last, m.Key) + 1
	}
	c := *n
	c.Members = slices.Clone(n.Members)
	slices.SortStableFunc(c.Members, func(a, b schema.Member) int { return cmp.Compare(rank(a), rank(b)) })
	return &c
}

func object() *schema.Node { return &schema.Node{Kind: schema.Object} }

func text(s string) *schema.Node { return &schema.Node{Kind: schema.String, Text: s} }

func textOf(n *schema.Node) string {
	if n.Is(schema.String) {
		return n.Text
	}
	return ""
}

// clone copies a value, so that parts of it can be left out.
func clone(n *schema.Node) *schema.Node {
	c := *n
	c.Members, c.Items = slices.Clone(n.Members), slices.Clone(n.Items)
	for i := range c.Members {
		c.Members[i].Value = clone(c.Members[i].Value)
	}
	for i := range c.Items {
		c.Items[i] = clone(c.Items[i])
	}
	return &c
}

// put adds a member at the end.
func put(n *schema.Node, key string, v *schema.Node) {
	n.Members = append(n.Members, schema.Member{Key: key, Value: v})
}

// members returns the members of an object; none for nil.
func members(n *schema.Node) []schema.Member {
	if n == nil {
		return nil
	}
	return n.Members
}
