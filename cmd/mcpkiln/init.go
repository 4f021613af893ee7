package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	slashpath "path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/modfile"

	"github.com/mcpkiln/mcpkiln/generator/importer"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
	"github.com/mcpkiln/mcpkiln/templates"
)

func newInit() *cobra.Command {
	var o initOptions
	cmd := &cobra.Command{
		Use:   "init DIR",
		Short: "Scaffold a complete server project, or add a server to a package",
		Long: strings.TrimSpace(`
init writes a project that builds and runs at once: a manifest with four tools, the generated package, handlers with working
bodies, a main for stdio or HTTP with a go:generate line, tests, one that cancels each tool among them, a Makefile, a workflow for CI, and a
Dockerfile. With --from the tools are those of a saved answer to tools/list, as mcpkiln import reads it, and handlers are stubs.

Inside a Go module the project becomes part of it, unless --module makes it one of its own. Where DIR holds a Go package already, init
adds a manifest, a go:generate line, stubs and their tests to it. No file that exists is ever written.`),
		Example: strings.Trim(`
  mcpkiln init --module example.com/reports reports
  mcpkiln init --http --from answer.json weather
  mcpkiln init .`, "\n"),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.store != "" && o.store != templates.StoreSQLite && o.store != templates.StorePostgres {
				return fmt.Errorf("--store %s: there are %s and %s; without --store, tasks are kept in memory", o.store, templates.StoreSQLite, templates.StorePostgres)
			}
			p, err := o.project(args[0])
			if err != nil {
				return err
			}
			return p.create(cmd)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.module, "module", "", "make the project a module of its own with this path")
	f.StringVar(&o.replace, "replace", "", "link against the mcpkiln module in this directory (a replace line in go.mod)")
	f.StringVar(&o.store, "store", "", "what can keep the tasks besides memory: sqlite adds the flag -tasks FILE to the server, postgres -tasks URL")
	f.StringVar(&o.from, "from", "", "take the tools of this saved answer to tools/list; - is standard input")
	f.BoolVar(&o.http, "http", false, "make a program that serves HTTP unless it is told otherwise")
	return cmd
}

// initOptions are the flags of init.
type initOptions struct {
	module, replace, store, from string
	http                         bool
}

// project is what init makes.
type project struct {
	templates.Project
	dir     string
	from    string
	taken   map[string]string // identifiers of the existing package, and the files that declare them
	tests   bool              // tests are written, too
	existed bool              // the directory was there before

	lost     []importer.Loss
	untested []string // tools without a cancel test, because no valid arguments are known
}

// project chooses the names of a project in dir.
func (o *initOptions) project(dir string) (*project, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if strings.ContainsAny(abs, "\r\n") {
		return nil, fmt.Errorf("%q: go commands refuse directories with a line break in their path", abs)
	}
	p := &project{dir: dir, from: o.from, tests: true, Project: templates.Project{
		Runtime: modulePath, Version: requiredVersion(), Store: o.store, HTTP: o.http, Stubs: o.from != "", Name: "main", Type: "handlers",
	}}
	if err := p.look(); err != nil {
		return nil, err
	}
	if p.Package, err = packageName(filepath.Base(abs), p.Store); err != nil {
		return nil, err
	}
	if p.taken[p.Package] != "" {
		p.Package = "mcp" + p.Package
	}
	if o.replace != "" {
		if p.Replace, err = moduleDir(o.replace); err != nil {
			return nil, err
		}
	}
	return p, p.place(abs, o.module)
}

// place finds the module that the project becomes part of, or gives it one of its own.
func (p *project) place(abs, own string) error {
	root, path, err := enclosingModule(filepath.Join(abs, "go.mod"))
	switch {
	case err != nil:
		return err
	case root == abs && own != "":
		return fmt.Errorf("--module %s: %s is the directory of module %s already", own, p.dir, path)
	case root == "" && p.Existing:
		return fmt.Errorf("%s has Go files and is in no module: run go mod init example.com/x first", p.dir)
	case root == "" || own != "":
		// Module paths without a dot are reserved for the standard library.
		p.OwnGoMod, p.Root, p.Module = true, true, cmp.Or(own, "example.com/"+p.Package)
		p.Import = p.Module
		return importable(p.Import)
	}
	rel, err := filepath.Rel(root, abs)
	if err != nil {
		return err
	}
	p.Root, p.Module, p.Import = rel == ".", path, slashpath.Join(path, filepath.ToSlash(rel))
	return importable(p.Import)
}

// packageName derives the name of the generated package from that of the directory, and changes it where the project's own files could not
// use it.
func packageName(dir, store string) (string, error) {
	name := manifest.PackageName(dir)
	collides, err := templates.Collides(name, store)
	if collides {
		name = "mcp" + name
	}
	return name, err
}

func importable(importPath string) error {
	if err := manifest.CheckImport(importPath); err != nil {
		return fmt.Errorf("packages of the project can not have the path %q: %w", importPath, err)
	}
	return nil
}

// unreleased is a version that can not be downloaded.
const unreleased = "v0.0.0"

// requiredVersion returns the version that go.mod requires: that of this command, or unreleased, which needs a replace line, for a build from
// a work tree.
func requiredVersion() string {
	if v := toolVersion(); v != unversioned {
		return v
	}
	return unreleased
}

// moduleDir checks that dir is the root of this module, and returns its absolute path with slashes.
func moduleDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(filepath.Join(abs, "go.mod"))
	if err != nil || modfile.ModulePath(data) != modulePath {
		return "", fmt.Errorf("--replace %s: it is not the directory of module %s", dir, modulePath)
	}
	return filepath.ToSlash(abs), nil
}

// enclosingModule finds the go.mod above dir; root is empty when there is none.
func enclosingModule(dir string) (root, modPath string, err error) {
	for d := filepath.Dir(dir); ; d = filepath.Dir(d) {
		data, err := os.ReadFile(filepath.Join(d, "go.mod"))
		if err == nil {
			return d, modfile.ModulePath(data), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", "", err
		}
		if d == filepath.Dir(d) {
			return "", "", nil
		}
	}
}
