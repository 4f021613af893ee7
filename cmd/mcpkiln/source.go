package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	slashpath "path"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/generator"
	"github.com/mcpkiln/mcpkiln/schema"
)

// manifestNames are tried in this order when no manifest is named.
var manifestNames = []string{"mcpkiln.yaml", "mcpkiln.yml", "mcpkiln.json"}

// sources are the files of one run: the input of Generate, and the text that diagnostics quote.
type sources struct {
	config generator.Config
	base   string            // directory of the manifest
	result *generator.Result // once make has run
}

// overrides are the flags that generate and check share.
type overrides struct {
	schemaFile string
	config     generator.Config
}

func (o *overrides) register(cmd *cobra.Command) {
	o.registerInput(cmd)
	f := cmd.Flags()
	f.StringVar(&o.config.Package, "package", "", "Go package name, over the manifest's")
	f.StringVar(&o.config.Out, "out", "", "output directory relative to the manifest, over the manifest's")
	f.StringVar(&o.config.Client, "client", "", "output directory of a client, over the manifest's")
}

// registerInput registers the flags about what is read.
func (o *overrides) registerInput(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.schemaFile, "schema", "", "read the protocol from this schema.json instead of the embedded one")
	f.StringSliceVar(&o.config.Revisions, "revision", nil, "protocol revision, over the manifest's; can be repeated")
	f.StringVar(&o.config.ServerName, "server-name", "", "server name, for manifests without one such as a saved tools/list answer")
	f.StringVar(&o.config.ServerVersion, "server-version", "", "server version, likewise")
}

// fields returns the flags that have a single value, by name.
func (o *overrides) fields() map[string]*string {
	c := &o.config
	return map[string]*string{"package": &c.Package, "out": &c.Out, "client": &c.Client, "docs": &c.Docs, "server-name": &c.ServerName, "server-version": &c.ServerVersion}
}

// flags returns the given flags as a lock file records them: the schema file by its path from the module's root, if it is in the module.
func (o *overrides) flags(root string) map[string]string {
	given := map[string]string{}
	for name, value := range o.fields() {
		if *value != "" {
			given[name] = *value
		}
	}
	if len(o.config.Revisions) > 0 {
		given["revision"] = strings.Join(o.config.Revisions, ",")
	}
	if abs, err := filepath.Abs(o.schemaFile); err == nil && o.schemaFile != "" {
		if rel, err := filepath.Rel(root, abs); err == nil && filepath.IsLocal(rel) {
			given["schema"] = filepath.ToSlash(rel)
		}
	}
	return given
}

// remember sets the flags that a lock file records. Unknown flags, and a path that leads out of the module, are ignored.
func (o *overrides) remember(root string, flags map[string]string) {
	for name, value := range o.fields() {
		*value = flags[name]
	}
	if list := flags["revision"]; list != "" {
		o.config.Revisions = strings.Split(list, ",")
	}
	if file := filepath.FromSlash(flags["schema"]); filepath.IsLocal(file) {
		o.schemaFile = shortest(filepath.Join(root, file))
	}
}

// shortest returns the path relative to the working directory if possible, else path.
func shortest(path string) string {
	if dir, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(dir, path); err == nil {
			return rel
		}
	}
	return path
}

// load reads the manifest at path, the files that it names, and the schema file. On an error it also returns what it has read.
func (o *overrides) load(path string) (*sources, error) {
	s := &sources{config: o.config, base: filepath.Dir(path)}
	s.config.ToolVersion = toolVersion()
	s.config.Manifest.Path = path
	at, err := placeInModule(path)
	s.config.Import, s.config.Dir, s.config.Flags = at.importPath, at.dir, o.flags(at.root)
	if err != nil {
		return s, err
	}
	if info, err := os.Stat(path); err == nil && info.Size() > largeManifest {
		debug.SetGCPercent(largeGarbagePercent)
	}
	if ds := s.config.Read(path); ds.HasErrors() {
		return s, ds
	}
	if o.schemaFile != "" {
		if s.config.Schema, err = readSource(o.schemaFile); err != nil {
			return s, err
		}
	}
	return s, nil
}

// place is where a manifest is.
type place struct {
	root       string // of the module; empty for none
	importPath string // of the manifest's directory; like dir, it is empty outside a module, where nothing can be written
	dir        string // the manifest's directory from the module's root
}

func placeInModule(manifest string) (place, error) {
	abs, err := filepath.Abs(manifest)
	if err != nil {
		return place{}, err
	}
	root, module, err := enclosingModule(abs)
	if err != nil || module == "" {
		return place{root: root}, err
	}
	rel, err := filepath.Rel(root, filepath.Dir(abs))
	dir := slashpath.Join(filepath.ToSlash(rel))
	return place{root, slashpath.Join(module, dir), dir}, err
}

func manifestPath(args []string) (string, error) {
	if len(args) == 1 {
		return args[0], nil
	}
	for _, name := range manifestNames {
		if _, err := os.Stat(name); err == nil {
			return name, nil
		}
	}
	return "", fmt.Errorf("no %s in this directory: name a manifest, or make a project with mcpkiln init", manifestNames[0])
}

// readSource reads a file that the user named in addition to the manifest.
func readSource(path string) (generator.Source, error) {
	data, err := os.ReadFile(path)
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return generator.Source{}, fmt.Errorf("%s: %w", path, pathErr.Err)
	}
	return generator.Source{Path: path, Data: data}, err
}

// print prints diagnostics with their source lines, and returns errFindings if one is an error.
func (s *sources) print(w io.Writer, diags schema.Diagnostics) error {
	diags.Sort()
	for _, d := range diags {
		fmt.Fprintln(w, d.Render(s.text(d.Pos.File)))
	}
	if diags.HasErrors() {
		return errFindings
	}
	return nil
}

func (s *sources) text(file string) []byte {
	for _, src := range []generator.Source{s.config.Manifest, s.config.Schema} {
		if src.Path == file {
			return src.Data
		}
	}
	for _, f := range s.config.Files {
		if filepath.Join(s.base, filepath.FromSlash(f.Path)) == file {
			return f.Data
		}
	}
	for _, f := range s.config.Folders {
		if slashpath.Dir(file) == slashpath.Clean(f.Path) {
			return f.Files[slashpath.Base(file)]
		}
	}
	return nil
}
