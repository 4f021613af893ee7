package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

func newNewRevision() *cobra.Command {
	var from, file, out string
	cmd := &cobra.Command{
		Use:   "new-revision NAME --schema schema.json",
		Short: "Make the folder of a protocol revision that mcpkiln does not have",
		Long: strings.TrimSpace(`
new-revision writes a folder with the given schema.json and the rules of the revision that is nearest to it, or of the one that --from
names. It lists every rule that does not fit the schema, with the definitions that may have replaced the ones it names: mend those in
rules.yaml, then name the folder in the manifest.

  protocol: {folders: ["NAME"]}`),
		Example: "  mcpkiln schema new-revision 2027-01-15 --from 2026-07-28 --schema draft/schema.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				out = args[0]
			}
			return writeRevision(cmd, args[0], from, file, out)
		},
	}
	f := cmd.Flags()
	f.StringVar(&from, "from", "", "revision whose rules to begin with")
	f.StringVar(&file, "schema", "", "schema.json as published")
	f.StringVar(&out, "out", "", "folder to write; NAME by default")
	_ = cmd.MarkFlagRequired("schema")
	return cmd
}

func writeRevision(cmd *cobra.Command, name, from, file, out string) error {
	source, err := readSource(file)
	if err != nil {
		return err
	}
	files, used, mismatches := revision.NewRevision(name, from, file, source.Data)
	if files == nil {
		return mismatches
	}
	if err := writeFolder(out, files); err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	fmt.Fprintf(w, "wrote %s: the schema, and the rules of %s\n", out, used)
	if len(mismatches) == 0 {
		_, err = fmt.Fprintln(w, "every rule fits")
		return err
	}
	for _, d := range mismatches {
		d.Pos.File = filepath.ToSlash(filepath.Join(out, strings.TrimPrefix(d.Pos.File, name+"/")))
		fmt.Fprintln(w, schema.Diagnostics{d})
	}
	_, err = fmt.Fprintf(w, "%d rules do not fit: mend them, then generate\n", len(mismatches))
	return err
}

// writeFolder writes into a folder that does not exist yet.
func writeFolder(dir string, files map[string][]byte) error {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s exists: remove it, or name another folder with --out", dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := os.WriteFile(filepath.Join(dir, name), files[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}
