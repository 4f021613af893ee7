package main

import (
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/generator"
)

// newPrune returns the command that the go:generate lines of placeholders run (see generator.Options).
func newPrune() *cobra.Command {
	return &cobra.Command{
		Use:    "prune FILE",
		Short:  "Remove a placeholder that a run under go generate left",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE:   func(_ *cobra.Command, args []string) error { return generator.Prune(args[0]) },
	}
}

// underGoGenerate reports whether go generate runs this process, and returns how a directive in another directory can run mcpkiln prune.
func underGoGenerate() (yes bool, prune string) {
	file := os.Getenv("GOFILE")
	line, err := strconv.Atoi(os.Getenv("GOLINE"))
	if file == "" || err != nil {
		return false, ""
	}
	text, _ := os.ReadFile(file)
	lines := strings.Split(string(text), "\n")
	if line < 1 || line > len(lines) {
		return true, ""
	}
	return true, pruneCommand(lines[line-1])
}

// pruneCommand replaces generate by prune in a directive, if the command means the same in other directories of the module.
//
//	//go:generate go tool mcpkiln generate api.yaml  →  go tool mcpkiln prune
func pruneCommand(directive string) string {
	words := strings.Fields(strings.TrimPrefix(directive, "//go:generate"))
	i := slices.Index(words, "generate")
	if i < 1 {
		return ""
	}
	command, _, _ := strings.Cut(path.Base(words[i-1]), "@")
	if command != "mcpkiln" || slices.ContainsFunc(words[:i], func(w string) bool { return strings.HasPrefix(w, ".") || strings.ContainsAny(w, "\"$") }) {
		return ""
	}
	return strings.Join(append(words[:i:i], "prune"), " ")
}
