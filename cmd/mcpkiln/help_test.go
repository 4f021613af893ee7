package main

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestDAY07CommandsHaveAnExampleAndALine: the help of every command shows how it is called, with flags that it has, and the page lists it.
func TestDAY07CommandsHaveAnExampleAndALine(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := visible(newRoot(io.Discard))
	for _, cmd := range commands {
		path := cmd.CommandPath()
		if cmd.Parent().Parent() == nil && !strings.Contains(string(page), "`"+path) {
			t.Errorf("README.md does not name %s", path)
		}
		if cmd.Example == "" {
			t.Errorf("%s --help has no example", path)
		}
		for line := range strings.Lines(cmd.Example) {
			checkExample(t, cmd, strings.TrimSpace(line))
		}
	}
	t.Logf("%d commands", len(commands))
}

func checkExample(t *testing.T, cmd *cobra.Command, line string) {
	t.Helper()
	if strings.HasPrefix(line, "#") || !strings.Contains(line, "mcpkiln") {
		return
	}
	_, line, _ = strings.Cut(line, "mcpkiln ")
	words := strings.Fields(line)
	if end := slices.Index(words, "--"); end >= 0 {
		words = words[:end]
	}
	found, _, err := cmd.Root().Find(words)
	if err != nil || !strings.HasPrefix(found.CommandPath(), cmd.CommandPath()) {
		t.Errorf("the example %q of %s is one of %s (%v)", line, cmd.CommandPath(), found.CommandPath(), err)
	}
	for _, word := range words {
		name, isFlag := strings.CutPrefix(word, "--")
		if name, _, _ = strings.Cut(name, "="); isFlag && found.Flag(name) == nil {
			t.Errorf("%s has no flag --%s, which its example takes", cmd.CommandPath(), name)
		}
	}
}

// TestCommandsAreMadeByTheirNames: a command that is named is made alone, and is the same as beside the others.
func TestCommandsAreMadeByTheirNames(t *testing.T) {
	for _, c := range subcommands {
		if name := c.make().Name(); name != c.name {
			t.Errorf("%s makes %s", c.name, name)
		}
	}
	if alone := newRoot(io.Discard, "generate").Commands(); len(alone) != 1 || alone[0].Name() != "generate" {
		t.Errorf("generate is made with %d other commands", len(alone)-1)
	}
	if all := newRoot(io.Discard, "unknown").Commands(); len(all) != len(subcommands) {
		t.Errorf("an unknown name has %d commands to choose from, want %d", len(all), len(subcommands))
	}
}

// visible are the commands that help lists, below root.
func visible(root *cobra.Command) (all []*cobra.Command) {
	for _, cmd := range root.Commands() {
		if cmd.IsAvailableCommand() {
			all = append(append(all, cmd), visible(cmd)...)
		}
	}
	return all
}
