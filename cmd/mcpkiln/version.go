package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// modulePath is the module whose runtime packages generated code imports.
const modulePath = "github.com/mcpkiln/mcpkiln"

// unversioned is the version of a build from a work tree.
const unversioned = "(devel)"

func newVersion() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version, and the protocol revisions that it knows",
		Example: "  mcpkiln version\n  mcpkiln version --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := versionJSON{toolVersion(), runtime.GOOS, runtime.GOARCH, runtime.Version(), revision.Names()}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(v)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "mcpkiln %s %s/%s %s\nprotocol revisions: %s\n",
				v.Version, v.OS, v.Arch, v.Go, strings.Join(v.Revisions, ", "))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// versionJSON is the output of version --json, for programs.
type versionJSON struct {
	Version   string   `json:"version"`
	OS        string   `json:"os"`
	Arch      string   `json:"arch"`
	Go        string   `json:"go"`
	Revisions []string `json:"revisions"` // oldest first
}

// toolVersion returns the version of this module in the build: as the main module, or as a tool dependency of another one.
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
