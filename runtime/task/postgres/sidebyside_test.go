//go:build versions

package postgres

import (
	"sync"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/internal/versions"
)

// pair is a client that makes a task on one server and goes on with it on another.
type pair struct {
	*versions.Client
	maker, follower string
	killMaker       func()
}

// begin makes a task, and waits until the other server says that it has a status.
func (p *pair) begin(tool string, args any, status task.Status) client.Ref {
	p.Helper()
	ref := p.Begin(tool, args)
	p.Ask(p.follower)
	defer p.Answer()
	p.Reaches(ref, status)
	return ref
}

// both are the ends as both servers tell them.
func (p *pair) both(ref client.Ref) string {
	p.Ask(p.follower)
	end := p.End(ref)
	p.Ask(p.maker)
	return end + "\n" + p.End(ref)
}

// stories are what happens to a task between two servers. Each returns what the client saw at the end.
var stories = map[string]func(p *pair) string{
	"finished": func(p *pair) string {
		return p.both(p.begin("build_report", map[string]any{"title": "Q3", "pages": 5}, task.Completed))
	},
	"asks, answered elsewhere": func(p *pair) string {
		return p.both(p.begin("import_orders", map[string]any{"source": "existing orders"}, task.InputRequired))
	},
	"cancelled elsewhere": func(p *pair) string {
		ref := p.begin("build_report", map[string]any{"title": "Q3", "pages": 1000}, task.Working)
		x, err := p.Resume(p.Context(), ref)
		if err == nil {
			err = x.Cancel(p.Context(), "enough")
		}
		if err != nil {
			p.Fatal(err)
		}
		return p.both(ref)
	},
	"killed": func(p *pair) string {
		ref := p.begin("build_report", map[string]any{"title": "Q3", "pages": 20}, task.Working)
		p.killMaker()
		p.Reaches(ref, task.Completed)
		return p.End(ref)
	},
}

// Servers of the version before and of this one share a database: whatever happens to a task, its clients see the same, whichever versions they ask.
func TestDUR07VersionsSideBySide(t *testing.T) {
	all := versions.NewFleet(t)
	all.Env = append(all.Env, "MCPKILN_TASKS="+newURL(t))
	stay := map[string]string{}
	for version := range versions.Programs {
		stay[version], _ = all.Serve(version)
	}
	for _, revision := range versions.Revisions {
		for name, story := range stories {
			t.Run(revision+", "+name, func(t *testing.T) {
				t.Parallel()
				var mu sync.Mutex
				ends := map[string][]string{}
				t.Run("pairs", func(t *testing.T) {
					for maker := range versions.Programs {
						for follower := range versions.Programs {
							t.Run(maker+", "+follower, func(t *testing.T) {
								t.Parallel()
								f := all.In(t)
								at, kill := f.Serve(maker)
								end := story(&pair{versions.Connect(f, revision, at), at, stay[follower], kill})
								mu.Lock()
								defer mu.Unlock()
								ends[end] = append(ends[end], maker+", "+follower)
							})
						}
					}
				})
				if len(ends) != 1 {
					t.Errorf("clients see different ends: %q", ends)
				}
				for end := range ends {
					t.Logf("%s", end)
				}
			})
		}
	}
}
