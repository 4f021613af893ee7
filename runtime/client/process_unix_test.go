//go:build unix

package client_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// What a child has started ends with it, and holds up nobody: neither with a grace nor without.
func TestAProcessThatAChildLeavesBehindEndsWithIt(t *testing.T) {
	for _, grace := range []time.Duration{0, time.Hour} {
		_, err := spawn(t, "leaves a child", client.WithGrace(grace))
		var lost *client.TransportError
		if !errors.As(err, &lost) {
			t.Fatalf("%v", err)
		}
		var pid int
		if _, err := fmt.Sscanf(lost.Stderr, "pid %d", &pid); err != nil {
			t.Fatalf("%q: %v", lost.Stderr, err)
		}
		awaitEnd(t, pid)
	}
}

// A child whose output is closed ends also if nobody closes the session.
func TestCAN26AChildWithoutOutputEndsByItself(t *testing.T) {
	s, err := spawn(t, "closes its output", client.WithRevision("2025-06-18"), client.WithGrace(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, _ = s.CallTool(t.Context(), "x", nil)
	var lost *client.TransportError
	if !errors.As(s.Err(), &lost) {
		t.Fatalf("%v", s.Err())
	}
	var pid int
	if _, err := fmt.Sscanf(lost.Stderr, "pid %d", &pid); err != nil {
		t.Fatalf("%q: %v", lost.Stderr, err)
	}
	awaitEnd(t, pid)
}

// awaitEnd waits until a process is gone. One that has ended may wait for its parent to look.
func awaitEnd(t *testing.T, pid int) {
	t.Helper()
	for range 3000 {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if _, after, _ := strings.Cut(string(stat), ") "); err != nil && syscall.Kill(pid, 0) != nil || strings.HasPrefix(after, "Z") {
			return
		}
		<-time.After(10 * time.Millisecond)
	}
	t.Errorf("process %d lives", pid)
}
