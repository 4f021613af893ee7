//go:build versions

package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/internal/versions"
)

// A server is replaced by one of the version before or of this one, and that one by the first again: its clients see the same whichever come after
// each other, of a task that has ended, one that asks, and one that runs.
func TestDUR07VersionsOneAfterTheOther(t *testing.T) {
	for _, revision := range versions.Revisions {
		t.Run(revision, func(t *testing.T) {
			ends := map[string][]string{}
			for first := range versions.Programs {
				for second := range versions.Programs {
					t.Run(first+", "+second, func(t *testing.T) {
						end := replaced(versions.NewFleet(t), revision, first, second)
						ends[end] = append(ends[end], first+", "+second)
					})
				}
			}
			if len(ends) != 1 {
				t.Errorf("clients see different ends: %q", ends)
			}
			for end := range ends {
				t.Log(end)
			}
		})
	}
}

// replaced kills a server in the midst of its work, and has one of another version go on with its file, then the first one again.
func replaced(f *versions.Fleet, revision, first, second string) (end string) {
	f.Helper()
	f.Args = []string{"-tasks", filepath.Join(f.TempDir(), "tasks.db")}
	at, kill := f.Serve(first)
	c := versions.Connect(f, revision, at)
	next := func(version string) {
		c.AskNext(func() (at string) {
			kill()
			at, kill = f.Serve(version)
			return at
		})
	}
	refs := []client.Ref{
		c.Begin("build_report", map[string]any{"title": "Q1", "pages": 2}),
		c.Begin("import_orders", map[string]any{"source": "existing orders"}),
		c.Begin("build_report", map[string]any{"title": "Q2", "pages": 8}),
	}
	c.Reaches(refs[0], task.Completed)
	c.Reaches(refs[1], task.InputRequired)
	next(second)
	c.Answer()
	for _, ref := range refs {
		end += c.End(ref) + "\n"
	}
	next(first)
	for _, ref := range refs {
		end += c.End(ref) + "\n"
	}
	return end
}
