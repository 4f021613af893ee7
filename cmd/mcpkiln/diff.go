package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/generator"
	"github.com/mcpkiln/mcpkiln/schema"
)

// diffFlags are the flags of diff.
type diffFlags struct {
	overrides
	against, from, to, format string
}

func newDiff() *cobra.Command {
	var flags diffFlags
	cmd := &cobra.Command{
		Use:   "diff --against git:REF|FILE [MANIFEST] | --from REVISION --to REVISION [MANIFEST]",
		Short: "Tell what a change of the manifest, or of the protocol, means",
		Long: strings.TrimSpace(`
diff --against compares the manifest with an older one, in a commit or in a file, and tells what the change means for callers, for
handlers, on the wire, and for tasks and questions that are running. diff --from --to tells what a protocol revision changes for the
manifest's tools, and who must act.

Each change has an id, which explain explains, and a class: breaking, ask-again (clients that pin a tool's definition ask their user),
compatible, or documentation. diff.classes in the manifest gives an id another class. Schemas are compared by what they accept.

Flags are those of generate, and without any those that it was run with: each package is compared with what it was.

The exit status of --against is 1 if a change is breaking. git is asked for what is there; nothing is fetched.`),
		Example: strings.Trim(`
  mcpkiln diff --against git:main
  mcpkiln diff --against git:v1.2.0 --format markdown api.yaml >> "$GITHUB_STEP_SUMMARY"
  mcpkiln diff --against released.yaml --format json
  mcpkiln diff --from 2025-11-25 --to 2026-07-28`, "\n"),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			print, err := flags.printer()
			if err != nil {
				return err
			}
			path, err := manifestPath(args)
			if err != nil {
				return err
			}
			c, err := flags.compare(cmd, path)
			if err != nil {
				return err
			}
			if err := print(cmd.OutOrStdout(), c); err != nil {
				return err
			}
			if c.From == "" && c.count(generator.Breaking) > 0 {
				return errFindings
			}
			return nil
		},
	}
	flags.register(cmd)
	f := cmd.Flags()
	f.StringVar(&flags.against, "against", "", "what it was: git:REF for the same file in a commit, or a file")
	f.StringVar(&flags.from, "from", "", "protocol revision to come from")
	f.StringVar(&flags.to, "to", "", "protocol revision to go to")
	f.StringVar(&flags.format, "format", "text", "text, json, github or markdown")
	return cmd
}

// compare does what the flags ask for.
func (o *diffFlags) compare(cmd *cobra.Command, path string) (*compared, error) {
	switch {
	case o.against == "" && o.from == "" && o.to == "":
		return nil, errors.New("say --against git:REF or --against FILE, or --from and --to with a revision each")
	case o.against != "" && (o.from != "" || o.to != ""):
		return nil, errors.New("--against compares manifests, --from and --to revisions: give one of them")
	case o.against != "":
		return o.manifests(cmd, path)
	case o.from == "" || o.to == "":
		return nil, errors.New("--from and --to belong together")
	case o.from == o.to:
		return nil, errors.New("--from and --to are the same revision")
	}
	return o.revisions(cmd, path)
}

// revisions compares two revisions of the protocol for the manifest.
func (o *diffFlags) revisions(cmd *cobra.Command, path string) (*compared, error) {
	way := o.ways(path)[0]
	way.config.Docs = ""
	s, err := way.load(path)
	if err != nil {
		return nil, err
	}
	m, err := generator.DiffRevisions(cmd.Context(), s.config, o.from, o.to)
	if err != nil {
		return nil, err
	}
	if m.Diagnostics.HasErrors() {
		_ = s.print(cmd.ErrOrStderr(), m.Diagnostics)
		return nil, fmt.Errorf("%s can not be generated for %s and %s, so there is nothing to compare", path, o.from, o.to)
	}
	return &compared{Manifest: filepath.ToSlash(path), From: o.from, To: o.to, Changes: m.Changes, Described: m.Described}, nil
}

// manifests compares the manifest with the older one, for each set of flags that it was generated with.
func (o *diffFlags) manifests(cmd *cobra.Command, path string) (*compared, error) {
	c := &compared{Manifest: filepath.ToSlash(path), Against: o.against}
	for _, way := range o.ways(path) {
		flags := *o
		flags.overrides = *way
		flags.config.Docs = "" // the package has all that it documents
		d, err := flags.difference(cmd, path)
		if err != nil {
			return nil, err
		}
		c.add(d.Changes)
	}
	return c, nil
}

// difference compares the manifest with the older one, for one set of flags.
func (o *diffFlags) difference(cmd *cobra.Command, path string) (*generator.Difference, error) {
	new, err := o.load(path)
	if err != nil {
		return nil, o.unreadable(cmd, "new", path, err)
	}
	old, err := o.older(cmd, path)
	if err != nil {
		return nil, o.unreadable(cmd, "old", o.against, err)
	}
	d, err := generator.Diff(cmd.Context(), old.config, new.config)
	if err != nil {
		return nil, err
	}
	for _, s := range []struct {
		*sources
		found schema.Diagnostics
		which string
		name  string
	}{{old, d.Old, "old", o.against}, {new, d.New, "new", path}} {
		if s.found.HasErrors() {
			_ = s.print(cmd.ErrOrStderr(), s.found)
			return nil, fmt.Errorf("the %s manifest (%s) has errors, so there is nothing to compare", s.which, s.name)
		}
	}
	return d, nil
}

// older reads the older manifest.
func (o *diffFlags) older(cmd *cobra.Command, path string) (*sources, error) {
	ref, git := strings.CutPrefix(o.against, "git:")
	if !git {
		return o.load(o.against)
	}
	s := &sources{config: o.config, base: filepath.Dir(path)}
	dir, name := filepath.Split(path)
	folder, err := openCommit(cmd.Context(), dir, ref)
	if err != nil {
		return nil, err
	}
	data, err := folder.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("commit %s has no file %s in that folder", ref, name)
	}
	if ds := s.config.ReadFrom(folder, filepath.Join(dir, name), data); ds.HasErrors() {
		return nil, ds
	}
	if o.schemaFile != "" {
		s.config.Schema, err = readSource(o.schemaFile)
	}
	return s, err
}

// unreadable prints the diagnostics of a manifest, and returns an error that says which can not be read.
func (o *diffFlags) unreadable(cmd *cobra.Command, which, name string, err error) error {
	var ds schema.Diagnostics
	if errors.As(err, &ds) {
		fmt.Fprintln(cmd.ErrOrStderr(), ds)
		return fmt.Errorf("the %s manifest (%s) can not be read", which, name)
	}
	return fmt.Errorf("the %s manifest (%s): %w", which, name, err)
}
