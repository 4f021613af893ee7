package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/generator"
	"github.com/mcpkiln/mcpkiln/schema"
)

func newExplain() *cobra.Command {
	var flags overrides
	var manifest string
	cmd := &cobra.Command{
		Use:   "explain CODE | TOOL",
		Short: "Explain a diagnostic, or what becomes of a tool",
		Long: strings.TrimSpace(`
explain CODE says which rule a diagnostic keeps, and shows manifests that break it with what to write instead. explain TOOL shows
the method and the types of a tool of the manifest, how it runs, what clients of each revision see of it, and the files
that it is generated into. Without an argument it lists the codes.`),
		Example: strings.Trim(`
  mcpkiln explain unknown-key
  mcpkiln explain get_quote
  mcpkiln explain --manifest api.yaml get_quote`, "\n"),
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return codes(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), strings.Join(codes(), "\n"))
				return err
			}
			if text := explanations()[args[0]]; text != "" && manifest == "" {
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %s", args[0], text)
				return err
			}
			return flags.explain(cmd, manifest, args[0])
		},
	}
	flags.register(cmd)
	cmd.Flags().StringVar(&manifest, "manifest", "", "the manifest that has the tool; mcpkiln.yaml in this directory by default")
	return cmd
}

// explanations returns those of diagnostics, by code, and of the findings of vet, by analyzer.
func explanations() map[string]string {
	all := analyzerDocs()
	maps.Copy(all, generator.Explanations())
	return all
}

// codes returns the codes that have an explanation, sorted.
func codes() []string { return slices.Sorted(maps.Keys(explanations())) }

// explain explains a tool of a manifest.
func (o *overrides) explain(cmd *cobra.Command, path, tool string) error {
	if path == "" {
		var err error
		if path, err = manifestPath(nil); err != nil {
			if hint := schema.DidYouMean(tool, codes()); hint != "" {
				return fmt.Errorf("%q is no code of a diagnostic; %s", tool, hint)
			}
			return fmt.Errorf("%q is no code of a diagnostic, and there is no manifest in this directory whose tool it could be", tool)
		}
	}
	s, err := o.load(path)
	var result *generator.Result
	if err == nil {
		if result, err = generator.Generate(cmd.Context(), s.config); err != nil {
			return err
		}
		err = result.Diagnostics.Err()
	}
	if data := s.config.Manifest.Data; err != nil && len(data) > 0 && !bytes.Contains(data, []byte(tool)) {
		return neither(tool, path, codes()) // whatever else is wrong with the manifest, it has no such tool
	}
	if result == nil {
		return err
	}
	if err := s.print(cmd.ErrOrStderr(), result.Diagnostics); err != nil {
		return err
	}
	text, ok := result.Explain(tool)
	if !ok {
		var names []string
		for _, t := range result.Tools {
			names = append(names, t.Name)
		}
		if schema.DidYouMean(tool, slices.Concat(names, codes())) == "" {
			path += ", which has " + strings.Join(names, ", ")
		}
		return neither(tool, path, slices.Concat(names, codes()))
	}
	_, err = fmt.Fprint(cmd.OutOrStdout(), text)
	return err
}

// neither returns the error for a word that is neither a code nor a tool.
func neither(word, path string, known []string) error {
	text := fmt.Sprintf("%q is neither a code of a diagnostic nor a tool of %s", word, path)
	if hint := schema.DidYouMean(word, known); hint != "" {
		text += "; " + hint
	}
	return errors.New(text)
}
