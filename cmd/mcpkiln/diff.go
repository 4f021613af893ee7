package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/generator"
	"github.com/mcpkiln/mcpkiln/schema"
)

// diffFlags say what is compared.
type diffFlags struct {
	overrides
	against, format string
}

func newDiff() *cobra.Command {
	var flags diffFlags
	cmd := &cobra.Command{
		Use:   "diff --against git:REF|FILE [MANIFEST]",
		Short: "Tell what a change of the manifest means",
		Long: strings.TrimSpace(`
diff compares the manifest with an older one, in a commit or in a file, and tells what the change means for callers, for handlers, on
the wire, and for tasks and questions that are running.

Each change has an id, which explain explains, and a class: breaking, ask-again (clients that pin a tool's definition ask their user),
compatible, or documentation. diff.classes in the manifest gives an id another class. Schemas are compared by what they accept.

The exit status is 1 if a change is breaking. git is asked for what is there; nothing is fetched.`),
		Example: strings.Trim(`
  mcpkiln diff --against git:main
  mcpkiln diff --against git:v1.2.0 --format markdown api.yaml >> "$GITHUB_STEP_SUMMARY"
  mcpkiln diff --against released.yaml --format json`, "\n"),
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
			if c.count(generator.Breaking) > 0 {
				return errFindings
			}
			return nil
		},
	}
	flags.register(cmd)
	f := cmd.Flags()
	f.StringVar(&flags.against, "against", "", "what it was: git:REF for the same file in a commit, or a file")
	f.StringVar(&flags.format, "format", "text", "text, json, github or markdown")
	return cmd
}

// compare compares the manifest with what it was.
func (o *diffFlags) compare(cmd *cobra.Command, path string) (*compared, error) {
	if o.against == "" {
		return nil, errors.New("say --against git:REF, or a file")
	}
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
	return &compared{Manifest: filepath.ToSlash(path), Against: o.against, Changes: d.Changes}, nil
}

// older reads the manifest as it was.
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

// unreadable says which manifest can not be read, after what is wrong with it.
func (o *diffFlags) unreadable(cmd *cobra.Command, which, name string, err error) error {
	var ds schema.Diagnostics
	if errors.As(err, &ds) {
		fmt.Fprintln(cmd.ErrOrStderr(), ds)
		return fmt.Errorf("the %s manifest (%s) can not be read", which, name)
	}
	return fmt.Errorf("the %s manifest (%s): %w", which, name, err)
}
