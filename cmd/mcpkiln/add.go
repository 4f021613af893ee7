package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/generator"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
)

func newAdd() *cobra.Command {
	var a adding
	cmd := &cobra.Command{
		Use:   "add (TOOL | --handlers)",
		Short: "Add a tool to the manifest, with a stub of its handler",
		Long: strings.TrimSpace(`
add TOOL writes a tool at the end of the manifest's tools, generates, and writes the method that the handlers lack then, with a test that
cancels it. All else in the manifest stays as it is, comments and order too.

add --handlers changes no manifest: it writes a stub for each method that the compiler misses, of tools and of other methods.

The handlers are the type that is asserted to implement the generated Handlers: var _ reports.Handlers = (*handlers)(nil). Stubs have files of
their own; no file that exists is ever changed.`),
		Example: strings.Trim(`
  mcpkiln add render_map --task required --description 'Render a map of a region.'
  mcpkiln add --handlers`, "\n"),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.handlers == (len(args) == 1) {
				return fmt.Errorf("add takes the name of a tool, or --handlers")
			}
			if a.manifest == "" {
				var err error
				if a.manifest, err = manifestPath(nil); err != nil {
					return err
				}
			}
			if a.handlers {
				return a.run(cmd, "")
			}
			return a.run(cmd, args[0])
		},
	}
	f := cmd.Flags()
	f.StringVar(&a.manifest, "manifest", "", "the manifest; mcpkiln.yaml in this directory by default")
	f.BoolVar(&a.handlers, "handlers", false, "write a stub for each method that the handlers lack")
	f.StringVar(&a.tool.Description, "description", "", "what the tool does, for the model")
	f.StringVar((*string)(&a.tool.Task), "task", "", "how it can run as a task: optional or required")
	return cmd
}

// adding is one run of the command add.
type adding struct {
	manifest string
	handlers bool
	tool     manifest.NewTool
}

// run adds a tool, or without a name what the handlers lack.
func (a *adding) run(cmd *cobra.Command, tool string) error {
	way := (&overrides{}).ways(a.manifest)[0]
	s, err := way.load(a.manifest)
	if err != nil {
		return err
	}
	before := s.config.Manifest
	if tool != "" {
		a.tool.Name = tool
		text, err := manifest.AddTool(before.Path, before.Data, a.tool)
		if err != nil {
			return err
		}
		s.config.Manifest.Data = text
	}
	result, err := generator.Generate(cmd.Context(), s.config)
	if err != nil {
		return err
	}
	if err := s.print(cmd.ErrOrStderr(), result.Diagnostics); err != nil {
		return err
	}
	if tool != "" {
		if err := replace(before.Path, s.config.Manifest.Data); err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), "wrote  ", before.Path)
	}
	if err := s.generate(cmd, generator.Options{}); err != nil {
		return err
	}
	return s.addStubs(cmd, result)
}

// replace writes a file whole or not at all.
func replace(path string, text []byte) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".mcpkiln-")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	if _, err = tmp.Write(text); err == nil {
		err = tmp.Chmod(info.Mode().Perm())
	}
	if closed := tmp.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
