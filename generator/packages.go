package generator

import (
	"path"

	"github.com/mcpkiln/mcpkiln/generator/internal/lower"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
)

// directories are the output directories of the server and of the client, relative to the manifest's; "" for one that is not generated.
func directories(cfg Config, m *manifest.Manifest) (server, client string) {
	if client = first(cfg.Client, m.Go.Client.Value); client != "" {
		client = path.Clean(client)
	}
	server = first(cfg.Out, m.Go.Out.Value)
	if server == "" && client == "" {
		server = "internal/" + serverPackage(cfg, m)
	}
	if server != "" {
		server = path.Clean(server)
	}
	return server, client
}

// serverPackage is the name of the server's package.
func serverPackage(cfg Config, m *manifest.Manifest) string {
	return first(cfg.Package, m.Go.Package.Value, manifest.PackageName(serverName(cfg, m)))
}

// packages decides which packages are generated, where, and what they are called.
func (r *run) packages() lower.Client {
	server, client := directories(r.cfg, r.manifest)
	if r.cfg.Docs != "" {
		r.result.Package, r.result.Out = serverPackage(r.cfg, r.manifest), path.Clean(r.cfg.Docs)
		r.result.OutPos = r.place("docs", r.result.Out, r.cfg.Docs, manifest.Text{})
		if r.result.Out == server || r.result.Out == client {
			r.result.Diagnostics.ReportAt(r.result.OutPos, "", "go-out", "give the reference a directory of its own", "a package is generated in %q", r.result.Out)
		}
		return lower.Client{}
	}
	if client == "" {
		r.result.Package = serverPackage(r.cfg, r.manifest)
		r.result.Out, r.result.OutPos = server, r.place("out", server, r.cfg.Out, r.manifest.Go.Out)
		r.checkName(r.result.Package)
		return lower.Client{}
	}
	name := manifest.PackageName(path.Base(client))
	pos := r.place("client", client, r.cfg.Client, r.manifest.Go.Client)
	if server == "" {
		name = first(r.cfg.Package, r.manifest.Go.Package.Value, name)
		r.result.Package, r.result.Out, r.result.OutPos = name, client, pos
	} else {
		r.result.Package = serverPackage(r.cfg, r.manifest)
		r.result.Out, r.result.OutPos = server, r.place("out", server, r.cfg.Out, r.manifest.Go.Out)
		r.result.Client = &Output{Dir: client, Pos: pos}
	}
	r.checkName(r.result.Package)
	switch {
	case r.cfg.Import == "":
		r.result.Diagnostics.ReportAt(pos, "", "no-module", "run `go mod init example.com/x` where your module starts", "a client needs a module, so that its packages can import each other")
	case server == client, server == path.Join(client, lower.SchemaName):
		r.result.Diagnostics.ReportAt(pos, "", "go-out", "give the client a directory of its own", "client and out can not both be made in %q", server)
	}
	return lower.Client{Name: name, Path: path.Join(r.cfg.Import, client), Alone: server == ""}
}

// place is the position at which the manifest names an output directory. A directory that is not allowed is reported, with key as its name.
func (r *run) place(key, dir, override string, written manifest.Text) schema.Position {
	pos := schema.Position{File: r.cfg.Manifest.Path}
	if written.Node != nil && override == "" {
		pos = written.Node.Pos
	}
	if err := manifest.CheckDir(key, dir); err != nil {
		r.result.Diagnostics.ReportAt(pos, "", "go-out", "", "%s", err)
	}
	return pos
}

func (r *run) checkName(pkg string) {
	if !manifest.IsPackageName(pkg) {
		r.result.Diagnostics.ReportAt(schema.Position{File: r.cfg.Manifest.Path}, "", "go-package", "use a short name in lower case",
			"%q can not be the name of a package that others import", pkg)
	}
}
