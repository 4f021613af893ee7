package manifest

import (
	"bytes"
	"errors"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
)

// Read returns the text of the file at path, for Load; a file that can not be read is a diagnostic.
func Read(path string) ([]byte, schema.Diagnostics) {
	data, err := os.ReadFile(path)
	if err == nil {
		return data, nil
	}
	var ds schema.Diagnostics
	code, hint := "unreadable-file", ""
	if errors.Is(err, fs.ErrNotExist) {
		code, hint = "missing-file", "mcpkiln init DIR makes a project with a manifest"
	}
	if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
		hint = "name the file: " + filepath.Join(path, "mcpkiln.yaml")
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	ds.ReportAt(schema.Position{File: path}, "", code, hint, "can not read the manifest: %s", err)
	return nil, ds
}

// Document is the text of a manifest or of a saved tools/list answer, parsed once for all its uses. It does not change, so it can be
// used concurrently.
type Document struct {
	file string
	data []byte
	root *schema.Node // nil: it can not be read as YAML or JSON
	ds   schema.Diagnostics
}

// Parse parses the text of the manifest in file. Load returns the syntax errors.
func Parse(file string, data []byte) *Document {
	root, ds := schema.Parse(file, data)
	for i := range ds {
		if ds[i].Code == "empty-file" {
			ds[i].Hint = emptyHint
		}
	}
	return &Document{file, data, root, ds}
}

const emptyHint = "write tools: {NAME: {inputSchema: {type: object}}}, or remove the file and let mcpkiln init write one"

// Is reports whether d was made from this file and text.
func (d *Document) Is(file string, data []byte) bool {
	return d.file == file && bytes.Equal(d.data, data)
}

// Folders are the folders of revisions that the manifest names, so that they can be read before Load.
func (d *Document) Folders() (all []Text) {
	if d.root == nil {
		return nil
	}
	if list := d.root.Get("protocol").Get("folders"); list.Is(schema.Array) {
		for _, n := range list.Items {
			if n.Is(schema.String) {
				all = append(all, Text{n.Text, n})
			}
		}
	}
	return all
}

// Load is Parse and Document.Load in one call.
func Load(file string, data []byte, files ...schema.File) (*Manifest, schema.Diagnostics) {
	return Parse(file, data).Load(files...)
}

// Load reads a manifest or a saved tools/list answer. It reports all errors in one run, sorted; the
// Manifest is nil if the text can not be read as YAML or JSON, and must not be generated from if there are errors. files are those that
// its schemas refer to; see ReadFiles. Load itself reads no files.
func (d *Document) Load(files ...schema.File) (*Manifest, schema.Diagnostics) {
	if d.root == nil {
		return nil, d.ds
	}
	l := loader{ds: slices.Clone(d.ds), m: &Manifest{File: d.file, Root: d.root}}
	l.manifest(d.root, files)
	l.ds.Sort()
	return l.m, l.ds
}

// loader fills a Manifest. Each of its methods reads one part, reports the errors in it, and goes on.
type loader struct {
	m      *Manifest
	ds     schema.Diagnostics
	linked map[*schema.Node]*schema.Node // by a tool's schema as written: the same with its references to files replaced
}

// manifest reads the shared schemas first, because every tool may refer to them.
func (l *loader) manifest(root *schema.Node, files []schema.File) {
	if body := answer(root); body != nil {
		l.m.Answer, l.m.Root, root = true, body, body
	}
	if root.Get("jsonrpc") != nil {
		l.ds.Report(root, "no-answer", "save the answer of a tools/list that went well", "this JSON-RPC message has no result that lists tools")
		return
	}
	l.link(root, files)
	readers := map[string]func(*schema.Node){
		"$schema":       func(n *schema.Node) { l.text(n) },
		"version":       l.version,
		"protocol":      l.protocol,
		"server":        l.server,
		"go":            l.goPackage,
		"defaults":      l.defaults,
		"schemas":       func(n *schema.Node) { l.is(n, schema.Object) },
		"tools":         l.tools,
		"methods":       l.methods,
		"customMethods": l.customMethods,
		"extensions":    l.extensions,
		"diff":          l.diff,

		"prompts":           l.prompts,
		"resources":         l.resources,
		"resourceTemplates": l.resourceTemplates,
	}
	if l.m.Answer {
		for key := range answerKeys {
			readers[key] = func(*schema.Node) {}
		}
	}
	l.fields(root, "the manifest", readers)
	l.customExtensions()
	says := func(key string) bool { return root.Get(key) != nil || misspelt(root, key, readers) }
	if root.Is(schema.Object) && !slices.ContainsFunc(served, says) {
		l.missing(root, "tools", "the manifest")
	}
	tools := root.Get("tools")
	if listed := tools.Is(schema.Object) || tools.Is(schema.Array); listed && len(tools.Items)+len(tools.Members) == 0 && !slices.ContainsFunc(served[1:], says) {
		l.ds.Warn(tools, "no-tools", "write a tool below tools, as mcpkiln add NAME does", "the manifest has no tools")
	}
	l.policies()
	l.lint(root)
}

// served are the keys of which a manifest must have at least one: without any, a server has nothing to serve.
var served = []string{"tools", "methods", "prompts", "resources", "resourceTemplates", "customMethods"}

// answer returns the result of a saved tools/list answer: without its JSON-RPC envelope, and made up if only the list was saved; nil if root is
// a manifest.
func answer(root *schema.Node) *schema.Node {
	if result := root.Get("result"); root.Get("jsonrpc") != nil && result.Is(schema.Object) {
		return described(result)
	}
	other := func(n *schema.Node) bool { return n.Get("name") == nil && n.Get("inputSchema") == nil }
	if root.Kind == schema.Array && !slices.ContainsFunc(root.Items, other) { // the list alone, as many save it
		return &schema.Node{Kind: schema.Object, Pos: root.Pos, Members: []schema.Member{{Key: "tools", KeyPos: root.Pos, Value: root}}}
	}
	if !root.Get("tools").Is(schema.Array) {
		return nil
	}
	for _, m := range root.Members {
		if !answerKeys[m.Key] && m.Key != "tools" && m.Key != "serverInfo" && m.Key != "instructions" {
			return nil
		}
	}
	return described(root)
}

// answerKeys are keys beside the tools of an answer, which are ignored.
var answerKeys = map[string]bool{
	"nextCursor": true, "_meta": true, "resultType": true, "ttlMs": true, "cacheScope": true, "protocolVersion": true, "capabilities": true,
}

// described returns an answer that says who its server is, as mcpkiln tools --json prints it, with the server as a manifest has it.
func described(answer *schema.Node) *schema.Node {
	info, instructions := answer.Member("serverInfo"), answer.Member("instructions")
	server := schema.Member{Key: "server"}
	switch {
	case info != nil && info.Value.Is(schema.Object):
		own := *info.Value
		server.KeyPos, server.Value = info.KeyPos, &own
	case instructions != nil:
		server.KeyPos, server.Value = instructions.KeyPos, &schema.Node{Kind: schema.Object, Pos: instructions.Value.Pos}
	default:
		return answer
	}
	if instructions != nil {
		server.Value.Members = append(slices.Clone(server.Value.Members), *instructions)
	}
	out := *answer
	saysWho := func(m schema.Member) bool { return m.Key == "serverInfo" || m.Key == "instructions" }
	out.Members = append(slices.DeleteFunc(slices.Clone(answer.Members), saysWho), server)
	return &out
}

func (l *loader) version(n *schema.Node) {
	l.m.Version = n
	switch {
	case n.Kind == schema.Number && n.Text == "1":
	case n.Kind == schema.String && n.Text == "1":
		l.ds.Report(n, "manifest-version", "remove the quotes", "the version of the manifest is a number")
	case n.Kind == schema.Number || n.Kind == schema.String:
		hint := "write version: 1"
		if r := n.Rat(); r != nil && r.IsInt() && r.Num().Cmp(big.NewInt(1)) > 0 {
			hint = "if a newer mcpkiln wrote it, upgrade: " + schema.Upgrade + "; else write version: 1"
		}
		l.ds.Report(n, "manifest-version", hint, "%s is no version of the manifest that this mcpkiln reads", n.Text)
	default:
		l.is(n, schema.Number)
	}
}

func (l *loader) protocol(n *schema.Node) {
	l.fields(n, "protocol", map[string]func(*schema.Node){
		"revisions": func(n *schema.Node) {
			l.m.Revisions = l.texts(n)
			if n.Kind == schema.Array && len(n.Items) == 0 {
				l.ds.Report(n, "empty-list", "leave revisions out to get all", "revisions lists nothing")
			}
		},
		"folders": func(n *schema.Node) { l.m.Folders = l.texts(n) },
	})
	if len(l.m.Folders) == 0 { // else the names of revisions are checked when the folders have been read
		l.revisions()
	}
}

func (l *loader) server(n *schema.Node) {
	s := &l.m.Server
	s.Node = n
	needs := []string{"name", "version"}
	if l.m.Answer { // it has what its server said of itself
		needs = nil
	}
	l.fields(n, "server", map[string]func(*schema.Node){
		"name":         l.into(&s.Name),
		"version":      l.into(&s.Version),
		"title":        l.into(&s.Title),
		"description":  l.into(&s.Description),
		"instructions": l.into(&s.Instructions),
		"websiteUrl":   func(n *schema.Node) { s.WebsiteURL = l.page(n) },
		"icons":        func(n *schema.Node) { s.Icons = n; l.icons(n) },
	}, needs...)
	for _, t := range [...]Text{s.Name, s.Version} {
		if t.Node.Is(schema.String) && t.Value == "" {
			l.ds.Report(t.Node, "empty-text", "", "the server's name and version can not be empty")
		}
	}
}

func (l *loader) defaults(n *schema.Node) {
	d := &l.m.Defaults
	d.Node = n
	l.fields(n, "defaults", map[string]func(*schema.Node){
		"goTypes": func(n *schema.Node) { d.GoTypes = l.goTypes(n) },
		"timeout": l.duration(&d.Timeout),
		"task": func(n *schema.Node) {
			l.fields(n, "defaults.task", l.taskTimes(&d.Task))
		},
	})
}

// goTypes reads the Go types of formats, integers and numbers.
func (l *loader) goTypes(n *schema.Node) map[string]string {
	if !l.is(n, schema.Object) {
		return nil
	}
	words := []string{"date", "date-time", "duration", "integer", "number", "uuid"}
	all := map[string]string{}
	for _, m := range n.Members {
		known := schema.GoTypesOf(m.Key)
		switch {
		case !slices.Contains(words, m.Key):
			l.unknown(m, "defaults.goTypes", words)
		case !m.Value.Is(schema.String) || !slices.Contains(known, m.Value.Text):
			l.ds.Report(m.Value, "go-type", "write "+strings.Join(known, " or "), "this is no Go type of %s", m.Key)
		default:
			all[m.Key] = m.Value.Text
		}
	}
	return all
}

func (l *loader) taskTimes(t *TaskTimes) map[string]func(*schema.Node) {
	return map[string]func(*schema.Node){
		"ttl":          l.duration(&t.TTL),
		"maxTtl":       l.duration(&t.MaxTTL),
		"pollInterval": l.duration(&t.PollInterval),
	}
}

func (l *loader) methods(n *schema.Node) {
	l.m.Methods = l.texts(n)
}
