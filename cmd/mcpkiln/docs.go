package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/generator"
)

func newDocs() *cobra.Command {
	var flags overrides
	var dir, format string
	cmd := &cobra.Command{
		Use:   "docs [MANIFEST]",
		Short: "Write a reference of the server for those who call it",
		Long: strings.TrimSpace(`
docs writes what a server is for its users: a section for each tool with what it takes and gives, an example, its questions and limits and what
cancelling does; prompts, resources and methods; and pictures of how tasks and questions go.

Without --out the reference is printed. With it there are two files in that directory, reference.md and reference.html, which has no scripts and
loads nothing; from then on mcpkiln generate brings them up to date, and mcpkiln check tells when they are not.`),
		Example: strings.Trim(`
  mcpkiln docs --out docs
  mcpkiln docs --format html > reference.html
  mcpkiln docs api.yaml | less`, "\n"),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := manifestPath(args)
			if err != nil {
				return err
			}
			if format != "markdown" && format != "html" {
				return fmt.Errorf("--format %s: it is markdown or html", format)
			}
			if dir != "" && cmd.Flags().Changed("format") {
				return fmt.Errorf("--out writes both forms: leave out --format")
			}
			flags.config.Docs = dir
			s, err := flags.load(path)
			if err != nil {
				return err
			}
			if dir != "" {
				return s.generate(cmd, generator.Options{})
			}
			return s.printReference(cmd, format)
		},
	}
	flags.registerInput(cmd)
	cmd.Flags().StringVar(&dir, "out", "", "write both forms into this directory, relative to the manifest")
	cmd.Flags().StringVar(&format, "format", "markdown", "markdown or html")
	return cmd
}

// printReference prints the reference in one format.
func (s *sources) printReference(cmd *cobra.Command, format string) error {
	r, found, err := generator.MakeReference(cmd.Context(), s.config)
	if err != nil {
		return err
	}
	if err := s.print(cmd.ErrOrStderr(), found); err != nil {
		return err
	}
	text := r.Markdown
	if format == "html" {
		text = r.HTML
	}
	_, err = cmd.OutOrStdout().Write(text)
	return err
}

// references generates again what mcpkiln docs --out has written for the manifest. Only errors are printed: the warnings are those of the
// package.
func (s *sources) references(cmd *cobra.Command) (all []*sources, err error) {
	if s.config.Docs != "" {
		return nil, nil // s is a reference itself
	}
	for _, way := range (&overrides{}).ways(s.config.Manifest.Path) {
		if way.config.Docs == "" {
			continue
		}
		r, err := way.load(s.config.Manifest.Path)
		if err != nil {
			return nil, err
		}
		if r.result, err = generator.Generate(cmd.Context(), r.config); err != nil {
			return nil, err
		}
		if r.result.Diagnostics.HasErrors() {
			return nil, r.print(cmd.ErrOrStderr(), r.result.Diagnostics)
		}
		all = append(all, r)
	}
	return all, nil
}
