package revision

import (
	_ "embed" // documents.bin
	"io/fs"
	"path"
	"sync"

	"github.com/mcpkiln/mcpkiln/schema"
)

// packedFile holds the parsed form of the documents of the embedded revisions, and of the rules that change them. Parsing the files took a third of
// the time of a command that generates a few tools; half of their definitions are never needed then, and stay packed. linkedFile has the rest of
// the rules as Go values, checked against the documents. Tests compare both with the files, and write them with -update, as make golden does.
const (
	packedFile = "documents.bin"
	linkedFile = "linked.gen.go"
)

//go:embed documents.bin
var packedDocuments string

var packed = sync.OnceValue(func() *schema.Packed {
	p, err := schema.OpenPacked(packedDocuments)
	if err != nil {
		panic("schema/revision: " + packedFile + ": " + err.Error())
	}
	return p
})

// ready completes a revision of linkedFile: with its documents, which its rules change.
func ready(r Revision) *Revision {
	documents := make([]Document, len(r.Documents))
	for i, d := range r.Documents {
		documents[i] = Document{d.Name, packed().Document(path.Join(r.Name, d.Name))}
	}
	r.Documents = documents
	var d decoder
	d.object(packed().Unpack(path.Join(r.Name, RulesFile)), d.edits(&r)...)
	l := linker{r: &r}
	l.edit()
	return &r
}

// onlyEdits is the root of a rules file without what is in linkedFile.
func onlyEdits(root *schema.Node) *schema.Node {
	edits := *root
	edits.Members = nil
	for _, key := range editKeys {
		if m := root.Member(key); m != nil {
			edits.Members = append(edits.Members, *m)
		}
	}
	return &edits
}

// pack makes the content of packedFile from the embedded revisions.
func pack() ([]byte, schema.Diagnostics) {
	var roots []*schema.Node
	for _, name := range Names() {
		entries, _ := fs.ReadDir(schema.Revisions, name) // what is embedded can be read
		for _, e := range entries {
			file := name + "/" + e.Name()
			data, _ := fs.ReadFile(schema.Revisions, file)
			root, ds := schema.Parse(file, data)
			if len(ds) > 0 {
				return nil, ds
			}
			if e.Name() == RulesFile {
				root = onlyEdits(root)
			}
			roots = append(roots, root)
		}
	}
	all, ds := parsed()
	if len(ds) > 0 {
		return nil, ds
	}
	return schema.Pack(append(roots, packUnion(all))...), nil
}

// parsed are the embedded revisions as their files say.
func parsed() (all []*Revision, ds schema.Diagnostics) {
	for _, name := range Names() {
		folder, _ := fs.Sub(schema.Revisions, name)
		r, more := LoadFS(folder, name)
		all, ds = append(all, r), append(ds, more...)
	}
	return all, ds
}

// unionFile is the name of the union of the embedded revisions among the packed files: with it a package of one revision is generated without loading
// all others.
const unionFile = "union"

// Embedded is the union of the embedded revisions.
var Embedded = sync.OnceValue(func() *Union {
	n := packed().Unpack(unionFile)
	return &Union{Meta: textsOf(n.Get("meta")), ResultTypes: textsOf(n.Get("resultTypes")), ToolResult: n.Get("toolResult").Text, aspects: func(a aspect, definition string) []string {
		return textsOf(n.Get(a.name).Get(definition))
	}}
})

// packUnion writes the union of revisions as a tree.
func packUnion(all []*Revision) *schema.Node {
	u := NewUnion(all...)
	out := object(keyed("meta", textList(u.Meta)), keyed("resultTypes", textList(u.ResultTypes)), keyed("toolResult", textNode(u.ToolResult)))
	var definitions []string
	for _, r := range all {
		definitions = append(definitions, r.definitions()...)
	}
	definitions = sorted(definitions)
	for _, a := range []aspect{ofProperties, ofTypes} {
		lists := object()
		for _, name := range definitions {
			if list := u.aspects(a, name); list != nil {
				lists.Members = append(lists.Members, keyed(name, textList(list)))
			}
		}
		out.Members = append(out.Members, keyed(a.name, lists))
	}
	out.Pos.File = unionFile
	return out
}

func object(members ...schema.Member) *schema.Node {
	return &schema.Node{Kind: schema.Object, Members: members}
}

func keyed(key string, value *schema.Node) schema.Member {
	return schema.Member{Key: key, Value: value}
}

func textList(all []string) *schema.Node {
	n := &schema.Node{Kind: schema.Array}
	for _, text := range all {
		n.Items = append(n.Items, textNode(text))
	}
	return n
}

func textNode(text string) *schema.Node { return &schema.Node{Kind: schema.String, Text: text} }

func textsOf(n *schema.Node) []string {
	var all []string
	for _, item := range elements(n) {
		all = append(all, item.Text)
	}
	return all
}
