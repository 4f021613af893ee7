package endurance

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// server is what a manifest of these tests says.
type server struct {
	revisions []string
	tools     []tool
}

type tool struct {
	name, description string
	maximum           int
	task              bool
}

func (s server) manifest() string {
	var b strings.Builder
	fmt.Fprintf(&b, "protocol:\n  revisions: [%s]\nserver: {name: kiln, version: 1.0.0}\ngo: {out: kiln}\ntools:\n", strings.Join(s.revisions, ", "))
	for _, t := range s.tools {
		fmt.Fprintf(&b, "  %s:\n    description: %s\n", t.name, t.description)
		if t.task {
			b.WriteString("    execution: {taskSupport: optional}\n")
		}
		fmt.Fprintf(&b, "    inputSchema: {type: object, required: [id], properties: {id: {type: string}, n: {type: integer, maximum: %d}}}\n", t.maximum)
	}
	return b.String()
}

// edit is one change of a manifest that means the same on every branch.
type edit func(*server)

// randomEdit is an edit that branch makes: a tool more, at some place, or one less, or another sentence, bound, policy or revision.
func randomEdit(rng *rand.Rand, s server, branch string, i int) edit {
	at, bound := s.tools[rng.IntN(len(s.tools))].name, 100+rng.IntN(100)
	added := tool{name: fmt.Sprintf("%s_%d_%d", branch, i, rng.IntN(1000)), description: "New on " + branch + ".", maximum: rng.IntN(100), task: rng.IntN(4) == 0}
	change := func(do func(*tool)) edit {
		return func(s *server) {
			if i := s.find(at); i >= 0 {
				do(&s.tools[i])
			}
		}
	}
	switch rng.IntN(8) {
	default:
		return func(s *server) { s.tools = slices.Insert(s.tools, s.find(at)+1, added) }
	case 3:
		return func(s *server) {
			if i := s.find(at); i >= 0 && len(s.tools) > 2 {
				s.tools = slices.Delete(s.tools, i, i+1)
			}
		}
	case 4:
		return change(func(t *tool) { t.description = "Reworded on " + branch + "." })
	case 5:
		return change(func(t *tool) { t.maximum = bound })
	case 6:
		return change(func(t *tool) { t.task = !t.task })
	case 7:
		return func(s *server) { s.revisions = []string{`"2026-07-28"`, `"2025-06-18"`} }
	}
}

// find is the index of a tool; -1: it is gone.
func (s *server) find(name string) int {
	return slices.IndexFunc(s.tools, func(t tool) bool { return t.name == name })
}

// with is s after edits, which leave s alone.
func (s server) with(edits []edit) server {
	s.tools = slices.Clone(s.tools)
	for _, e := range edits {
		e(&s)
	}
	return s
}

// TestDAY04Merges merges pairs of branches with random edits of one manifest, each generated and committed. The lock never conflicts, and
// one generate makes what the merged manifest says, from whatever the merge left of generated files.
func TestDAY04Merges(t *testing.T) {
	rng := random(t)
	conflicts, byHand := 0, 0
	for i := range *merges {
		base := server{revisions: []string{`"2026-07-28"`, `"2025-11-25"`}}
		for n := range 6 {
			base.tools = append(base.tools, tool{name: fmt.Sprintf("tool_%d", n), description: "Does it.", maximum: n})
		}
		edits := map[string][]edit{}
		for _, branch := range []string{"ours", "theirs"} {
			for n := range 1 + rng.IntN(3) {
				edits[branch] = append(edits[branch], randomEdit(rng, base, branch, n))
			}
		}
		r := repository{t: t, dir: module(t)}
		unmerged := r.merge(base, base.with(edits["ours"]), base.with(edits["theirs"]))
		if slices.Contains(unmerged, "kiln/mcpkiln.lock") {
			t.Errorf("merge %d: the lock conflicts", i)
		}
		if slices.Contains(unmerged, "mcpkiln.yaml") { // which a person resolves
			byHand++
			put(t, r.dir, "mcpkiln.yaml", base.with(slices.Concat(edits["ours"], edits["theirs"])).manifest())
		}
		conflicts += len(unmerged)
		generate(t, r.dir)
		mustRun(t, r.dir, mcpkiln, "check")
		mustRun(t, r.dir, "go", "build", "./...")
		r.git("add", "-A")
		r.git("commit", "-q", "--allow-empty", "-m", "merged")
	}
	t.Logf("%d merges: 0 conflicts in the lock, and one generate built each; %d generated files conflicted, %d manifests", *merges, conflicts-byHand, byHand)
}

type repository struct {
	t   *testing.T
	dir string
}

func (r repository) git(args ...string) string {
	r.t.Helper()
	own := []string{"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false", "-c", "core.hooksPath=none", "-c", "merge.conflictStyle=merge"}
	return mustRun(r.t, r.dir, "git", append(own, args...)...)
}

// commit generates and commits what s says.
func (r repository) commit(s server, message string) {
	r.t.Helper()
	put(r.t, r.dir, "mcpkiln.yaml", s.manifest())
	generate(r.t, r.dir)
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", message)
}

// merge makes two branches of base, merges them, and returns the files that conflict.
func (r repository) merge(base, ours, theirs server) []string {
	r.t.Helper()
	r.git("init", "-q", "-b", "base")
	r.commit(base, "base")
	r.git("checkout", "-q", "-b", "theirs")
	r.commit(theirs, "theirs")
	r.git("checkout", "-q", "-b", "ours", "base")
	r.commit(ours, "ours")
	merge := command(r.t.Context(), r.dir, "git", "-c", "user.name=t", "-c", "user.email=t@example.com", "merge", "-q", "-m", "merge", "theirs")
	out, err := merge.CombinedOutput()
	unmerged := strings.Fields(r.git("diff", "--name-only", "--diff-filter=U"))
	if (err != nil) != (len(unmerged) > 0) {
		r.t.Fatalf("git merge: %v, %v\n%s", err, unmerged, out)
	}
	return unmerged
}
