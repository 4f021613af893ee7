//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/screen"
)

// command is one run of mcpkiln in an environment of its own.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("mcpkiln", args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "XDG_CONFIG_HOME="+cmd.Dir,
		"GORACE="+raceExits+" exitcode=0 log_path="+filepath.Join(cmd.Dir, "race")) // the library of forms is not free of races when it ends
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
		for tool, c := range map[string]struct{ shows, ends string }{
			"test_tool_with_progress": {`1/4  \x1b[31mslow`, "mcpkiln: interrupted\r\n  the server was asked to cancel the call; a tool that can not be cancelled goes on"},
			"multi_input":             {"the task is working", "mcpkiln: interrupted\r\n  the task is cancelled"},
		} {
			t.Run(revision+" "+tool, func(t *testing.T) {
				url, h := openShop(t)
				cmd := command(t, "call", "--revision", revision, url, tool)
				s := screen.Start(t, cmd)
				<-h.started
				s.Sees(c.shows)
				s.Types("\x03")
				ends := c.ends
				if strings.HasSuffix(ends, "goes on") && revision > firstWithTasks {
					ends = "mcpkiln: interrupted\r\n  " + strings.ReplaceAll(mayHaveBegun, "\n", "\r\n")
				}
				text := exits(t, cmd, s, exitInterrupted)
				if !strings.HasSuffix(strings.TrimSpace(text), ends) {
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
	if !strings.Contains(text, "ended: request ended by peer") || !strings.HasSuffix(strings.TrimSpace(text), "asked to cancel the call, and ends with this command") {
		t.Errorf("%q", text)
	}
}

// ended waits until the process is gone whose id a file has.
func ended(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	pid, err2 := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	for range 3000 {
		if syscall.Kill(pid, 0) != nil {
			return
		}
		<-time.After(10 * time.Millisecond)
	}
	t.Errorf("the server lives, process %d", pid)
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

// withPid is the command of a server that leaves its process id in a file.
func withPid(t *testing.T, name string) (file string, words []string) {
	file = filepath.Join(t.TempDir(), "pid")
	return file, []string{"--", "sh", "-c", `echo $$ > "$0"; exec ` + name, file}
}

// TestNoServerOnAPipeOutlivesTheCommand: not one that ignores all that asks it to end, if the command is asked to end. Where the command is
// killed its servers see the end of their input.
func TestNoServerOnAPipeOutlivesTheCommand(t *testing.T) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP) // so that commands do not ignore it, which they would learn from a test under nohup
	defer signal.Stop(hangups)
	for _, c := range []struct {
		server string
		ends   []syscall.Signal
	}{
		{"deaf", []syscall.Signal{syscall.SIGHUP}},
		{"deaf", []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP}},
		{"deaf", []syscall.Signal{syscall.SIGINT, syscall.SIGINT}},
		{"deaf", []syscall.Signal{syscall.SIGQUIT}},
		{"deaf", []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT}},
		{"shop", []syscall.Signal{syscall.SIGKILL}},
	} {
		t.Run(fmt.Sprint(c.server, c.ends), func(t *testing.T) {
			file, words := withPid(t, c.server)
			cmd := command(t, append([]string{"call", "test_tool_with_progress"}, words...)...)
			s := screen.Start(t, cmd)
			s.Sees("slow")
			for i, signal := range c.ends {
				if i > 0 {
					s.Sees("Ctrl-C again ends at once")
				}
				if err := cmd.Process.Signal(signal); err != nil {
					t.Error(err)
				}
			}
			_ = cmd.Wait()
			if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); c.ends[0] != syscall.SIGKILL && ws.ExitStatus() != exitInterrupted {
				t.Errorf("%v", cmd.ProcessState)
			}
			ended(t, file)
		})
	}
}

// TestAnIgnoredSignalStaysIgnored: nohup has a command outlive its terminal.
func TestAnIgnoredSignalStaysIgnored(t *testing.T) {
	url, h := openShop(t)
	nohup := exec.Command("sh", "-c", `trap "" HUP; exec mcpkiln "$@"`, "sh", "call", "--json", url, "test_tool_with_progress")
	if err := nohup.Start(); err != nil {
		t.Fatal(err)
	}
	<-h.started
	if err := nohup.Process.Signal(syscall.SIGHUP); err != nil {
		t.Error(err)
	}
	select {
	case why := <-h.started:
		t.Errorf("the call has %s", why)
	case <-time.After(time.Second):
	}
	_ = nohup.Process.Signal(syscall.SIGTERM)
	_ = nohup.Wait()
}

// TestASecondCtrlCEndsAtOnce: also while a server takes its time.
func TestASecondCtrlCEndsAtOnce(t *testing.T) {
	cmd := command(t, "call", "test_tool_with_progress", "--", "deaf")
	s := screen.Start(t, cmd)
	s.Sees("slow")
	s.Types("\x03")
	s.Sees("Ctrl-C again ends at once")
	s.Types("\x03")
	if text := exits(t, cmd, s, exitInterrupted); !strings.Contains(text, "mcpkiln: interrupted\r\n  the server was asked to cancel the call") {
		t.Errorf("%q", text)
	}
}

// TestCAN15OneCtrlCMayComeTwice: the terminal sends it to the whole process group, and `go tool` and timeout pass it on. The task is cancelled all the same.
func TestCAN15OneCtrlCMayComeTwice(t *testing.T) {
	for _, twice := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		a, ref := ask(t, 0)
		process := make(chan *os.Process, 1)
		a.change(func() {
			a.stale = slices.Repeat([]string{`"status":"working"`}, 1000)
			a.cancels = func() {
				_ = (<-process).Signal(twice)
				a.stale = []string{`"status":"cancelled"`}
			}
		})
		cmd := command(t, "call", endpointOf(t, ref), "t")
		s := screen.Start(t, cmd)
		process <- cmd.Process
		s.Sees("the task is working")
		if err := cmd.Process.Signal(twice); err != nil {
			t.Error(err)
		}
		if text := exits(t, cmd, s, exitInterrupted); !strings.Contains(text, "mcpkiln: interrupted\r\n  the task is cancelled") {
			t.Errorf("%v: %q", twice, text)
		}
	}
}

func TestAQuestionIsAFormOnATerminal(t *testing.T) {
	url, _ := openShop(t)
	for _, c := range []struct {
		keys, want string
		status     int
	}{{"y", "accept true", 0}, {"\x1b", "decline false", 0}, {"\x03", "mcpkiln: interrupted\r\n  the task is cancelled", exitInterrupted}} {
		for _, revision := range []string{"2026-07-28", "2025-11-25"} {
			cmd := command(t, "call", "--revision", revision, url, "confirm_delete", "filename=f")
			s := screen.Start(t, cmd)
			s.Sees("Delete f?")
			s.Sees(strings.TrimPrefix(url, "http://") + ` (calls itself "conformance") asks`)
			s.Types(c.keys)
			if text := exits(t, cmd, s, c.status); !strings.HasSuffix(strings.TrimSpace(text), c.want) || strings.Contains(text, "level=") {
				t.Errorf("%s %q: %q", revision, c.keys, text)
			}
		}
	}
}

// TestAnAnswerThatDidNotFitIsSaidWithWhy, also where the user was asked in place of it.
func TestAnAnswerThatDidNotFitIsSaidWithWhy(t *testing.T) {
	url, _ := openShop(t)
	cmd := command(t, "call", url, "confirm_delete", "filename=f", "--answer", `{"confirm":1}`, "--answer", "https://pay.example/")
	s := screen.Start(t, cmd)
	s.Sees(`(calls itself "conformance") asks`)
	s.Types("y")
	text := exits(t, cmd, s, 0)
	for _, want := range []string{`--answer {"confirm":1} was not used: confirm: must be of type boolean`, "--answer https://pay.example/ was not used: a form is no page at https://pay.example/\r\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
	}
}

// TestAReaderThatHasGoneEndsTheCommand as it does others: by SIGPIPE, which a shell calls status 141.
func TestAReaderThatHasGoneEndsTheCommand(t *testing.T) {
	url, _ := openShop(t)
	cmd := command(t, "call", url, "greet", "name=x")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = w
	_ = r.Close()
	_ = cmd.Run()
	_ = w.Close()
	if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); !ws.Signaled() || ws.Signal() != syscall.SIGPIPE {
		t.Errorf("%v", cmd.ProcessState)
	}
}

// TestAnInterruptShowsNoFurtherQuestion, also where it comes as a signal.
func TestAnInterruptShowsNoFurtherQuestion(t *testing.T) {
	_, ref := ask(t, 0, nameForm, sureForm)
	cmd := command(t, "task", "wait", ref)
	s := screen.Start(t, cmd)
	s.Sees("asks")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	if text := exits(t, cmd, s, exitInterrupted); strings.Count(text, " says:") > 1 {
		t.Errorf("%q", text)
	}
}
