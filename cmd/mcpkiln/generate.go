package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/generator"
)

func newGenerate() *cobra.Command {
	var flags overrides
	cmd := &cobra.Command{
		Use:   "generate [MANIFEST]",
		Short: "Generate the Go package of a manifest",
		Long: strings.TrimSpace(`
generate reads MANIFEST (mcpkiln.yaml in this directory) and writes the Go package that it describes. A saved answer to
tools/list is a manifest too; then --server-name and --server-version say what it lacks.

Files that would not change are not touched. On any error nothing is written.`),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := flags.load(args)
			if err != nil {
				return err
			}
			return s.generate(cmd)
		},
	}
	flags.register(cmd)
	return cmd
}

// generate runs the pipeline and writes the package.
func (s *sources) generate(cmd *cobra.Command) error {
	result, err := generator.Generate(cmd.Context(), s.config)
	if err != nil {
		return err
	}
	if err := s.print(cmd.ErrOrStderr(), result.Diagnostics); err != nil {
		return err
	}
	report, refused, err := generator.Write(cmd.Context(), s.base, result)
	if err != nil {
		return err
	}
	if err := s.print(cmd.ErrOrStderr(), refused); err != nil {
		return err
	}
	return printReport(cmd, report)
}

// printReport lists what changed on disk, one path a line, and a summary.
func printReport(cmd *cobra.Command, r generator.Report) error {
	out := cmd.OutOrStdout()
	for _, name := range r.Written {
		fmt.Fprintln(out, "wrote  ", filepath.Join(r.Dir, name))
	}
	for _, name := range r.Removed {
		fmt.Fprintln(out, "removed", filepath.Join(r.Dir, name))
	}
	_, err := fmt.Fprintf(out, "%s: %d written, %d removed, %d unchanged\n", r.Dir, len(r.Written), len(r.Removed), len(r.Unchanged))
	return err
}
