package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/generator"
)

func newCheck() *cobra.Command {
	var flags overrides
	var namesOnly bool
	cmd := &cobra.Command{
		Use:   "check [MANIFEST]",
		Short: "Tell whether the generated package is what its manifest says",
		Long: strings.TrimSpace(`
check generates in memory, compares with the files on disk and writes nothing. It names files that are missing, outdated,
hand-edited or stale, and shows unified diffs. The exit status is 1 if there is a difference: run it in CI.`),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := flags.load(args)
			if err != nil {
				return err
			}
			return s.check(cmd, namesOnly)
		},
	}
	flags.register(cmd)
	cmd.Flags().BoolVar(&namesOnly, "names-only", false, "name the files that differ, without diffs")
	return cmd
}

func (s *sources) check(cmd *cobra.Command, namesOnly bool) error {
	result, err := generator.Generate(cmd.Context(), s.config)
	if err != nil {
		return err
	}
	if err := s.print(cmd.ErrOrStderr(), result.Diagnostics); err != nil {
		return err
	}
	findings, refused, err := generator.Check(cmd.Context(), s.base, result)
	if err != nil {
		return err
	}
	if err := s.print(cmd.ErrOrStderr(), refused); err != nil {
		return err
	}
	return printFindings(cmd, findings, namesOnly)
}

func printFindings(cmd *cobra.Command, findings []generator.Finding, namesOnly bool) error {
	out := cmd.OutOrStdout()
	for _, f := range findings {
		fmt.Fprintln(out, f)
		if !namesOnly {
			fmt.Fprint(out, f.Diff)
		}
	}
	if len(findings) == 0 {
		return nil
	}
	fmt.Fprintln(out, generator.Summary(findings))
	return errFindings
}
