package manifest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mcpkiln/mcpkiln/schema"
)

// ReadFiles reads the schema files that the manifest refers to, directly or through others, for Load. Only files below the
// manifest's folder are read; symbolic links that lead out of it are refused. For an answer no files are read, since its author is somebody else.
func (d *Document) ReadFiles() []schema.File {
	folder, err := os.OpenRoot(filepath.Dir(d.file))
	if err != nil {
		return nil // reading the manifest has reported it
	}
	defer folder.Close()
	return d.ReadFilesFrom(folder.FS())
}

// ReadFilesFrom is ReadFiles with folder as the manifest's folder.
func (d *Document) ReadFilesFrom(folder fs.FS) []schema.File {
	root := d.root
	if root == nil || answer(root) != nil {
		return nil
	}
	names := namedFiles(root, "")
	for _, m := range entries(root.Get("schemas")) {
		if f := m.Value.Get("file"); f.Is(schema.String) {
			names = append(names, schema.FilePath(f.Text, ""))
		}
	}
	var all []schema.File
	read := map[string]bool{"": true}
	for i := 0; i < len(names); i++ {
		name := names[i]
		if read[name] {
			continue
		}
		read[name] = true
		f := schema.File{Path: name}
		f.Data, f.Err = readRegular(folder, name)
		if n, _ := schema.Parse(name, f.Data); f.Err == nil && n != nil {
			names = append(names, namedFiles(n, name)...)
		}
		all = append(all, f)
	}
	return all
}

var errIrregular = errors.New("it is a pipe or a device")

// readRegular reads a regular file. Opening a pipe would block until somebody writes.
func readRegular(folder fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(folder, name)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = errIrregular
	}
	if err != nil {
		return nil, err
	}
	return fs.ReadFile(folder, name)
}

// namedFiles returns the paths of the files that references in n may lead to.
func namedFiles(n *schema.Node, file string) []string {
	var all []string
	n.Walk(func(n *schema.Node) bool {
		if ref := n.Get("$ref"); ref.Is(schema.String) {
			all = append(all, schema.FilePath(ref.Text, file))
		}
		return true
	})
	return all
}

func entries(n *schema.Node) []schema.Member {
	if n == nil {
		return nil
	}
	return n.Members
}

// link makes shared schemas and replaces references to files by references to these. It runs before everything else that reads schemas.
func (l *loader) link(root *schema.Node, files []schema.File) {
	k := schema.NewLinker(l.m.File, files)
	shared := &schema.Node{}
	if n := root.Get("schemas"); n.Is(schema.Object) {
		shared = n
	}
	l.m.Schemas = k.Library(shared)
	if tools := root.Get("tools"); tools != nil && !l.m.Answer {
		l.linked = map[*schema.Node]*schema.Node{}
		for _, m := range tools.Members {
			l.linkTool(k, m.Value)
		}
		for _, item := range tools.Items {
			l.linkTool(k, item)
		}
	}
	l.ds = append(l.ds, k.Diagnostics()...)
	for _, s := range l.m.Schemas.Schemas {
		l.ds = append(l.ds, s.Doc.Lint()...)
	}
}

func (l *loader) linkTool(k *schema.Linker, tool *schema.Node) {
	for _, key := range []string{"inputSchema", "outputSchema"} {
		if n := tool.Get(key); n.Is(schema.Object) {
			l.linked[n] = k.Link(n)
		}
	}
}
