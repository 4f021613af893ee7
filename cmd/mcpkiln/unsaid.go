package main

import (
	"fmt"
	"io"

	"github.com/mcpkiln/mcpkiln/schema"
)

// tasksExtension is the capability of tasks in revisions where the server decides which calls become one, and its list of tools says nothing of it.
const tasksExtension = "io.modelcontextprotocol/tasks"

// unsaidTasks reports whether a server has tasks, and its list of tools does not say which of them run as one.
func unsaidTasks(capabilities *schema.Node, said bool) bool {
	return !said && capabilities.Get("extensions").Get(tasksExtension) != nil
}

// noteUnsaidTasks says to whoever makes a manifest of a list that it says of no tool that it runs as a task, though the server has tasks.
func noteUnsaidTasks(stderr io.Writer, revision string, capabilities *schema.Node, said bool) {
	if unsaidTasks(capabilities, said) {
		fmt.Fprintf(stderr, "mcpkiln: the server has tasks, and a list of %s does not say which tools run as one: write execution: {taskSupport: optional} at those in a manifest, or import with --revision 2025-11-25\n", revision)
	}
}
