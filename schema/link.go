package schema

import (
	"net/url"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/check/keyword"
)

// Linker joins the schemas of a manifest with those in files: a schema in a file that a reference leads to becomes a shared schema, and
// the reference leads there. The later stages see one kind of reference, and none leads out of the manifest (VAL06).
type Linker struct {
	library  *Library
	manifest string // its file name, without directory
	files    map[string]*linkedFile
	ids      map[string]place // resources of all files, by URI
	names    map[*Node]string // of the shared schemas that come from files, by the schema in the file
	sources  map[string]place // the reverse of names
	queue    []string         // names of shared schemas that have to be made
	taken    map[string]bool  // names of shared schemas that are in use
	ds       Diagnostics
}

// linkedFile is a file that references may lead to.
type linkedFile struct {
	path string
	err  error
	doc  *Document // nil: it could not be read as JSON or YAML
}

// place is a schema in a file.
type place struct {
	file *linkedFile
	node *Node
}

// referrer is a schema that has a reference, and the root of the schema that it is in.
type referrer struct{ node, root *Node }

// filesURI is the URI of the manifest's folder, against which the references of files without $id are resolved.
const filesURI = "mcpkiln:///"

// NewLinker reads the files beside the manifest.
func NewLinker(manifest string, files []File) *Linker {
	k := &Linker{
		library: &Library{byName: map[string]*Document{}}, manifest: filepath.Base(manifest),
		files: map[string]*linkedFile{}, ids: map[string]place{}, names: map[*Node]string{}, sources: map[string]place{}, taken: map[string]bool{},
	}
	for _, f := range files {
		k.read(filepath.Join(filepath.Dir(manifest), filepath.FromSlash(f.Path)), f)
	}
	return k
}

// read parses a file and records its resources.
func (k *Linker) read(name string, f File) {
	file := &linkedFile{path: f.Path, err: f.Err}
	k.files[f.Path] = file
	if f.Err != nil {
		return
	}
	root, ds := Parse(name, f.Data)
	k.ds = append(k.ds, ds...)
	if root == nil {
		return
	}
	file.doc = &Document{Root: root, Dialect: dialectOf(root, Draft2020, &k.ds)}
	base := filesURI + (&url.URL{Path: f.Path}).EscapedPath()
	file.doc.ids = newIndex(root, base, file.doc.Dialect, &k.ds)
	k.ids[base] = place{file, root}
	for _, r := range file.doc.ids.resources {
		if first, ok := k.ids[r.uri]; ok && first.node != r.node {
			duplicateID(&k.ds, r.node.Get("$id"), first.node)
			continue
		}
		k.ids[r.uri] = place{file, r.node}
	}
}

// Library makes the shared schemas of node, an object of schemas, or of {file: …}, keyed by name. It also adds the schemas that these refer to in files.
func (k *Linker) Library(node *Node) *Library {
	made := make([]*Node, len(node.Members))
	for i, m := range node.Members {
		k.taken[m.Key] = true
		if f := m.Value.Get("file"); f != nil {
			made[i] = k.named(m.Key, m.Value, f)
		}
	}
	for i, m := range node.Members {
		switch {
		case made[i] != nil:
			k.ds = append(k.ds, k.library.add(m.Key, made[i], Draft2020)...)
		case m.Value.Get("file") != nil:
			k.make(m.Key)
		default:
			k.ds = append(k.ds, k.library.add(m.Key, k.linked(m.Value), Draft2020)...)
		}
		k.finish()
	}
	return k.library
}

// named gives a name to the schema in a file that v, {file: f}, leads to, and returns nil. If that has another name already it returns a reference
// to it; after an error it returns a schema that allows anything.
func (k *Linker) named(name string, v, f *Node) *Node {
	anything := &Node{Kind: Bool, Text: "true", Pos: v.Pos, Pointer: v.Pointer}
	for _, m := range v.Members {
		if m.Key != "file" {
			k.ds.ReportAt(m.KeyPos, m.Value.Pointer, "unknown-key", "write it in the file", "beside file nothing else can stand")
		}
	}
	if f.Kind != String {
		k.ds.Report(f, "wrong-type", "write file: schemas/order.json#/$defs/Order", "file takes the path of a file, not %s", describe(f))
		return anything
	}
	to, ok := k.resolve(f, "file", place{})
	if !ok {
		return anything
	}
	if saysSensitive(to.file.doc.Root, to.node, "true") {
		reportSensitive(&k.ds, f, keyword.Place{})
		return anything
	}
	if other, ok := k.names[to.node]; ok {
		ref := &Node{Kind: String, Text: sharedReference(other), Pos: f.Pos, Pointer: v.Pointer + "/$ref"}
		return &Node{Kind: Object, Pos: v.Pos, Pointer: v.Pointer, Members: []Member{{Key: "$ref", KeyPos: f.Pos, Value: ref}}}
	}
	k.names[to.node], k.sources[name] = name, to
	return nil
}

// Link returns a schema of the manifest whose references lead to shared schemas in place of files.
func (k *Linker) Link(root *Node) *Node {
	n := k.linked(root)
	k.finish()
	return n
}

// Diagnostics returns the findings about the files and the references to them.
func (k *Linker) Diagnostics() Diagnostics { return k.ds }

func (k *Linker) linked(root *Node) *Node {
	ids := sync.OnceValue(func() index { // made when it is needed: few schemas have a reference that needs it
		var ignored Diagnostics // NewDocument reports them
		return newIndex(root, "", dialectOf(root, Draft2020, &ignored), &ignored)
	})
	return EachSchema(root, func(n *Node) *Node {
		from := referrer{n, root}
		return n.withRefs(n, func(v *Node) *Node { return k.manifestRef(v, from, ids) })
	})
}

// manifestRef changes a reference in a schema of the manifest. ids is the index of its root.
func (k *Linker) manifestRef(v *Node, by referrer, ids func() index) *Node {
	if rest, ok := strings.CutPrefix(v.Text, "#"); ok {
		return k.insideShared(v, rest, by)
	}
	if isMetaRef(v.Text, Draft2020) || isMetaRef(v.Text, Draft7) {
		return v
	}
	own := ids()
	if _, _, ok := own.find(v.Text, v.Pointer); ok {
		return v
	}
	return k.reference(v, by, place{})
}

// insideShared changes a reference into a part of a shared schema that comes from a file: the part becomes a shared schema of its own, since
// the definitions of a schema in a file are not copied with it.
func (k *Linker) insideShared(v *Node, fragment string, by referrer) *Node {
	if decoded, err := url.PathUnescape(fragment); err == nil {
		fragment = decoded
	}
	name, rest, ok := sharedName(fragment)
	from, linked := k.sources[name]
	if !ok || !linked || rest == "" || by.root.Lookup(fragment) != nil {
		return v
	}
	to := from.node.Lookup(rest)
	if to == nil {
		return v
	}
	return k.toShared(v, by, place{from.file, to})
}

// reference changes a reference to a schema in a file. It returns nil, and reports it, if there is none.
func (k *Linker) reference(v *Node, by referrer, from place) *Node {
	to, ok := k.resolve(v, keyOfReference(v), from)
	if !ok {
		return nil
	}
	return k.toShared(v, by, to)
}

// toShared changes a reference to a schema in a file into one to the shared schema that it becomes. That has no x-sensitive of its own, so it is known
// only here whether the reference leads to a property that is sensitive: then it returns nil, and reports it.
func (k *Linker) toShared(v *Node, by referrer, to place) *Node {
	if saysSensitive(to.file.doc.Root, to.node, "true") && !saysSensitive(by.root, by.node, "true", "false") {
		reportSensitive(&k.ds, v, placeIn(by.root, by.node))
		return nil
	}
	return v.withText(sharedReference(k.name(to)))
}

func sharedReference(name string) string {
	return "#" + escapeFragment("/schemas/"+EscapeToken(name))
}

// name returns the name of the shared schema that a schema in a file becomes: the name of its definition, or of its file.
func (k *Linker) name(of place) string {
	if name, ok := k.names[of.node]; ok {
		return name
	}
	stem, _, _ := strings.Cut(path.Base(of.file.path), ".")
	name := stem
	for token := range strings.SplitSeq(of.node.Pointer, "/") {
		if strings.Trim(token, "0123456789") != "" {
			name = UnescapeToken(token)
		}
	}
	if k.taken[name] {
		name = stem + "_" + name
	}
	free := name
	for i := 2; k.taken[free]; i++ {
		free = name + strconv.Itoa(i)
	}
	k.taken[free], k.names[of.node], k.sources[free] = true, free, of
	k.queue = append(k.queue, free)
	return free
}

// finish makes the shared schemas in the queue.
func (k *Linker) finish() {
	for ; len(k.queue) > 0; k.queue = k.queue[1:] {
		k.make(k.queue[0])
	}
}

// make copies a schema out of its file into a shared schema. Definitions are left out, because each that a reference leads to is a shared schema itself, and
// so are $id and anchors, which references no longer need. The x-sensitive of a property is left out, too: the properties that refer to it say it.
func (k *Linker) make(name string) {
	from := k.sources[name]
	root := from.file.doc.Root
	n := EachSchema(from.node, func(n *Node) *Node {
		c := n.without("$defs", "definitions", "$id", "$anchor", "$dynamicAnchor")
		if n == from.node && placeIn(root, n).IsProperty {
			c = c.without(sensitiveKeyword)
		}
		return c.withRefs(n, func(v *Node) *Node { return k.fileRef(v, referrer{n, root}, from) })
	})
	n = n.moved(from.node.Pointer, "/schemas/"+EscapeToken(name))
	k.ds = append(k.ds, k.library.add(name, n, from.file.doc.Dialect)...)
}

// fileRef changes a reference in a file.
func (k *Linker) fileRef(v *Node, by referrer, from place) *Node {
	switch {
	case strings.HasSuffix(v.Pointer, "/$dynamicRef"):
		k.ds.Report(v, "dynamic-ref", "write $ref", "$dynamicRef can not be used in files, where what it leads to would depend on who refers to the file")
		return nil
	case isMetaRef(v.Text, Draft2020) || isMetaRef(v.Text, Draft7):
		return v
	}
	return k.reference(v, by, from)
}

// resolve returns the schema in a file that the reference v, the value of keyword, leads to. from is the place of the reference; zero for the manifest.
func (k *Linker) resolve(v *Node, keyword string, from place) (place, bool) {
	to, why := k.target(v, from)
	if why == (refusal{}) && to.file.doc != nil {
		to, why = k.namedTarget(to)
	}
	if why != (refusal{}) {
		k.ds.Report(v, why.code, why.hint, "%s %s %s", keyword, quote(v.Text), why.text)
		return place{}, false
	}
	return to, to.file.doc != nil // a file without a document was reported when it was read
}

// target returns the place that a reference leads to, also if that is {file: …}; its file has no document if that could not be read.
func (k *Linker) target(v *Node, from place) (place, refusal) {
	to, fragment, why := k.resource(v, from)
	if why != (refusal{}) || to.file.doc == nil {
		return to, why
	}
	res := resource{node: to.node}
	to.node = to.file.doc.target(res, fragment)
	why = to.file.doc.noSchema(to.node, fragment)
	if uri, _, _ := strings.Cut(v.Text, "#"); uri != "" {
		why.hint = strings.Replace(why.hint, `"#`, `"`+uri+"#", 1) // the hint names a reference within the file
	}
	return to, why
}

// namedTarget returns the schema in a file that {file: …} stands for, if a reference in a file leads to such an entry of the manifest's schemas.
func (k *Linker) namedTarget(to place) (place, refusal) {
	passed := map[*Node]bool{}
	for to.file.doc != nil && to.file.path == k.manifest {
		if to.node == to.file.doc.Root {
			return place{}, refusal{"not-a-schema", "write #/schemas/NAME for a schema of the manifest", "leads to the manifest, which is no schema"}
		}
		f := to.node.Get("file")
		if !f.Is(String) || !namesSchema(to.node.Pointer) {
			break
		}
		if passed[f] {
			return place{}, refusal{"ref-circle", "write the schema there, or the path of the file that has it", "leads back to itself"}
		}
		passed[f] = true
		next, why := k.target(f, place{})
		if why != (refusal{}) {
			return place{file: &linkedFile{}}, refusal{} // that entry is reported itself
		}
		to = next
	}
	return to, refusal{}
}

// namesSchema reports whether a pointer leads to an entry of the manifest's schemas.
func namesSchema(pointer string) bool {
	name, ok := strings.CutPrefix(pointer, "/schemas/")
	return ok && !strings.Contains(name, "/")
}

// resource returns the resource that a reference leads to: by its $id, or by the path of its file.
func (k *Linker) resource(v *Node, from place) (place, string, refusal) {
	uri, fragment, _ := strings.Cut(v.Text, "#")
	if decoded, err := url.PathUnescape(fragment); err == nil {
		fragment = decoded
	}
	base, file := filesURI, ""
	if from.file != nil {
		res := from.file.doc.ids.enclosing(v.Pointer)
		if base, file = res.uri, from.file.path; uri == "" {
			return place{from.file, res.node}, fragment, refusal{}
		}
	}
	if to, ok := k.ids[keyword.ResolveURI(base, uri)]; ok {
		return to, fragment, refusal{}
	}
	p, why := filePath(v.Text, file)
	if p == "" {
		return place{}, "", why
	}
	f := k.files[p]
	if f == nil || f.err != nil {
		return place{}, "", unreadable(f)
	}
	if f.doc == nil {
		return place{file: f}, "", refusal{}
	}
	return place{f, f.doc.Root}, fragment, refusal{}
}
