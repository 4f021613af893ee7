package generator

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/mcpkiln/mcpkiln/generator/internal/emit"
	"github.com/mcpkiln/mcpkiln/generator/internal/lower"
	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/naming"
	"github.com/mcpkiln/mcpkiln/generator/internal/subsume"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// Generate makes the package that cfg describes. It is pure: the same Config gives the same Result, and nothing is
// read from or written to disk. It may be called concurrently.
//
// Problems of the input are in Result.Diagnostics, sorted. An error means that ctx ended, or a defect of
// mcpkiln.
func Generate(ctx context.Context, cfg Config) (*Result, error) {
	r := &run{cfg: cfg, result: &Result{}, forgets: true}
	if err := r.generate(ctx); err != nil {
		return nil, err
	}
	return r.result, nil
}

// generate runs the stages until one finds errors.
func (r *run) generate(ctx context.Context) error {
	for _, stage := range []func(){r.load, r.resolve, r.lower} {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if stage(); r.result.Diagnostics.HasErrors() {
			r.result.Diagnostics.Sort()
			return nil
		}
	}
	r.result.Diagnostics.Sort()
	if err := r.emit(ctx); err != nil {
		return fmt.Errorf("generator: %w", err)
	}
	return nil
}

// emit makes the files of the package, and of its client.
func (r *run) emit(ctx context.Context) error {
	r.result.Source = path.Join(r.cfg.Dir, r.pkg.Manifest)
	r.result.Digest, r.result.flags = r.digest(), r.cfg.Flags
	if r.cfg.Docs != "" {
		r.result.Files = r.seal(r.reference().files())
		return nil
	}
	if r.forgets {
		r.forget()
	}
	if !r.input.Client.Alone {
		files, err := emit.Package(ctx, r.pkg)
		if err != nil {
			return err
		}
		r.result.Files = r.seal(files)
	}
	if r.pkg.Client == nil {
		return nil
	}
	files, err := emit.Client(ctx, r.pkg.Client)
	if err != nil {
		return err
	}
	if r.result.Client != nil {
		r.result.Client.Files = r.seal(files)
	} else {
		r.result.Files = r.seal(files)
	}
	return nil
}

// forget releases the parsed manifest to save memory: from here on only the model is needed. Code that needs the schema of a tool later
// parses the manifest again (Result.tools).
func (r *run) forget() {
	given, files := r.cfg.Manifest, r.cfg.Files
	r.result.tools = sync.OnceValue(func() []manifest.Tool {
		m, _ := manifest.Parse(given.Path, given.Data).Load(files...)
		return m.Tools
	})
	r.manifest, r.input.Manifest, r.cfg.document = nil, nil, nil
}

// seal makes the files of one package complete: each with its hash, those of sourceNames with the manifest's path and digest, and the lock. They
// are sorted by path.
func (r *run) seal(files []emit.File) []File {
	var all []File
	for i, f := range files {
		var lines []string
		if slices.Contains(sourceNames, f.Name) {
			lines = []string{manifestLine + r.result.Digest + " " + r.result.Source, revisionsLine + strings.Join(r.pkg.Revisions, ", ")}
		}
		all = append(all, File{f.Name, seal(f.Name, f.Content, lines...)})
		files[i].Content = nil
	}
	all = append(all, File{LockName, newLock(r.cfg.ToolVersion, r.result.Source, r.cfg.Flags).encode()})
	slices.SortFunc(all, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// maxTools is how many tools a package may have before they are divided, unless Config.MaxTools says so: the compiler takes about two seconds
// for so many.
const maxTools = 200

// run is one run of the stages.
type run struct {
	cfg       Config
	result    *Result
	manifest  *manifest.Manifest
	known     func() []*revision.Revision // all revisions that there are, whether generated for or not
	union     *revision.Union             // of the known revisions
	revisions []*revision.Revision        // those that are generated for
	input     lower.Input
	pkg       *model.Package
	forgets   bool // the parsed manifest is released before the files are made
	replaced  bool // Config.Schema has replaced the document of a revision
}

func (r *run) report(ds schema.Diagnostics) {
	r.result.Diagnostics = append(r.result.Diagnostics, ds...)
}

// load reads the manifest.
func (r *run) load() {
	given, d := r.cfg.Manifest, r.cfg.document
	if d == nil || !d.Is(given.Path, given.Data) {
		d = manifest.Parse(given.Path, given.Data)
	}
	m, ds := d.Load(r.cfg.Files...)
	r.manifest = m
	r.report(ds)
}

// resolve decides what the manifest leaves open or an override changes, and loads the revisions.
func (r *run) resolve() {
	m := r.manifest
	server := model.Server{
		Name:         serverName(r.cfg, m),
		Version:      first(r.cfg.ServerVersion, m.Server.Version.Value, "0.0.0"),
		Title:        m.Server.Title.Value,
		Instructions: m.Server.Instructions.Value,
		Info:         info(m.Server),
	}
	client := r.packages()
	if !client.Alone && r.cfg.Docs == "" {
		r.warnUnnamed(server)
	}
	r.loadRevisions()
	r.input = lower.Input{Manifest: m, Revisions: r.revisions, Known: r.known, Union: r.union, Name: r.result.Package, Server: server, Client: client,
		Path: path.Join(r.cfg.Import, r.result.Out), Split: r.cfg.Import != "" && len(m.Tools) > cmp.Or(r.cfg.MaxTools, maxTools)}
}

// warnUnnamed warns if nothing names the server: clients show the name, and tell servers apart by it.
func (r *run) warnUnnamed(server model.Server) {
	if first(r.cfg.ServerName, r.manifest.Server.Name.Value) == "" {
		r.result.Diagnostics.Warn(r.manifest.Root, "no-server-name", "write server: {name: …, version: …}, or give --server-name and --server-version",
			"nothing names the server, which calls itself %s %s", server.Name, server.Version)
	}
}

func serverName(cfg Config, m *manifest.Manifest) string {
	return first(cfg.ServerName, m.Server.Name.Value, stem(cfg.Manifest.Path))
}

// info has the members of the protocol's Implementation (serverInfo) that model.Server has no field for, as a JSON object; empty for none.
func info(s manifest.Server) string {
	out := &schema.Node{Kind: schema.Object}
	for _, m := range []schema.Member{{Key: "description", Value: s.Description.Node}, {Key: "websiteUrl", Value: s.WebsiteURL.Node}, {Key: "icons", Value: s.Icons}} {
		if m.Value != nil {
			out.Members = append(out.Members, m)
		}
	}
	if len(out.Members) == 0 {
		return ""
	}
	return string(out.JSON())
}

// lower decides everything about the package.
func (r *run) lower() {
	r.warnUnsatisfiable()
	pkg, ds := lower.Package(r.input)
	r.pkg, r.result.pkg = pkg, pkg
	r.report(ds)
	var files naming.Names
	if r.input.Client.Alone || r.cfg.Docs != "" {
		return // there are no Handlers
	}
	for _, t := range pkg.Tools {
		made := Tool{Name: t.Name, Method: t.GoName, Input: t.Input.Name, Call: t.Call, File: files.TakeFile(stubName(t.Name)) + "_handler.go",
			AlwaysTask: t.Task.Support == model.TaskRequired, Cancellable: !t.Cancel.Uncancellable}
		if t.Output != nil {
			made.Output = t.Output.Name
		} else if pkg.Result != nil {
			made.Output = pkg.Result.Name
		}
		r.result.Tools = append(r.result.Tools, made)
	}
	for _, m := range pkg.Methods {
		r.result.Methods = append(r.result.Methods, Tool{Name: m.Name, Method: m.GoName, Input: m.Params.Name, Output: m.Result.Name,
			File: files.TakeFile(stubName(m.Name)) + "_handler.go"})
	}
	for _, n := range pkg.NoticesTaken {
		r.result.Methods = append(r.result.Methods, Tool{Name: n.Name, Method: n.GoName, Input: n.Params.Name, Call: "server.Notice",
			File: files.TakeFile(stubName(n.Name)) + "_handler.go"})
	}
	for _, h := range pkg.Entries {
		r.result.Methods = append(r.result.Methods, Tool{Name: h.Entry, Method: h.GoName, Input: h.Input, Output: h.Output, Call: h.Call,
			File: files.TakeFile(stubName(h.GoName)) + "_handler.go"})
	}
}

// warnUnsatisfiable warns of schemas that allow no value: no call of their tool can succeed. A schema for which this can not be decided is
// not reported.
func (r *run) warnUnsatisfiable() {
	for i := range r.manifest.Tools {
		t := &r.manifest.Tools[i]
		for _, s := range []struct {
			key, so string
			*schema.Document
		}{{"inputSchema", "nobody can call the tool", t.Input}, {"outputSchema", "no answer of the tool is valid", t.Output}} {
			if s.Document == nil || !combines(s.Document, s.Root, map[*schema.Node]bool{}) {
				continue
			}
			if v := subsume.Satisfy(s.Document); v.Decided && v.Value == nil {
				r.result.Diagnostics.Warn(s.Root, "unsatisfiable-schema", "change the parts that contradict each other", "no value is allowed by this %s, so %s", s.key, s.so)
			}
		}
	}
}

// combining are the keywords by which parts of a schema can contradict each other. Bounds that
// contradict each other are found by the lint of package schema.
var combining = []string{"minProperties", "maxProperties", "uniqueItems", "allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas", "dependencies", "propertyNames", "patternProperties",
	"unevaluatedProperties", "unevaluatedItems", "contains", "$dynamicRef"}

// combines reports whether n, or a schema that it contains or refers to, has a combining keyword or a property that allows no value (false).
// Most have neither, and need no search for a valid value.
func combines(d *schema.Document, n *schema.Node, seen map[*schema.Node]bool) (yes bool) {
	n.Walk(func(n *schema.Node) bool {
		if yes || len(n.Members) == 0 {
			return !yes
		}
		yes = slices.ContainsFunc(n.Members, func(m schema.Member) bool {
			return slices.Contains(combining, m.Key) || m.Value.Kind == schema.Bool && m.Value.Text == "false" && strings.HasSuffix(n.Pointer, "/properties")
		})
		if ref := n.Get("$ref"); ref.Is(schema.String) && !yes {
			if target, wrong := d.Resolve(ref.Text, ref); wrong == nil && !seen[target] {
				seen[target] = true
				yes = combines(d, target, seen)
			}
		}
		return !yes
	})
	return yes
}

// stubName makes the beginning of a file name from a tool's name: in lower case, without leading underscores, since Go ignores such files. The suffix
// _handler.go keeps _test and _windows from having a meaning. A name without letters and digits becomes "unnamed".
func stubName(tool string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(tool))
	return cmp.Or(strings.TrimLeft(name, "_"), "unnamed")
}

func first(candidates ...string) string {
	for _, c := range candidates {
		if c != "" {
			return c
		}
	}
	return ""
}

// stem is the file's name without its extension. A server that nothing names is called so.
func stem(file string) string {
	base := path.Base(strings.ReplaceAll(file, "\\", "/"))
	return strings.TrimSuffix(base, path.Ext(base))
}
