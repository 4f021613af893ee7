package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
	"github.com/mcpkiln/mcpkiln/generator/disk"
	"github.com/mcpkiln/mcpkiln/generator/importer"
	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/templates"
)

func newImport() *cobra.Command {
	var i imports
	cmd := &cobra.Command{
		Use:   "import (FILE | - | TARGET | -- COMMAND…)",
		Short: "Make a manifest of the tools of another server",
		Long: strings.TrimSpace(`
import makes a manifest of a saved answer to tools/list (the JSON-RPC response, its result, the list alone, all pages, or what
mcpkiln tools --json prints), or of a server: its address, the name of an entry in an mcp.json, or the command behind --.

At the end it generates from the manifest, in memory, and holds what tools/list of that server would show against the source: each definition
has to be the same JSON. What can not be kept is left out, and said by name.

Exit status: 0 all definitions are the same, 1 some are not, 2 nothing was imported; those of a server that can not be reached are those of
mcpkiln call.`),
		Example: strings.Trim(`
  mcpkiln import answer.json
  mcpkiln import --client https://example.com/mcp
  mcpkiln import --suggest -o weather.yaml -- npx -y some-server`, "\n"),
		Args: cobra.ArbitraryArgs,
		RunE: i.run,
	}
	i.connection(cmd)
	f := cmd.Flags()
	f.StringVarP(&i.output, "output", "o", manifestNames[0], "`FILE` to write; - is standard output")
	f.BoolVar(&i.force, "force", false, "overwrite the file if there is one")
	f.BoolVar(&i.Client, "client", false, "the manifest is for a client of that server, not for a server")
	f.BoolVar(&i.Suggest, "suggest", false, "add what would tighten the manifest, as comments")
	f.StringVar(&i.Name, "server-name", "", "name of the server, over that of the source")
	f.StringVar(&i.Version, "server-version", "", "version of the server, likewise")
	return cmd
}

// imports is one run of the command import.
type imports struct {
	remote
	importer.Options
	output string
	force  bool
}

func (i *imports) run(cmd *cobra.Command, args []string) error {
	if err := i.free(); err != nil {
		return refused(err)
	}
	source, err := i.source(cmd, args)
	if err != nil {
		return err
	}
	made, err := importer.Import(cmd.Context(), source, i.Options)
	if err == nil {
		err = i.write(cmd.Context(), cmd.OutOrStdout(), made.Manifest)
	}
	switch {
	case err != nil && cmd.Context().Err() != nil:
		return errInterrupted
	case err != nil:
		return refused(err)
	}
	noteSource(cmd, source)
	return i.report(cmd, made)
}

// noteSource says what a manifest that is made of a source may lack.
func noteSource(cmd *cobra.Command, s *importer.Source) {
	said := slices.ContainsFunc(s.Tools, func(t *schema.Node) bool { return t.Get("execution").Get("taskSupport") != nil })
	noteUnsaidTasks(cmd.ErrOrStderr(), s.Revision, s.Capabilities, said)
}

const standardStream = "-"

// free returns an error if the output file exists, unless --force is given.
func (i *imports) free() error {
	_, err := os.Lstat(i.output)
	switch {
	case i.output == standardStream || i.force || errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%s can not be written: %w", i.output, errors.Unwrap(err)) // without the name of the system call
	}
	return fmt.Errorf("%s is there already: name another file with -o, or overwrite it with --force", i.output)
}

// source reads a file, standard input, or a server.
func (i *imports) source(cmd *cobra.Command, args []string) (*importer.Source, error) {
	if cmd.ArgsLenAtDash() < 0 && len(args) == 1 && !isAddress(args[0]) {
		name, data, err := i.read(cmd, args[0])
		if err != nil {
			return nil, refused(err)
		}
		if data != nil {
			s, err := importer.Read(name, data)
			return s, refused(err)
		}
	}
	t, rest, err := i.named(cmd, args)
	switch {
	case err != nil:
		return nil, err
	case len(rest) > 0:
		return nil, refused(fmt.Errorf("%s: one source is imported at a time", rest[0]))
	}
	var source *importer.Source
	err = i.visit(cmd, t, nil, func(v *visit) error {
		d, err := v.session.Describe(v.ctx)
		if err == nil {
			source, err = described(d)
		}
		return err
	})
	return source, err
}

// read returns the content of a file or of standard input, and its name for messages; nil if the name is neither, but may be an entry of an
// mcp.json.
func (i *imports) read(cmd *cobra.Command, name string) (called string, data []byte, err error) {
	called, data, err = readSaved(cmd, name)
	if errors.Is(err, fs.ErrNotExist) && filepath.Ext(name) == "" {
		return "", nil, nil
	}
	return called, append([]byte{}, data...), err
}

// described converts the description of a server to a source.
func described(d *client.Description) (*importer.Source, error) {
	tools := append([]json.RawMessage{}, d.Tools...) // a list also if there are none
	text, err := json.Marshal(saved{d.Revision, d.ServerInfo, d.Capabilities, d.Instructions, tools, leftOutOf(d.LeftOut)})
	if err != nil {
		return nil, err
	}
	source, err := importer.Read("the server", text)
	switch {
	case err != nil && len(tools) == 0:
		return nil, refused(err)
	case err != nil:
		return nil, &statusError{exitProtocol, err}
	}
	return source, nil
}

// write writes the manifest, whole or not at all, and makes its directory.
func (i *imports) write(ctx context.Context, stdout io.Writer, text []byte) error {
	if i.output == standardStream {
		_, err := stdout.Write(text)
		return err
	}
	if _, err := os.Stat(i.output); err == nil {
		return disk.Replace(i.output, text, 0o666) // --force was given
	}
	return writeBeside(ctx, filepath.Dir(i.output), []templates.ScaffoldFile{{Path: filepath.Base(i.output), Content: text}})
}

// report prints what was written, what was proven, and what was lost.
func (i *imports) report(cmd *cobra.Command, made *importer.Imported) error {
	out := cmd.OutOrStdout()
	if i.output == standardStream {
		out = cmd.ErrOrStderr()
	} else {
		fmt.Fprintln(out, "wrote  ", i.output)
	}
	fmt.Fprintf(out, "%d of %d tools of %s %s: generated from it, tools/list shows the same definition\n", made.Kept, made.Tools, plain.Line(made.Name), plain.Line(made.Version))
	if len(made.Others) > 0 {
		fmt.Fprintf(out, "not imported: %s, which the server has beside its tools\n", strings.Join(made.Others, ", "))
	}
	if len(made.Lost) == 0 {
		return nil
	}
	for _, l := range made.Lost {
		fmt.Fprintln(cmd.ErrOrStderr(), "not kept:", plain.Line(l.String()))
	}
	return errFindings
}
