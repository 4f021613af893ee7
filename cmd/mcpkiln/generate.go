package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/generator"
	"github.com/mcpkiln/mcpkiln/schema"
)

func newGenerate() *cobra.Command {
	var flags overrides
	var o generator.Options
	var watch bool
	cmd := &cobra.Command{
		Use:   "generate [MANIFEST]",
		Short: "Generate the Go package of a manifest",
		Long: strings.TrimSpace(`
generate reads MANIFEST (mcpkiln.yaml in this directory) and writes the Go package that it describes, and that of a client if go.client says
so. A saved answer to tools/list is a manifest too; then --server-name and --server-version say what it lacks, and --client makes a client of
that server.

Files that would not change are not touched. On any error nothing is written. A generated file that was edited by hand is an error, too;
--force overwrites it. What earlier runs left and is no longer generated is removed, also where go.out has moved. A reference of the server that
mcpkiln docs --out has written is brought up to date.`),
		Example: strings.Trim(`
  mcpkiln generate
  mcpkiln generate --dry-run api.yaml
  mcpkiln generate --server-name weather --server-version 1.0.0 --out internal/weather answer.json`, "\n"),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.UnderGoGenerate, o.PruneCommand = underGoGenerate()
			path, err := manifestPath(args)
			if err != nil {
				return err
			}
			if watch {
				return flags.watch(cmd, path, o)
			}
			for {
				s, err := flags.load(path)
				if err != nil {
					return err
				}
				if err := s.generate(cmd, o); err != nil || !s.outdated() {
					return err
				}
			}
		},
	}
	flags.register(cmd)
	cmd.Flags().BoolVar(&o.Force, "force", false, "overwrite and remove also generated files that were edited by hand")
	cmd.Flags().BoolVar(&watch, "watch", false, "generate again whenever the manifest changes, or a file that it names")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "say what would be written and removed, and touch nothing")
	return cmd
}

// generate runs the pipeline, and writes the package and the references that mcpkiln docs has written before. All errors are found before
// anything is written.
func (s *sources) generate(cmd *cobra.Command, o generator.Options) error {
	if err := s.make(cmd); err != nil {
		return err
	}
	references, err := s.references(cmd)
	if err != nil {
		return err
	}
	for _, r := range references {
		if err := r.try(cmd, o); err != nil {
			return err
		}
	}
	for _, one := range append([]*sources{s}, references...) {
		if err := one.write(cmd, o); err != nil {
			return err
		}
	}
	return nil
}

// make runs the pipeline.
func (s *sources) make(cmd *cobra.Command) (err error) {
	if s.result, err = generator.Generate(cmd.Context(), s.config.Take()); err != nil {
		return err
	}
	return s.print(cmd.ErrOrStderr(), s.result.Diagnostics)
}

// try prints what write would refuse.
func (s *sources) try(cmd *cobra.Command, o generator.Options) error {
	o.DryRun = true
	report, found, err := generator.Write(cmd.Context(), s.base, s.result, o)
	if err != nil || !found.HasErrors() {
		return err
	}
	return s.printRefused(cmd, report, found)
}

// printRefused prints what Write has found, and which files were edited by hand. It returns errFindings if anything is an error.
func (s *sources) printRefused(cmd *cobra.Command, report generator.Report, found schema.Diagnostics) error {
	err := s.print(cmd.ErrOrStderr(), found)
	for _, f := range report.Edited {
		fmt.Fprint(cmd.ErrOrStderr(), f.Diff)
	}
	return err
}

// write writes the result of make.
func (s *sources) write(cmd *cobra.Command, o generator.Options) error {
	report, found, err := generator.Write(cmd.Context(), s.base, s.result, o)
	if err != nil {
		return err
	}
	if err := s.printRefused(cmd, report, found); err != nil {
		return err
	}
	if err := printReport(cmd, report, o.DryRun); err != nil {
		return err
	}
	return s.refreshSchema(cmd, o.DryRun)
}

// outdated reports whether the manifest has changed since it was read: another run may have generated the new one at the same time, and this
// run overwritten it with the old one.
func (s *sources) outdated() bool {
	now, ds := generator.ReadManifest(s.config.Manifest.Path)
	return !ds.HasErrors() && !bytes.Equal(now.Data, s.config.Manifest.Data)
}

// printReport lists what changed on disk, one path a line, and a summary for each directory.
func printReport(cmd *cobra.Command, r generator.Report, dryRun bool) error {
	var out bytes.Buffer // so that there is one write: each wakes up whoever reads
	wrote, removed, would := "wrote  ", "removed", ""
	if dryRun {
		wrote, removed, would = "would write ", "would remove", " (nothing was touched)"
	}
	for _, c := range r.Dirs {
		for _, name := range c.Written {
			fmt.Fprintln(&out, wrote, filepath.Join(c.Dir, name))
		}
		for _, name := range c.Removed {
			fmt.Fprintln(&out, removed, filepath.Join(c.Dir, name))
		}
		fmt.Fprintf(&out, "%s: %d written, %d removed, %d unchanged%s\n", c.Dir, len(c.Written), len(c.Removed), len(c.Unchanged), would)
	}
	_, err := cmd.OutOrStdout().Write(out.Bytes())
	return err
}
