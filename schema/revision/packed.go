package revision

import (
	_ "embed" // documents.bin
	"io/fs"
	"path"
	"slices"
	"strings"
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
	return schema.Pack(roots...), nil
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

// Embedded is the union of the embedded revisions: with it a package of one revision is generated without loading all others.
var Embedded = sync.OnceValue(func() *Union {
	u := linkedUnion
	u.aspects = func(a aspect, definition string) []string {
		i, listed := slices.BinarySearchFunc(linkedLists, definition, func(l definitionLists, name string) int { return strings.Compare(l.Definition, name) })
		if !listed {
			return nil
		}
		return a.in(&linkedLists[i])
	}
	return &u
})

// definitionLists are the aspects of a definition in the union of the embedded revisions.
type definitionLists struct {
	Definition        string
	Properties, Types []string
}

// listsOf returns the lists of all definitions in which revisions differ, sorted.
func listsOf(all []*Revision) (lists []definitionLists) {
	var definitions []string
	for _, r := range all {
		definitions = append(definitions, r.definitions()...)
	}
	for _, name := range sorted(definitions) {
		l := definitionLists{name, ofProperties.together(all, name), ofTypes.together(all, name)}
		if l.Properties != nil || l.Types != nil {
			lists = append(lists, l)
		}
	}
	return lists
}
