package main

import (
	"errors"
	"io/fs"
	"os/exec"
	"strings"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// withRemedy gives an error of a session its exit status, and adds what would help. A remedy of package client is said in words of this command.
func (v *visit) withRemedy(err error) error {
	if err == nil || errors.As(err, new(*statusError)) {
		return err
	}
	status, help := v.statusOf(err)
	remedy := ""
	if with := (*client.RemedyError)(nil); errors.As(err, &with) {
		remedy = v.remedy(with.Remedy)
	}
	lines := []string{describe(err)}
	for _, line := range []string{help, remedy} {
		if line != "" {
			lines = append(lines, line)
		}
	}
	return &statusError{status, errors.New(strings.Join(lines, "\n  "))}
}

// remedy says what the user can do; "" for nothing.
func (v *visit) remedy(r client.Remedy) string {
	if ofTask := r == client.ResumeTask || r == client.ResumeUnlessCancelled || r == client.ResumeResult; ofTask && v.ref == nil && v.endsServer() {
		return "no other command can follow the task: it ends with the server, and that with this command, unless --durable says that the server keeps its tasks in a store"
	}
	switch r {
	case client.ResumeTask:
		return "the task may go on" + v.followHint("wait")
	case client.ResumeUnlessCancelled:
		return "the server is asked to cancel the task, and if it does not, the task goes on" + v.followHint("get")
	case client.ResumeResult:
		return "the task is over, and its result may still be there" + v.followHint("result")
	case client.NameRevision:
		return "server/discover was not answered, either: --revision names the revision that the server speaks, if you know it"
	}
	return ""
}

// withoutRemedy returns an error without the words of package client that say what a program can do.
func withoutRemedy(err error) error {
	switch e := err.(type) {
	case *client.RemedyError:
		return withoutRemedy(e.Err)
	case *client.TaskError:
		inner := *e
		inner.Err = withoutRemedy(e.Err)
		return &inner
	case *client.TransportError:
		inner := *e
		inner.Err = withoutRemedy(e.Err)
		return &inner
	}
	return err
}

// notStarted adds to the error of a server on a pipe that did not start where its command stands, or that a word after --, which may have been meant for this
// command, went to it.
func (v *visit) notStarted(t client.Transport, err error) error {
	var lost *client.TransportError
	if !errors.As(err, &lost) || !v.child {
		return err
	}
	status, help := v.statusOf(err)
	p, ok := t.(*client.Process)
	quoted := ok && strings.ContainsAny(p.Path, " \t") && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound))
	switch {
	case v.misplaced != "":
		help = v.misplaced + " stands behind --, so it went to the server: flags of this command go before"
	case v.entry != "" && quoted:
		help = "its command is that of the entry " + plain.Line(v.entry) + `, and names the program alone: arguments go into "args"`
	case v.entry != "":
		help = strings.TrimSpace("its command is that of the entry " + plain.Line(v.entry) + "\n  " + help)
	case quoted:
		help = "it is one word, which names the program alone: leave out the quotes around its arguments"
	default:
		return err
	}
	return &statusError{status, errors.New(describe(err) + "\n  " + help)}
}
