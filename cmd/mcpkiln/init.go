package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/modfile"

	"github.com/mcpkiln/mcpkiln/generator"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
	"github.com/mcpkiln/mcpkiln/templates"
)

func newInit() *cobra.Command {
	var modulePath, replace, store string
	cmd := &cobra.Command{
		Use:   "init DIR",
		Short: "Scaffold a complete server project in a new directory",
		Long: strings.TrimSpace(`
init writes a project that builds and runs at once: a manifest with four tools, the generated package, handlers with working
bodies, a main for stdio or HTTP with a go:generate line, a test for each tool, and a Dockerfile, unless the project is part of
a module. DIR must not exist, or be empty.

Inside a Go module the project becomes part of it, unless --module makes it one of its own.`),
		Example: strings.Trim(`
  mcpkiln init --module example.com/reports reports
  mcpkiln init --store sqlite reports`, "\n"),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if store != "" && store != storeSQLite {
				return fmt.Errorf("--store %s: there is only %s; without --store, tasks are kept in memory", store, storeSQLite)
			}
			p, err := newProject(args[0], modulePath, replace, store == storeSQLite)
			if err != nil {
				return err
			}
			return initProject(cmd, args[0], p)
		},
	}
	cmd.Flags().StringVar(&modulePath, "module", "", "make the project a module of its own with this path")
	cmd.Flags().StringVar(&replace, "replace", "", "link against the mcpkiln module in this directory (a replace line in go.mod)")
	cmd.Flags().StringVar(&store, "store", "", "what can keep the tasks besides memory: sqlite adds the flag -tasks FILE to the server")
	return cmd
}

const storeSQLite = "sqlite"

// newProject decides the names of a project in dir.
func newProject(dir, ownModule, replace string, sqlite bool) (templates.Project, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return templates.Project{}, err
	}
	p := templates.Project{Runtime: modulePath, Version: requiredVersion(), SQLite: sqlite}
	if p.Package, err = packageName(filepath.Base(abs), sqlite); err != nil {
		return p, err
	}
	if replace != "" {
		if p.Replace, err = moduleDir(replace); err != nil {
			return p, err
		}
	}
	root, path, err := enclosingModule(abs)
	if err != nil {
		return p, err
	}
	if root == "" || ownModule != "" {
		p.OwnGoMod = true
		p.Module = ownModule
		if ownModule == "" {
			p.Module = "example.com/" + p.Package // a path without a dot would be the standard library's
		}
		p.Import = p.Module
		return p, importable(p.Import)
	}
	rel, err := filepath.Rel(root, abs)
	if err != nil {
		return p, err
	}
	p.Module, p.Import = path, path+"/"+filepath.ToSlash(rel)
	return p, importable(p.Import)
}

// packageName makes the name of the generated package of that of the directory, and another one where the project's own files
// could not use it.
func packageName(dir string, sqlite bool) (string, error) {
	name := manifest.PackageName(dir)
	collides, err := templates.Collides(name, sqlite)
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

// unreleased is no version that anybody can download.
const unreleased = "v0.0.0"

// requiredVersion is what go.mod asks for: the version of this command, or for a build from a work tree one that only
// a replace line can satisfy.
func requiredVersion() string {
	if v := toolVersion(); v != unversioned {
		return v
	}
	return unreleased
}

// moduleDir checks that dir holds this module and returns it absolute, slash separated.
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

// initProject writes the project: everything beside the target first, then one rename, so that an error or an
// interrupt leaves no half of it.
func initProject(cmd *cobra.Command, dir string, p templates.Project) (err error) {
	if err := mustBeFree(dir); err != nil {
		return err
	}
	files, err := templates.Scaffold(p)
	if err != nil {
		return err
	}
	files = append(files, templates.ScaffoldFile{Path: "mcpkiln.schema.json", Content: manifest.SchemaJSON()})
	generated, err := generatePackage(cmd, files, p)
	if err != nil {
		return err
	}
	files = append(files, generated...)
	if err := writeProject(cmd.Context(), dir, files); err != nil {
		return err
	}
	return printProject(cmd, dir, p, files)
}

func mustBeFree(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(entries) > 0:
		return fmt.Errorf("%s is not empty: name a new directory; to generate in an existing project, write mcpkiln.yaml, run mcpkiln generate, and implement Handlers of the generated package", dir)
	}
	return nil
}

// generatePackage generates the package of the scaffolded manifest, as the version that the project asks for will do again.
func generatePackage(cmd *cobra.Command, files []templates.ScaffoldFile, p templates.Project) ([]templates.ScaffoldFile, error) {
	s := &sources{config: generator.Config{ToolVersion: p.Version, Import: p.Import, Dir: strings.TrimPrefix(strings.TrimPrefix(p.Import, p.Module), "/")}}
	for _, f := range files {
		if f.Path == manifestNames[0] {
			s.config.Manifest = generator.Source{Path: f.Path, Data: f.Content}
		}
	}
	result, err := generator.Generate(cmd.Context(), s.config)
	if err != nil {
		return nil, err
	}
	if err := s.print(cmd.ErrOrStderr(), result.Diagnostics); err != nil {
		return nil, err
	}
	var generated []templates.ScaffoldFile
	for _, f := range result.Files {
		generated = append(generated, templates.ScaffoldFile{Path: path.Join(result.Out, f.Path), Content: f.Content})
	}
	return generated, nil
}

// writeProject stages the files where a rename can take them to dir: beside it, or within it if it exists, since it may be
// somebody's working directory.
func writeProject(ctx context.Context, dir string, files []templates.ScaffoldFile) (err error) {
	parent := filepath.Dir(filepath.Clean(dir))
	_, err = os.Stat(dir)
	exists := err == nil
	if exists {
		parent = dir
	}
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return err
	}
	stage, err := os.MkdirTemp(parent, ".mcpkiln-init-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(stage)) }()
	project := filepath.Join(stage, "project")
	if err := stageProject(ctx, project, files); err != nil {
		return err
	}
	if exists {
		return moveEntries(project, dir)
	}
	return os.Rename(project, dir)
}

func stageProject(ctx context.Context, project string, files []templates.ScaffoldFile) error {
	for _, f := range files {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		target := filepath.Join(project, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(target, f.Content, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// moveEntries moves what is in from to the empty directory to; after an error it is empty again.
func moveEntries(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for i, e := range entries {
		if err = os.Rename(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err == nil {
			continue
		}
		for _, moved := range entries[:i] {
			err = errors.Join(err, os.Rename(filepath.Join(to, moved.Name()), filepath.Join(from, moved.Name())))
		}
		return err
	}
	return nil
}

func printProject(cmd *cobra.Command, dir string, p templates.Project, files []templates.ScaffoldFile) error {
	out := cmd.OutOrStdout()
	for _, f := range files {
		fmt.Fprintln(out, "wrote  ", filepath.Join(dir, filepath.FromSlash(f.Path)))
	}
	keep := ""
	if p.SQLite {
		keep = "  go run . -tasks tasks.db   # keeps tasks in that file: they survive a crash\n"
	}
	_, err := fmt.Fprintf(out, "\nNext:\n%s  go test ./...\n  go run .               # serves MCP on stdin and stdout\n  go run . -http :8080   # serves it on http://127.0.0.1:8080/mcp\n%s  go build .             # the program that a client starts\n", setUp(dir, p), keep)
	return err
}

// setUp is the part of the commands that depends on where the project is and what it links against.
func setUp(dir string, p templates.Project) string {
	var b strings.Builder
	if filepath.Clean(dir) != "." {
		fmt.Fprintf(&b, "  cd %s\n", quoteWord(dir))
	}
	link := p.Replace
	if link == "" && p.Version == unreleased {
		link = "CLONE" // nobody can download what is no released version
	}
	modules := []string{""}
	if p.SQLite {
		modules = append(modules, "/runtime/task/sqlite")
	}
	if link != "" && (!p.OwnGoMod || p.Replace == "") {
		for _, m := range modules {
			fmt.Fprintf(&b, "  go mod edit -replace %s\n", quoteWord(p.Runtime+m+"="+link+m))
		}
	}
	if p.OwnGoMod {
		b.WriteString("  go mod tidy\n")
		return b.String()
	}
	version := ""
	if link == "" {
		version = "@" + p.Version
	}
	fmt.Fprintf(&b, "  go get -tool %s/cmd/mcpkiln%s\n", p.Runtime, version)
	for _, m := range modules[1:] {
		fmt.Fprintf(&b, "  go get %s%s%s\n  go get modernc.org/sqlite\n", p.Runtime, m, version)
	}
	return b.String()
}

// quoteWord makes one word of s for a shell.
func quoteWord(s string) string {
	if !strings.ContainsAny(s, " !\"$&'()*;<>?[\\]`{|}~#\t\n") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
