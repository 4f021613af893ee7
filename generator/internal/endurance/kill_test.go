package endurance

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// variants of a manifest that differ in revisions, features, tools and directory, so that files come, go and change from each to each.
func variants() []string {
	return []string{
		variant("kiln", 12, "", `"2026-07-28", "2025-11-25"`),
		variant("kiln", 9, "    execution: {taskSupport: optional}\n", `"2025-11-25", "2025-06-18", "2024-11-05"`),
		variant("internal/kiln", 14, "", `"2026-07-28"`),
		variant("kiln", 12, "    elicitations: {sure: {message: Sure, schema: {type: object, properties: {yes: {type: boolean}}}}}\n", `"2026-07-28", "2025-11-25"`),
	}
}

func variant(out string, tools int, more, revisions string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "protocol: {revisions: [%s]}\nserver: {name: kiln, version: 1.0.0}\ngo: {out: %s}\ntools:\n", revisions, out)
	for i := range tools {
		fmt.Fprintf(&b, "  tool_%d:\n    description: Does %d of %d.\n%s", i, i, tools, more)
		b.WriteString("    inputSchema: {type: object, required: [id], properties: {id: {type: string, minLength: 1}, n: {type: integer, maximum: 9}}}\n")
	}
	return b.String()
}

// scratch is what a module looks like in which nothing but a manifest was ever generated.
func scratch(t *testing.T, manifest string) string {
	t.Helper()
	dir := module(t)
	put(t, dir, "mcpkiln.yaml", manifest)
	generate(t, dir)
	return tree(t, dir)
}

// TestDAY01KilledRuns kills runs at random moments, and at moments in which they write. Whatever that leaves, one run makes it what a
// run from scratch does: no mixture, no temporary folder, no file of a former generation.
func TestDAY01KilledRuns(t *testing.T) {
	rng := random(t)
	all := variants()
	var want []string
	for _, v := range all {
		want = append(want, scratch(t, v))
	}
	dir := module(t)
	half := 0
	for i := range *kills {
		began := rng.IntN(len(all))
		put(t, dir, "mcpkiln.yaml", all[began])
		before := tree(t, dir)
		killOne(t, dir, i%2 == 0, time.Duration(rng.Int64N(int64(60*time.Millisecond))), rng.IntN(400))
		if after := tree(t, dir); after != before && after != want[began] {
			half++
		}
		if i%3 == 0 {
			continue // on what this one leaves, the next one is killed
		}
		ends := rng.IntN(len(all))
		put(t, dir, "mcpkiln.yaml", all[ends])
		generate(t, dir)
		if got := tree(t, dir); got != want[ends] {
			t.Fatalf("kill %d, then a run:\n%swant\n%s", i, names(got), names(want[ends]))
		}
		mustRun(t, dir, mcpkiln, "check")
	}
	t.Logf("%d kills, %d of them half-way: 0 mixed, 0 leftovers, 0 stale files", *kills, half)
}

// killOne starts a run and kills it: after a delay, or when its stage has been seen a number of times.
func killOne(t *testing.T, dir string, writing bool, delay time.Duration, looks int) {
	t.Helper()
	cmd := command(t.Context(), dir, mcpkiln, "generate")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	if writing {
		seen(ended, dir, looks)
	} else {
		select { // no moment is better than another
		case <-time.After(delay):
		case <-ended:
		}
	}
	_ = cmd.Process.Kill()
	<-ended
}

// seen returns when a stage in dir was there so many times, or when the run has ended.
func seen(ended <-chan struct{}, dir string, looks int) {
	stages := []string{filepath.Join(dir, "kiln", ".mcpkiln.tmp"), filepath.Join(dir, "internal/kiln", ".mcpkiln.tmp")}
	for looks >= 0 {
		select {
		case <-ended:
			return
		default:
		}
		if slices.ContainsFunc(stages, func(s string) bool { _, err := os.Lstat(s); return err == nil }) {
			looks--
		}
	}
}

// TestDAY02PairsOfRuns starts two runs at once: of two manifests with one directory, of which one is refused, and of one manifest that
// changes between them, whose last state wins.
func TestDAY02PairsOfRuns(t *testing.T) {
	rng := random(t)
	all := variants()
	mine, theirs := all[0], all[1]
	wantMine, wantTheirs := scratch(t, mine), scratch(t, theirs)
	for i := range *pairs {
		dir := module(t)
		if i%2 == 0 {
			refused := twoManifests(t, dir, mine, theirs)
			if !strings.Contains(refused, "error[out-shared]") || !strings.Contains(refused, "mcpkiln.yaml") || !strings.Contains(refused, "other.yaml") {
				t.Fatalf("pair %d: one is to be refused, with both names: %s", i, refused)
			}
			continue
		}
		put(t, dir, "mcpkiln.yaml", mine)
		first := command(t.Context(), dir, mcpkiln, "generate")
		if err := first.Start(); err != nil {
			t.Fatal(err)
		}
		select { // the change comes at any moment of the first run
		case <-time.After(time.Duration(rng.Int64N(int64(40 * time.Millisecond)))):
		case <-t.Context().Done():
		}
		put(t, dir, "mcpkiln.yaml", theirs)
		generate(t, dir)
		if err := first.Wait(); err != nil {
			t.Fatal(err)
		}
		if got := tree(t, dir); got != wantTheirs {
			t.Fatalf("pair %d: mine: %v\n%s", i, got == wantMine, names(got))
		}
	}
	t.Logf("%d pairs: 0 mixed", *pairs)
}

// twoManifests runs both at once and returns what the one that was refused said; the other's package is complete.
func twoManifests(t *testing.T, dir, mine, theirs string) (refused string) {
	t.Helper()
	put(t, dir, "mcpkiln.yaml", mine)
	put(t, dir, "other.yaml", theirs)
	var wg sync.WaitGroup
	said := make([]string, 2)
	errs := make([]error, 2)
	manifests := []string{"mcpkiln.yaml", "other.yaml"}
	for i, m := range manifests {
		wg.Go(func() {
			out, err := command(t.Context(), dir, mcpkiln, "generate", m).CombinedOutput()
			said[i], errs[i] = string(out), err
		})
	}
	wg.Wait()
	if (errs[0] == nil) == (errs[1] == nil) {
		t.Fatalf("%v\n%s\n%v\n%s", errs[0], said[0], errs[1], said[1])
	}
	for i, err := range errs {
		if err == nil {
			mustRun(t, dir, mcpkiln, "check", manifests[i])
			refused = said[1-i]
		}
	}
	return refused
}
