package importer

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
)

// Options say what the manifest is for.
type Options struct {
	Name, Version string // of the server, over those of the source
	Package       string // Go package; "" for one that the server's name makes
	Schema        string // file with the manifest's JSON Schema, for editors; "" for none
	Client        bool   // the manifest is for a client alone
	Suggest       bool   // write what would tighten it, as comments
}

// draft is a manifest that is being made.
type draft struct {
	source  *Source
	o       Options
	server  *schema.Node
	schemas *schema.Node    // shared by tools; no members: none
	tools   *schema.Node    // by name
	unnamed bool            // the source does not say who the server is
	taken   map[string]bool // Go names, once one is given here
	lost    []Loss
}

// toolKeys are the members of a tool that a manifest has, in its order.
var toolKeys = []string{"title", "description", "icons", "annotations", "_meta", "execution", "inputSchema", "outputSchema"}

// newDraft makes the manifest of a source. What a manifest has no place for is lost.
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

// kept is the value of a tool's member as the manifest has it.
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

// serverKeys are what a manifest says of the server, in its order.
var serverKeys = []string{"name", "version", "title", "description", "websiteUrl", "icons"}

// about is who the server is.
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

// stem is what a server is called that has no name: as the file.
func stem(file string) string {
	base := path.Base(strings.ReplaceAll(file, `\`, "/"))
	if ext := path.Ext(base); len(ext) > 1 && len(ext) < len(base) {
		return strings.TrimSuffix(base, ext)
	}
	return "server"
}

// packageName is the part of the server's name that a Go package is called by: what follows the last slash.
func (d *draft) packageName() string {
	if d.o.Package != "" {
		return d.o.Package
	}
	return manifest.PackageName(path.Base(d.server.Get("name").Text))
}

// first and last are the keywords that a reader looks for at the beginning and the end of a schema.
var (
	first = []string{"$schema", "$id", "$anchor", "$ref", "type", "title", "description", "format", "enum", "const"}
	last  = []string{"default", "examples", "required", "properties", "patternProperties", "additionalProperties", "unevaluatedProperties", "$defs", "definitions"}
)

// sorted returns a schema with its keywords in the order in which they are read.
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

// members are those of an object that may be missing.
func members(n *schema.Node) []schema.Member {
	if n == nil {
		return nil
	}
	return n.Members
}
