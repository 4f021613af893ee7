package main

import (
	"fmt"
	"io"

	"github.com/mcpkiln/mcpkiln/schema"
)

// tasksExtension is the capability of tasks in revisions where the server decides which calls become one, and its list of tools says nothing of it.
const tasksExtension = "io.modelcontextprotocol/tasks"

// noteUnsaidTasks says that a server has tasks, if its list of tools does not say which of them run as one: what is made of the list says it of none.
func noteUnsaidTasks(stderr io.Writer, revision string, capabilities *schema.Node, said bool) {
	if !said && capabilities.Get("extensions").Get(tasksExtension) != nil {
		fmt.Fprintf(stderr, "mcpkiln: the server has tasks, and a list of %s does not say which tools run as one: write execution: {taskSupport: optional} at those in a manifest, or import with --revision 2025-11-25\n", revision)
	}
}
