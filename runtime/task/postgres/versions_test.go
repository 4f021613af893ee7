package postgres

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/task/internal/chaos"
)

// Replicas of this version and of the one before share a database during a deploy. What was acknowledged by either is there at the end, and
// both see the same. The one before is this one with its format; `make versions` has programs of history.
func TestDUR07ReplicasOfTheVersionBeforeWorkBesideThisOne(t *testing.T) {
	before := compileBefore(t)
	url, h := newURL(t), chaos.NewHistory()
	start := func(node string, n int) *chaos.Process {
		r := chaos.Replica{Target: url, Node: fmt.Sprint(node, "-", n), Lease: *lease, Creators: 4}
		if node == "before" {
			r.Program = before
		}
		return replica(t, h, r)
	}
	replicas := map[string]*chaos.Process{"before": start("before", 0), "now": start("now", 0), "too": start("too", 0)}
	for n := range 2 { // of which each ends in the middle of its work once, one of each version
		for node := range replicas {
			runs := func() bool { return len(h.Said("runs", fmt.Sprint(node, "-", n))) >= 30 }
			if err := h.Await(within(t), runs); err != nil {
				t.Fatalf("%s: %v: %s", node, err, h)
			}
			if err := replicas[node].Kill(); err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				replicas[node] = start(node, 1)
			}
		}
	}
	store := openAt(t, url, Options{})
	if err := h.Settle(within(t), store, *lease); err != nil {
		t.Fatal(err)
	}
	for n, program := range []string{before, ""} {
		p := replica(t, h, chaos.Replica{Target: url, Node: fmt.Sprint("reader-", n), Lease: *lease, Reads: true, Program: program})
		if _, err := p.Wait(); err != nil {
			t.Fatal(err)
		}
		if got := h.Said("format", p.Node); !slices.Equal(got, []string{fmt.Sprint(n + 1)}) {
			t.Errorf("%s has format %v", p.Node, got)
		}
		if len(h.Said("closed", p.Node)) == 0 || h.Count("unread") > 0 {
			t.Errorf("%s can not read what there is: %v", p.Node, h.Said("unread", h.IDs("unread")[0]))
		}
	}
	for _, wrong := range h.Check(t.Context(), store) {
		t.Error(wrong)
	}
	t.Log(h)
}

// compileBefore compiles these tests with the format before. With the race detector if they have it themselves: then most of it is compiled already.
func compileBefore(t *testing.T) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "before.test")
	args := []string{"test", "-c", "-vet=off", "-tags", "mcpkiln_format_before", "-o", program}
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		args = append(args, "-race")
	}
	if out, err := exec.Command("go", append(args, ".")...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}
