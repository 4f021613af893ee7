package main

import (
	"strings"

	"github.com/spf13/cobra"
)

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "mcpkiln",
		Short: "Generate Model Context Protocol servers from a manifest of tools",
		Long: strings.TrimSpace(`
mcpkiln reads the protocol's JSON Schema and a manifest of tools (mcpkiln.yaml) and generates a Go package with typed
handlers, validators, cancellation tracking and task state machines.

Start with:  mcpkiln init reports`),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newInit(), newGenerate(), newCheck(), newSchema(), newCall(), newTools(), newVersion(), newPrune())
	return root
}
