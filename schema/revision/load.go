package revision

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
)

// Names returns the names of the embedded revisions, oldest first.
func Names() []string { return names(schema.Revisions) }

// Load reads an embedded revision. The Revision is nil when there are errors.
func Load(name string, options ...Option) (*Revision, schema.Diagnostics) {
	if i := slices.IndexFunc(linked, func(r Revision) bool { return r.Name == name }); i >= 0 && len(options) == 0 {
		return ready(linked[i]), nil
	}
	sub, err := fs.Sub(schema.Revisions, name)
	if err == nil {
		_, err = fs.Stat(sub, RulesFile)
	}
	if err != nil {
		var ds schema.Diagnostics
		ds.ReportAt(schema.Position{}, "", "unknown-revision", "known revisions: "+strings.Join(Names(), ", "), "there is no revision %q", name)
		return nil, ds
	}
	s := source{files: sub, dir: name}
	for _, o := range options {
		o(&s)
	}
	return s.sorted(name)
}

// Option changes what Load reads.
type Option func(*source)

// WithDocument replaces the revision's core document (the first that its rules name) by a file: the schema.json as
// published. Rules are checked against it, so that of another revision is refused, with the names that it lacks.
func WithDocument(file string, data []byte) Option {
	return func(s *source) { s.core = &override{file, data} }
}

// withOlder makes hints name definitions that may have replaced those of an older document.
func withOlder(core *schema.Document) Option { return func(s *source) { s.older = core } }

// RulesFile is the file of a revision's folder with what its documents do not say.
const RulesFile = "rules.yaml"

type override struct {
	file string
	data []byte
}

// source is the folder of a revision; dir is its name in positions.
type source struct {
	files fs.FS
	dir   string
	core  *override
	older *schema.Document // see linker.older
}

func (s *source) read(name string) (file string, data []byte, err error) {
	data, err = fs.ReadFile(s.files, name)
	return path.Join(s.dir, name), data, err
}

func names(files fs.FS) []string {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil
	}
	var all []string
	for _, e := range entries {
		if e.IsDir() {
			all = append(all, e.Name())
		}
	}
	return all
}

// LoadFS reads a revision from a folder: rules.yaml and the documents that it names. name is the name of the revision, and of the
// folder in positions.
func LoadFS(files fs.FS, name string, options ...Option) (*Revision, schema.Diagnostics) {
	s := source{files: files, dir: name}
	for _, o := range options {
		o(&s)
	}
	return s.sorted(name)
}

// LoadFolder is LoadFS for a folder that may have any name: the rules name the revision.
func LoadFolder(files fs.FS, folder string) (*Revision, schema.Diagnostics) {
	s := source{files: files, dir: folder}
	return s.sorted("")
}

// sorted loads the revision, nil with errors, and sorts the diagnostics.
func (s *source) sorted(name string) (*Revision, schema.Diagnostics) {
	r, ds := s.load(name)
	ds.Sort()
	if ds.HasErrors() {
		return nil, ds
	}
	return r, ds
}

func (s *source) load(name string) (*Revision, schema.Diagnostics) {
	root, ds := s.parse(RulesFile)
	if root == nil {
		return nil, ds
	}
	d := decoder{ds: ds}
	r, documents := d.rules(root)
	if name != "" && r.Name != name && r.Name != "" {
		d.ds.Report(root.Get("revision"), "wrong-revision", "", "the folder of %s holds the rules of %s", name, r.Name)
	}
	for i, n := range documents {
		doc, ds := s.document(n, i == 0)
		d.ds = append(d.ds, ds...)
		if doc != nil {
			r.Documents = append(r.Documents, Document{n.Text, doc})
		}
	}
	if d.ds.HasErrors() {
		return nil, d.ds // names can only be checked when everything could be read
	}
	l := linker{r: r, ds: d.ds, older: s.older}
	l.link()
	return r, l.ds
}

func (s *source) parse(name string) (*schema.Node, schema.Diagnostics) {
	file, data, err := s.read(name)
	if err != nil {
		var ds schema.Diagnostics
		ds.ReportAt(schema.Position{File: file}, "", "missing-file", "", "%v", err)
		return nil, ds
	}
	return schema.Parse(file, data)
}

// document reads the document that n names.
func (s *source) document(n *schema.Node, core bool) (*schema.Document, schema.Diagnostics) {
	var root *schema.Node
	var ds schema.Diagnostics
	switch {
	case n.Kind != schema.String:
		ds.Report(n, "wrong-type", "", "want string, got %s", n.Kind)
	case core && s.core != nil:
		root, ds = schema.Parse(s.core.file, s.core.data)
	default:
		root, ds = s.parse(n.Text)
	}
	if root == nil {
		return nil, ds
	}
	doc, more := schema.NewDocument(root, nil)
	return doc, append(ds, more...)
}
