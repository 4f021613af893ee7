package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// modulePath is the module whose runtime packages generated code links against.
const modulePath = "github.com/mcpkiln/mcpkiln"

// unversioned is what a build from a work tree calls itself.
const unversioned = "(devel)"

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, and the protocol revisions that it knows",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "mcpkiln %s %s/%s %s\nprotocol revisions: %s\n",
				toolVersion(), runtime.GOOS, runtime.GOARCH, runtime.Version(), strings.Join(revision.Names(), ", "))
			return err
		},
	}
}

// toolVersion is the version of this module in the build: as the main module, or as a go tool of another one.
func toolVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unversioned
	}
	version := info.Main.Version
	for _, dep := range info.Deps {
		if dep.Path == modulePath {
			version = dep.Version
		}
	}
	if version == "" {
		return unversioned
	}
	return version
}
