package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/generator"
	"github.com/mcpkiln/mcpkiln/generator/disk"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
)

func newAdd() *cobra.Command {
	var a adding
	cmd := &cobra.Command{
		Use:   "add (TOOL | --handlers)",
		Short: "Add a tool to the manifest, with a stub of its handler",
		Long: strings.TrimSpace(`
add TOOL writes a tool at the end of the manifest's tools, or in its place where they are sorted by name, generates, and writes the method that
the handlers lack then, with a test that cancels it. All else in the manifest stays as it is, comments and order too.

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
			if args[0] == "" {
				return errors.New("the name of the tool is empty")
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

// run adds a tool, or without a name the methods that the handlers lack. All errors are found before anything is written: in the manifest, in
// each package generated from it, in the handlers, and in the folder for the stubs.
func (a *adding) run(cmd *cobra.Command, tool string) error {
	var all []*sources
	var lacking []*implementation
	for _, way := range (&overrides{}).ways(a.manifest) {
		s, err := way.load(a.manifest)
		if err != nil {
			return err
		}
		if tool != "" {
			a.tool.Name = tool
			if s.config.Manifest.Data, err = manifest.AddTool(a.manifest, s.config.Manifest.Data, a.tool); err != nil {
				return err
			}
		}
		found, err := s.tryAdding(cmd)
		if err != nil {
			return err
		}
		all, lacking = append(all, s), append(lacking, found...)
	}
	if err := handlersMissing(all, lacking); err != nil {
		return err
	}
	if err := stubsMayBeWritten(cmd, lacking); err != nil {
		return err
	}
	if tool != "" {
		if err := disk.Replace(a.manifest, all[0].config.Manifest.Data, 0o666); err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), "wrote  ", a.manifest)
	}
	for _, s := range all {
		if err := s.write(cmd, generator.Options{}); err != nil {
			return err
		}
	}
	return writeStubs(cmd, lacking)
}

// tryAdding does everything but write: it reports what would be refused, and returns the handlers with the methods that they would lack.
func (s *sources) tryAdding(cmd *cobra.Command) ([]*implementation, error) {
	if err := s.make(cmd); err != nil {
		return nil, err
	}
	if err := s.try(cmd, generator.Options{}); err != nil {
		return nil, err
	}
	if !s.result.HasHandlers() {
		return nil, nil
	}
	all, err := implementations(cmd, s)
	if err != nil {
		return nil, err
	}
	for _, one := range all {
		if err := one.prepare(s); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// handlersMissing returns an error if there are Handlers to implement, and no type implements them.
func handlersMissing(all []*sources, found []*implementation) error {
	i := slices.IndexFunc(all, func(s *sources) bool { return s.result.HasHandlers() })
	if i < 0 || len(found) > 0 {
		return nil // a client alone has no handlers
	}
	return fmt.Errorf("no type is asserted to implement Handlers of %s: write var _ %s.Handlers = (*handlers)(nil) beside the type",
		all[i].generated(), all[i].result.Package)
}
