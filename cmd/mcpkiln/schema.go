package main

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

func newSchema() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schema [manifest | REVISION/FILE]",
		Short: "List the schemas, or print one: the manifest's, or that of a protocol revision",
		Long: strings.TrimSpace(`
schema without arguments lists what can be printed. mcpkiln schema manifest prints the JSON Schema of mcpkiln.yaml, for
editors; mcpkiln schema 2025-11-25/core.json prints an embedded protocol document.`),
		Example: "  mcpkiln schema manifest > mcpkiln.schema.json",
		Args:    cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return schemaNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), strings.Join(schemaNames(), "\n"))
				return err
			}
			data, err := schemaText(args[0])
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(data)
			return err
		},
	}
	cmd.AddCommand(newNewRevision())
	return cmd
}

// schemaNames lists what schema prints, sorted.
func schemaNames() []string {
	names := []string{"manifest"}
	for _, rev := range revision.Names() {
		files, err := fs.ReadDir(schema.Revisions, rev)
		if err != nil {
			continue
		}
		for _, f := range files {
			names = append(names, path.Join(rev, f.Name()))
		}
	}
	return names
}

func schemaText(name string) ([]byte, error) {
	if name == "manifest" {
		return manifest.SchemaJSON(), nil
	}
	data, err := fs.ReadFile(schema.Revisions, name)
	if err != nil {
		return nil, fmt.Errorf("no schema %q: there are %s", name, strings.Join(schemaNames(), ", "))
	}
	return data, nil
}
