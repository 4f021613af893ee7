package main

import (
	"context"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/generator"
	"github.com/mcpkiln/mcpkiln/schema"
)

func newCheck() *cobra.Command {
	var flags overrides
	var namesOnly bool
	var format string
	cmd := &cobra.Command{
		Use:   "check [MANIFEST | DIR/...]...",
		Short: "Tell whether the generated package is what its manifest says",
		Long: strings.TrimSpace(`
check generates in memory, compares with the files on disk and writes nothing. It names files that are missing, outdated,
hand-edited, conflicted or stale, and shows unified diffs. The exit status is 1 if there is a difference: run it in CI.

DIR/... stands for all manifests below DIR. The flags that generate was given are in mcpkiln.lock: without any, check takes those, and
checks every package that was made of a manifest. A difference that a newer mcpkiln makes of an unchanged manifest is told apart.`),
		Example: strings.Trim(`
  mcpkiln check
  mcpkiln check --format github ./...
  mcpkiln check --format markdown api.yaml admin.yaml >> "$GITHUB_STEP_SUMMARY"`, "\n"),
		RunE: func(cmd *cobra.Command, args []string) error {
			print, err := checkPrinter(cmd, format, namesOnly)
			if err != nil {
				return err
			}
			manifests, err := manifestPaths(args)
			if err != nil {
				return err
			}
			all, err := flags.check(cmd.Context(), manifests)
			if err != nil {
				return err
			}
			return print(all)
		},
	}
	flags.register(cmd)
	cmd.Flags().BoolVar(&namesOnly, "names-only", false, "name the files that differ, without diffs")
	cmd.Flags().StringVar(&format, "format", "text", "text, json, github (annotations) or markdown")
	return cmd
}

// checked is what check found about one package or pair of packages.
type checked struct {
	manifest    string
	command     string // brings it up to date
	sources     *sources
	diagnostics schema.Diagnostics
	findings    []generator.Finding
}

// failed reports whether there is anything to do.
func (c *checked) failed() bool { return len(c.findings) > 0 || c.diagnostics.HasErrors() }

// check checks manifests, each with every set of flags that it was generated with.
func (o *overrides) check(ctx context.Context, manifests []string) (all []checked, err error) {
	for _, manifest := range manifests {
		for _, way := range o.ways(manifest) {
			c := checked{manifest: manifest}
			if err := c.check(ctx, way); err != nil {
				return nil, err
			}
			all = append(all, c)
		}
	}
	return all, nil
}

// ways returns the sets of flags to generate a manifest with: those given, or else one for each lock file.
func (o *overrides) ways(manifest string) (all []*overrides) {
	at, err := placeInModule(manifest)
	if len(o.flags(at.root)) > 0 || o.schemaFile != "" || err != nil {
		return []*overrides{o}
	}
	for _, flags := range generator.Remembered(filepath.Dir(manifest), path.Join(at.dir, filepath.Base(manifest))) {
		way := &overrides{}
		way.remember(at.root, flags)
		all = append(all, way)
	}
	if len(all) == 0 {
		return []*overrides{o}
	}
	return all
}

func (c *checked) check(ctx context.Context, o *overrides) error {
	c.command = o.command(c.manifest)
	s, err := o.load(c.manifest)
	if err != nil {
		return err
	}
	c.sources = s
	result, err := generator.Generate(ctx, s.config)
	if err != nil {
		return err
	}
	c.diagnostics = result.Diagnostics
	if c.diagnostics.HasErrors() {
		return nil
	}
	findings, refused, err := generator.Check(ctx, s.base, result)
	c.findings, c.diagnostics = findings, append(c.diagnostics, refused...)
	if slices.ContainsFunc(findings, func(f generator.Finding) bool { return f.Kind == generator.HandEdited }) {
		forced := *o
		forced.config.Docs = "" // docs has no --force, and generate updates a reference, too
		c.command = forced.command(c.manifest) + " --force"
	}
	return err
}

// command returns the command line that generates a manifest with these flags.
func (o *overrides) command(manifest string) string {
	words := []string{"mcpkiln", "generate"}
	if o.config.Docs != "" {
		words = []string{"mcpkiln", "docs", "--out", quoteWord(o.config.Docs)}
	}
	for _, name := range []string{"package", "out", "client", "server-name", "server-version"} {
		if value := *o.fields()[name]; value != "" {
			words = append(words, "--"+name, quoteWord(value))
		}
	}
	if len(o.config.Revisions) > 0 {
		words = append(words, "--revision", strings.Join(o.config.Revisions, ","))
	}
	if o.schemaFile != "" {
		words = append(words, "--schema", quoteWord(o.schemaFile))
	}
	return strings.Join(append(words, quoteWord(manifest)), " ")
}

// printText is for people: diagnostics and diffs.
func printText(out, errs io.Writer, all []checked, namesOnly bool) error {
	for _, c := range all {
		_ = c.sources.print(errs, c.diagnostics)
		for _, f := range c.findings {
			fmt.Fprintln(out, f)
			if !namesOnly {
				fmt.Fprint(out, f.Diff)
			}
		}
		if len(c.findings) > 0 {
			fmt.Fprintf(out, "%s: %s\n", c.manifest, generator.Summary(c.findings))
			fmt.Fprintf(out, "run: %s\n", c.command)
		}
	}
	return nil
}
