package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/colour"
	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
	"github.com/mcpkiln/mcpkiln/schema"
)

// newRoot returns the root command, with the commands that a command line may need. Diagnostics go to stderr, which may be a terminal.
func newRoot(stderr io.Writer, args ...string) *cobra.Command {
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
	var dir, colours string
	root.PersistentFlags().StringVarP(&dir, "directory", "C", "", "run in this directory")
	root.PersistentFlags().StringVar(&colours, "color", "auto", "colour diagnostics: auto, always or never")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := colourDiagnostics(root, stderr, colours); err != nil {
			return err
		}
		if dir == "" {
			return nil
		}
		return os.Chdir(dir)
	}
	root.AddCommand(commandsFor(args)...)
	root.SetFlagErrorFunc(flagError)
	for _, cmd := range root.Commands() {
		showUsage(cmd)
		if cmd.HasSubCommands() && !cmd.Runnable() {
			refuseUnknown(cmd)
		}
	}
	refuseUnknown(root)
	return root
}

// subcommands make the commands below the root, by their names.
var subcommands = []struct {
	name string
	make func() *cobra.Command
}{
	{"init", newInit}, {"import", newImport}, {"add", newAdd}, {"generate", newGenerate}, {"check", newCheck}, {"diff", newDiff}, {"docs", newDocs},
	{"schema", newSchema}, {"call", newCall}, {"task", newTask}, {"tools", newTools}, {"version", newVersion}, {"explain", newExplain}, {"vet", newVet},
	{"prune", newPrune},
}

// commandsFor returns the command whose name args begin with: it needs no other, and to register the flags of all takes time. It returns all if there
// is no such command.
func commandsFor(args []string) (all []*cobra.Command) {
	for _, c := range subcommands {
		if len(args) > 0 && args[0] == c.name {
			return []*cobra.Command{c.make()}
		}
	}
	for _, c := range subcommands {
		all = append(all, c.make())
	}
	return all
}

// refuseUnknown makes a name that is no command below cmd an error. Without one the program prints its help, and a command how it is used: it has done nothing.
func refuseUnknown(cmd *cobra.Command) {
	cmd.Args, cmd.DisableFlagsInUseLine = cobra.ArbitraryArgs, true
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0 && cmd.HasParent():
			fmt.Fprint(cmd.ErrOrStderr(), cmd.UsageString())
			return &statusError{exitRefused, nil}
		case len(args) == 0:
			return cmd.Help()
		}
		return unknownCommand(cmd, args[0])
	}
}

func unknownCommand(cmd *cobra.Command, name string) error {
	var known []string
	for _, below := range cmd.Commands() {
		known = append(known, below.Name())
	}
	return fmt.Errorf("unknown command %q%s\n  %s --help lists all commands", name, meant(name, known), cmd.CommandPath())
}

// addStandard adds the commands help and completion, and makes them refuse unknown names, too. It comes after SetOut: completion keeps the output.
func addStandard(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "completion":
			refuseUnknown(cmd)
		case "help":
			show := cmd.Run
			cmd.RunE = func(cmd *cobra.Command, args []string) error {
				if of, rest, err := root.Find(args); err == nil && len(rest) > 0 && of.HasSubCommands() {
					return unknownCommand(of, rest[0])
				}
				show(cmd, args)
				return nil
			}
		}
	}
}

// named is what commands take as name=text, by their paths.
var named = map[string]string{"mcpkiln call": "an argument of the tool", "mcpkiln task answer": "a field of the form"}

// flagError adds to the error of a flag where all flags are listed, and to that of an unknown one which is probably meant.
func flagError(cmd *cobra.Command, err error) error {
	hint := ""
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
		name := unknown.GetSpecifiedName()
		if group := unknown.GetSpecifiedShortnames(); group != "" { // -name=text is read as one flag for each letter
			name, _, _ = strings.Cut(group, "=")
		}
		hint = meant("--"+name, known)
		if what := named[cmd.CommandPath()]; hint == "" && what != "" {
			hint = fmt.Sprintf("\n  %s is written without dashes: %s=…", what, name)
		}
		for _, below := range cmd.Commands() {
			if below.Name() == name {
				hint = ": did you mean " + below.CommandPath() + "?"
			}
		}
	}
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok && wrong.GetFlag().Value.Type() == "duration" {
		if _, bare := strconv.Atoi(wrong.GetValue()); bare == nil {
			hint = fmt.Sprintf("\n  a time has a unit: --%s %ss", wrong.GetFlag().Name, wrong.GetValue())
		}
	}
	return fmt.Errorf("%w%s\n  %s --help lists all flags", err, hint, cmd.CommandPath())
}

// meant returns a suggestion that goes behind a message, "" for none.
func meant(given string, known []string) string {
	if hint := schema.DidYouMean(given, known); hint != "" {
		return ": " + hint
	}
	return ""
}

// showUsage adds the usage line to the errors of cmd and its subcommands about too few or too many arguments.
func showUsage(cmd *cobra.Command) {
	for _, below := range cmd.Commands() {
		showUsage(below)
	}
	if takes := cmd.Args; takes != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if takes(cmd, args) != nil {
				given := "many"
				if takes(cmd, append(slices.Clip(args), "one more")) == nil {
					given = "few"
				}
				return fmt.Errorf("too %s arguments: write %s\n  %s --help has examples", given, cmd.UseLine(), cmd.CommandPath())
			}
			return nil
		}
	}
}

func colourDiagnostics(root *cobra.Command, stderr io.Writer, when string) error {
	switch when {
	case "always":
	case "never":
		return nil
	case "auto":
		if !colour.Wanted(stderr) {
			return nil
		}
	default:
		return fmt.Errorf("--color %s: it is auto, always or never", when)
	}
	root.SetErr(plain.Writer(colour.Writer(stderr)))
	return nil
}
