//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/screen"
)

// command is one run of mcpkiln in an environment of its own.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("mcpkiln", args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "XDG_CONFIG_HOME="+cmd.Dir,
		"GORACE=exitcode=0 log_path="+filepath.Join(cmd.Dir, "race")) // the library of forms is not free of races when it ends
	return cmd
}

// withToken is one run of mcpkiln by somebody with an identity.
func withToken(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := command(t, args...)
	cmd.Env = append(cmd.Env, "MCPKILN_TOKEN=ann")
	return cmd
}

// exits waits for the end of a command on a screen, and returns all that it has drawn.
func exits(t *testing.T, cmd *exec.Cmd, s *screen.Screen, want int) string {
	t.Helper()
	s.Ended()
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != want {
		t.Errorf("exit status %d, want %d:\n%q", got, want, s.Raw())
	}
	return s.Text()
}

// TestCAN15CtrlCCancels: over HTTP, by what the revision has for that.
func TestCAN15CtrlCCancels(t *testing.T) {
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		for tool, shows := range map[string]string{"test_tool_with_progress": `1/4  \x1b[31mslow`, "multi_input": "the task is working"} {
			t.Run(revision+" "+tool, func(t *testing.T) {
				url, h := openShop(t)
				cmd := command(t, "call", "--revision", revision, url, tool)
				s := screen.Start(t, cmd)
				<-h.started
				s.Sees(shows)
				s.Types("\x03")
				text := exits(t, cmd, s, exitInterrupted)
				if !strings.HasSuffix(strings.TrimSpace(text), "mcpkiln: interrupted") {
					t.Errorf("%q", text)
				}
				if got := <-h.started; !strings.HasPrefix(got, "ended: ") {
					t.Error(got)
				}
			})
		}
	}
}

// TestCAN15CtrlCReachesAServerOnAPipeAsACancellation: it is not interrupted itself, and has time to end.
func TestCAN15CtrlCReachesAServerOnAPipeAsACancellation(t *testing.T) {
	cmd := command(t, "call", "-v", "test_tool_with_progress", "--", "shop")
	s := screen.Start(t, cmd)
	s.Sees(`1/4  \x1b[31mslow`)
	s.Types("\x03")
	text := exits(t, cmd, s, exitInterrupted)
	if !strings.Contains(text, "ended: request ended by peer") {
		t.Errorf("%q", text)
	}
}

// TestASecondCtrlCEndsAtOnce: also while a server takes its time. A shell calls that status 130.
func TestASecondCtrlCEndsAtOnce(t *testing.T) {
	cmd := command(t, "call", "test_tool_with_progress", "--", "deaf")
	s := screen.Start(t, cmd)
	s.Sees("slow")
	s.Types("\x03")
	s.Sees("Ctrl-C again ends at once")
	s.Types("\x03")
	s.Ended()
	_ = cmd.Wait()
	if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); !ws.Signaled() || ws.Signal() != syscall.SIGINT {
		t.Errorf("%v", cmd.ProcessState)
	}
}

func TestAQuestionIsAFormOnATerminal(t *testing.T) {
	url, _ := openShop(t)
	for _, c := range []struct {
		keys, want string
		status     int
	}{{"y", "accept true", 0}, {"\x1b", "decline false", 0}, {"\x03", "mcpkiln: interrupted", exitInterrupted}} {
		for _, revision := range []string{"2026-07-28", "2025-11-25"} {
			cmd := command(t, "call", "--revision", revision, url, "confirm_delete", "filename=f")
			s := screen.Start(t, cmd)
			s.Sees("conformance asks")
			s.Sees("Delete f?")
			s.Types(c.keys)
			if text := exits(t, cmd, s, c.status); !strings.HasSuffix(strings.TrimSpace(text), c.want) {
				t.Errorf("%s %q: %q", revision, c.keys, text)
			}
		}
	}
}
