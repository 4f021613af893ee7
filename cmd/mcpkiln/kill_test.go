//go:build unix

package main

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// kills is how many references are tried in each revision.
var kills = flag.Int("kills", 4, "how many references of commands that were killed are tried in each revision")

// TestTSK27AReferenceThatWasPrintedIsGood: a command that leaves a task running is killed at any moment from its start, and one that waits for it,
// too. Whenever the first has printed a reference, another command gets the result by that.
func TestTSK27AReferenceThatWasPrintedIsGood(t *testing.T) {
	t.Parallel()
	url, _ := openShop(t)
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		_, whole := leave(t, url, revision, "whole", time.Hour)
		printed, killed, silent := 0, 0, 0
		for printed < *kills {
			label := strconv.Itoa(printed)
			after := time.Duration(rand.Int64N(int64(whole + whole/4)))
			ref, took := leave(t, url, revision, label, after)
			if ref == "" {
				silent++
				continue
			}
			printed++
			if took >= after {
				killed++
			}
			killAt(t, withToken(t, "task", "wait", ref), time.Duration(rand.Int64N(int64(whole))))
			out, err := withToken(t, "task", "wait", ref).Output()
			if err != nil || string(out) != "computed "+label+"\n" {
				t.Errorf("%s, killed after %v: %q, %v", revision, after, out, err)
			}
		}
		t.Logf("%s: %d references gave their result, %d of them of commands that were killed; %d were killed before", revision, printed, killed, silent)
	}
}

// leave calls a tool as a task and kills the command after some time. It returns the whole line that was printed, if one was, and how long
// the command lived.
func leave(t *testing.T, url, revision, label string, after time.Duration) (ref string, took time.Duration) {
	t.Helper()
	cmd := withToken(t, "call", "--detach", "--revision", revision, url, "slow_compute", "seconds=0", "label="+label)
	var out bytes.Buffer
	cmd.Stdout = &out
	took = killAt(t, cmd, after)
	line, _, whole := strings.Cut(out.String(), "\n")
	if !whole {
		return "", took
	}
	return line, took
}

// killAt runs a command, and kills it if it lives that long. It returns how long it lived.
func killAt(t *testing.T, cmd *exec.Cmd, after time.Duration) time.Duration {
	t.Helper()
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	_ = cmd.Wait()
	return time.Since(begun)
}
