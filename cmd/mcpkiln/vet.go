package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/tools/go/packages"

	"github.com/mcpkiln/mcpkiln/generator/vet"
)

func newVet() *cobra.Command {
	var types string
	cmd := &cobra.Command{
		Use:   "vet [PACKAGE]...",
		Short: "Find mistakes in handlers that only mcpkiln knows to be mistakes",
		Long: strings.TrimSpace(`
vet looks at the handlers of tools and at what they call: cancellations that are returned as successes, waits that a cancellation does not
end, effects before a question, names of questions that are not stable, and the like. mcpkiln explain NAME explains a finding. PACKAGE is
named as for go vet, ./... by default. The exit status is 1 if there is a finding.

The same checks run by go vet -vettool=$(which mcpkiln) ./..., which also applies what they suggest (-fix), and in golangci-lint as the
analyzers of github.com/mcpkiln/mcpkiln/generator/vet.`),
		Example: strings.Trim(`
  mcpkiln vet
  mcpkiln vet --handlers mcp.CallToolRequest ./examples/...`, "\n"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := vet.Handlers.Flags.Set("types", types); err != nil {
				return err
			}
			if len(args) == 0 {
				args = []string{"./..."}
			}
			findings, err := vet.Run(".", args...)
			switch {
			case errors.As(err, new(packages.Error)):
				return fmt.Errorf("%w\n  only what compiles is looked at: go mod tidy, and then go build ./... say what is missing", err)
			case err != nil:
				return err
			}
			return printFindings(cmd, findings)
		},
	}
	cmd.Flags().StringVar(&types, "handlers", "", "types of a parameter, such as mcp.CallToolRequest, that makes a function a handler, too; separated by commas")
	return cmd
}

func printFindings(cmd *cobra.Command, findings []vet.Finding) error {
	for _, f := range findings {
		if _, err := fmt.Fprintf(cmd.ErrOrStderr(), "%s: warning[%s]: %s\n", f.Position, f.Analyzer, f.Message); err != nil {
			return err
		}
	}
	if len(findings) > 0 {
		return errFindings
	}
	return nil
}

// analyzerDocs returns the explanations of the findings of vet, by analyzer.
func analyzerDocs() map[string]string {
	docs := map[string]string{}
	for _, a := range vet.Analyzers {
		if a != vet.Handlers {
			docs[a.Name] = a.Doc + "\n"
		}
	}
	return docs
}

// isVetTool reports whether go vet runs the command as its -vettool: it asks for the version and the flags, then passes a file for each package.
func isVetTool(args []string) bool {
	if len(args) == 0 {
		return false
	}
	last := len(args) - 1
	isCommand := slices.ContainsFunc(args[:last], func(word string) bool { return !strings.HasPrefix(word, "-") })
	return args[0] == "-V=full" || args[0] == "-flags" || strings.HasSuffix(args[last], "vet.cfg") && !isCommand
}
