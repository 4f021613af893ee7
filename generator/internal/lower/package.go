package lower

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/typing"
	"github.com/mcpkiln/mcpkiln/generator/internal/wire"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// Input is what a package is lowered from. Name and Server come from the manifest or its overrides.
type Input struct {
	Manifest  *manifest.Manifest
	Revisions []*revision.Revision // at least one, in the manifest's order
	// Known returns all revisions: the types of handlers are their union, whichever are served (REV07). It is called only when more is needed
	// than Union has, since the call loads them.
	Known  func() []*revision.Revision
	Union  *revision.Union
	Name   string // Go package name
	Server model.Server
	// Path is the import path of the package; Split divides its tools over several packages below it.
	Path  string
	Split bool
	// Client is the client package, if one is generated.
	Client Client
}

// Client is the package of a client. The types of client and server are in a package below it.
type Client struct {
	Name  string // Go package name; empty: there is no client
	Path  string // import path
	Alone bool   // there is no server
}

// Package decides everything about the generated package. The Package must not be emitted if there are errors.
func Package(in Input) (*model.Package, schema.Diagnostics) {
	l := &packageLowering{in: in, types: typing.NewTypes(), handlers: map[string]named{}}
	l.pkg = &model.Package{
		Name:     in.Name,
		Manifest: path.Base(strings.ReplaceAll(in.Manifest.File, "\\", "/")),
		Server:   in.Server,
	}
	for _, r := range in.Revisions {
		l.pkg.Revisions = append(l.pkg.Revisions, r.Name)
	}
	l.types.GoTypes = l.in.Manifest.Defaults.GoTypes
	if in.Client.Alone {
		l.reserve()
		l.takeChosenNames()
		l.tools()
	} else {
		l.server()
	}
	l.finish()
	l.diags.Sort()
	return l.pkg, l.diags
}

// server lowers all that a server needs.
func (l *packageLowering) server() {
	l.pkg.Needs = needs(l.in.Manifest)
	if l.in.Manifest.AddsTasks() {
		d := l.in.Manifest.Defaults.Task
		l.pkg.AddedTasks = &model.TaskPolicy{TTL: d.TTL.Value, MaxTTL: d.MaxTTL.Value, PollInterval: d.PollInterval.Value}
	}
	l.pkg.Extensions = l.extensions()
	l.registryNeeds()
	l.methods()
	var merging sync.WaitGroup // they need no names, and the wires need nothing of them
	merging.Go(func() {
		l.protocol = l.union(l.protocolTypes())
		l.sentChecks = wire.NewSent(l.types, l.in.Revisions, l.sentBy)
	})
	shared := wire.Shared{Union: l.in.Union}
	for _, r := range l.in.Revisions {
		w, diags := wire.Lower(r, l.pkg, &shared)
		l.pkg.Wires = append(l.pkg.Wires, w)
		l.diags = append(l.diags, diags...)
	}
	l.reserve()
	l.takeChosenNames()
	merging.Wait()
	l.tools()
	l.registries()
	if l.pkg.Needs.Results {
		l.result()
	}
	l.methodTypes()
}

// packageLowering is the state of Package.
type packageLowering struct {
	in    Input
	types *typing.Types
	pkg   *model.Package
	// handlers are the methods of Handlers.
	handlers map[string]named
	// protocol is the union of the revisions' definitions.
	protocol   *wire.Protocol
	sentChecks *wire.Sent // validators of what handlers return and send
	// definitions has what the protocol defines for the Methods and Sends of pkg, by their names.
	definitions map[string]definitions
	later       []func() // run when types are finished
	diags       schema.Diagnostics
}

func needs(m *manifest.Manifest) model.Needs {
	return model.Needs{
		Tools: m.HasTools(),
		Tasks: m.AddsTasks() || slices.ContainsFunc(m.Tools, func(t manifest.Tool) bool { return t.Execution.Tasks() }),
		Questions: slices.ContainsFunc(m.Tools, func(t manifest.Tool) bool { return len(t.Elicitations) > 0 }) ||
			slices.ContainsFunc(m.Listed(), func(e *manifest.Listed) bool { return len(e.Elicitations) > 0 }),
		Results: slices.ContainsFunc(m.Tools, func(t manifest.Tool) bool { return t.Output == nil }),
	}
}

// reserve takes the names that do not come from schemas, before any type.
func (l *packageLowering) reserve() {
	for _, name := range []string{"Handlers", "New", "TextResult", "tools", "methods", "prompts", "resources", "resourceTemplates"} {
		l.types.Names.Take(name)
	}
	if l.in.Split {
		l.reserveParts()
	}
	if l.in.Client.Name != "" {
		l.types.Names.Take("Client")
	}
	for _, w := range l.pkg.Wires {
		l.types.Names.Take("wire" + w.Suffix)
		for _, m := range w.Functions {
			l.types.Names.Take(m.Func)
			if !m.Append {
				m.Root.Walk(func(o *model.WireObject) {
					l.types.Names.Take(o.Ident)
					for _, member := range o.Members {
						if member.Shape != nil {
							l.types.Names.Take(member.Shape.Ident)
						}
					}
				})
			}
		}
	}
}

func (l *packageLowering) finish() {
	decls, diags := l.types.Finish()
	l.pkg.Decls = decls
	l.diags = append(l.diags, diags...)
	if diags.HasErrors() {
		return
	}
	for _, f := range l.later {
		f()
	}
	switch {
	case l.in.Client.Name != "":
		l.separate()
	case l.in.Split:
		l.split()
	}
}

// takeChosenNames takes the type names that the manifest chooses with goType.
func (l *packageLowering) takeChosenNames() {
	m := l.in.Manifest
	for i := range m.Schemas.Schemas {
		l.types.Choose(m.Schemas.Schemas[i].Doc)
	}
	for i := range m.CustomMethods {
		for _, doc := range []*schema.Document{m.CustomMethods[i].Params, m.CustomMethods[i].Result} {
			if doc != nil {
				l.types.Choose(doc)
			}
		}
	}
	choose := func(asked []manifest.Elicitation, docs ...*schema.Document) {
		for i := range asked {
			docs = append(docs, asked[i].Schema)
		}
		for _, doc := range docs {
			if doc != nil {
				l.types.Choose(doc)
			}
		}
	}
	for i := range m.Tools {
		choose(m.Tools[i].Elicitations, m.Tools[i].Input, m.Tools[i].Output)
	}
	if l.in.Client.Alone {
		return
	}
	for i := range m.Prompts {
		choose(m.Prompts[i].Elicitations, m.Prompts[i].Schema)
	}
	for i := range m.Resources {
		choose(m.Resources[i].Elicitations)
	}
	for i := range m.ResourceTemplates {
		choose(m.ResourceTemplates[i].Elicitations, m.ResourceTemplates[i].Schema)
	}
}
