package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/generator/disk"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
)

// refreshSchema updates the project's copy of the manifest's JSON Schema, which is for editors. It writes nothing if there is no such file, or
// if it has other content.
func (s *sources) refreshSchema(cmd *cobra.Command, dryRun bool) error {
	path := filepath.Join(s.base, schemaFile)
	had, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	now := manifest.SchemaJSON()
	if bytes.Equal(had, now) || titleOf(had) != titleOf(now) {
		return nil
	}
	if dryRun {
		_, err = fmt.Fprintln(cmd.OutOrStdout(), "would write ", path)
		return err
	}
	if err := disk.Replace(path, now, 0o666); err != nil {
		return err
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), "wrote  ", path)
	return err
}

// titleOf returns the title of a JSON Schema; "" if it has none.
func titleOf(text []byte) string {
	var s struct{ Title string }
	_ = json.Unmarshal(text, &s) // a file that is no JSON has no title
	return s.Title
}
