package revision

import (
	"bytes"
	"cmp"
	"fmt"
	"go/build"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
	"github.com/mcpkiln/mcpkiln/schema"
)

// NewRevision makes the files of a revision's folder from its published schema.json and the rules of an embedded revision: from, or ""
// for the one whose rules fit best; used is its name. The diagnostics are about the rules that do not fit, with hints of what may have replaced the
// definitions that they name; the files are returned all the same, to be corrected.
func NewRevision(name, from, file string, data []byte) (files map[string][]byte, used string, ds schema.Diagnostics) {
	if slices.ContainsFunc(Names(), func(known string) bool { return strings.EqualFold(known, name) }) {
		ds.ReportAt(schema.Position{}, "", "duplicate-revision", "call it something else; generate --schema takes another document of a revision that mcpkiln has",
			"mcpkiln has a revision %s itself", name)
		return nil, "", ds
	}
	if hint := NameHint(name); hint != "" {
		ds.ReportAt(schema.Position{}, "", "revision-name", hint, "%.80q can not be the name of a revision", name)
		return nil, "", ds
	}
	if ds = parseDocument(file, data); ds.HasErrors() {
		return nil, "", ds
	}
	candidates := []string{from}
	if from == "" {
		candidates = slices.Clone(Names())
		slices.Reverse(candidates) // of several that fit equally, the newest
	}
	for _, candidate := range candidates {
		made, mismatches := adapt(name, candidate, data)
		if files == nil || len(mismatches) < len(ds) {
			files, used, ds = made, candidate, mismatches
		}
	}
	return files, used, ds
}

// NameHint says what to write instead of a name that can not be used for a folder, for Go identifiers and for Go files; "" if it can.
func NameHint(name string) string {
	switch {
	case !validName().MatchString(name):
		return "use letters and digits, with - between them, as in 2099-01-01 or DRAFT-2099-v1"
	case len(name) > longestName:
		return fmt.Sprintf("use %d characters at most", longestName)
	case !strings.ContainsAny(name, "0123456789"):
		return "revisions are named by dates, as in 2099-01-01 or DRAFT-2099-v1"
	case forOneSystem(name):
		return "let it end otherwise: Go takes a file of that name for one of a system or processor"
	}
	return ""
}

var validName = lazyregexp.New(`^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$`)

// forOneSystem reports whether Go would build the wire file of a revision for some systems only.
func forOneSystem(name string) bool {
	none := build.Context{GOOS: "none", GOARCH: "none", OpenFile: func(string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("package p")), nil
	}}
	built, _ := none.MatchFile("", "wire_"+strings.ReplaceAll(name, "-", "_")+".gen.go")
	return !built
}

const longestName = 64

// parseDocument checks a document of definitions.
func parseDocument(file string, data []byte) schema.Diagnostics {
	root, ds := schema.Parse(file, data)
	if root == nil {
		return ds
	}
	doc, more := schema.NewDocument(root, nil)
	ds = append(ds, more...)
	if len(doc.Definitions()) == 0 {
		ds.Report(root, "no-definitions", "give the schema.json of the protocol", "the document defines nothing")
	}
	return ds
}

// revisionLine names the revision in a rules file.
var revisionLine = lazyregexp.New(`(?m)^revision:.*$`)

// adapt is the folder of another revision with the core document replaced, and diagnostics about the rules that do not fit.
func adapt(name, from string, core []byte) (map[string][]byte, schema.Diagnostics) {
	folder, err := fs.Sub(schema.Revisions, from)
	var older *Revision
	var ds schema.Diagnostics
	if err == nil {
		older, ds = Load(from)
	}
	if older == nil {
		return nil, ds
	}
	files := map[string][]byte{}
	for i, d := range older.Documents {
		files[d.Name], _ = fs.ReadFile(folder, d.Name) // it was read before
		if i == 0 {
			files[d.Name] = core
		}
	}
	rules, _ := fs.ReadFile(folder, RulesFile)
	rules = rules[max(0, bytes.Index(rules, []byte("revision:"))):] // without the comment about itself
	head := fmt.Sprintf("# What the schema of %s can not say, begun with the rules of %s.\n", name, from)
	files[RulesFile] = append([]byte(head), revisionLine().ReplaceAll(rules, fmt.Appendf(nil, "revision: %q", name))...)
	s := source{files: memory(files), dir: name}
	withOlder(older.Documents[0].Document)(&s)
	_, ds = s.load(name)
	ds.Sort()
	return files, ds
}

// memory is a folder in memory.
type memory map[string][]byte

// ReadFile implements fs.ReadFileFS.
func (m memory) ReadFile(name string) ([]byte, error) {
	if data, ok := m[name]; ok {
		return data, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// Open implements fs.FS.
func (m memory) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
}

// replacement is a hint that names definitions that may have replaced one of an older document: those with the most members or words of the
// name in common.
func replacement(older, newer *schema.Document, reference string) string {
	name, _, _ := strings.Cut(reference, "/")
	was := older.Definition(name)
	var all []candidate
	for _, m := range newer.Definitions() {
		c := candidate{name: m.Key, score: 2*inCommon(memberNames(was), memberNames(m.Value)) + inCommon(wordsOf(name), wordsOf(m.Key))}
		if older.Definition(m.Key) == nil { // new definitions are more likely
			c.score++
		}
		if c.score >= 1.5 {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.name, b.name)) })
	if len(all) == 0 {
		return "nothing in the new document is like it: remove the rule"
	}
	var names []string
	for _, c := range all[:min(3, len(all))] {
		names = append(names, c.name)
	}
	return "it may be " + strings.Join(names, " or ") + " now"
}

type candidate struct {
	name  string
	score float64
}

// inCommon is the share of elements that two lists have in common, from 0 to 1.
func inCommon(a, b []string) float64 {
	both := 0
	for _, x := range a {
		if slices.Contains(b, x) {
			both++
		}
	}
	if all := len(a) + len(b) - both; all > 0 {
		return float64(both) / float64(all)
	}
	return 0
}

// memberNames are the properties of a definition, those of its params included.
func memberNames(n *schema.Node) []string {
	var all []string
	for _, properties := range []*schema.Node{n.Get("properties"), n.Get("properties").Get("params").Get("properties")} {
		if properties == nil {
			continue
		}
		for _, m := range properties.Members {
			if !slices.Contains(everywhere, m.Key) {
				all = append(all, m.Key)
			}
		}
	}
	return all
}

// everywhere are members that most messages have.
var everywhere = []string{"method", "params", "id", "jsonrpc", "_meta"}

// wordsOf are the words of a name in camel case.
func wordsOf(name string) []string {
	var all []string
	for _, r := range name {
		if len(all) == 0 || r >= 'A' && r <= 'Z' {
			all = append(all, "")
		}
		all[len(all)-1] += string(r)
	}
	return all
}

// newMembers is a hint that names the members of a definition that the older document does not have.
func (l *linker) newMembers(definition string) string {
	if l.older == nil {
		return ""
	}
	name, _, _ := strings.Cut(definition, "/")
	old := memberNames(l.older.Definition(name))
	fresh := slices.DeleteFunc(memberNames(l.r.Documents[0].Definition(name)), func(m string) bool { return slices.Contains(old, m) })
	if len(fresh) == 0 {
		return ""
	}
	return "new in it: " + strings.Join(fresh, ", ")
}
