package main

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/console"
	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// TestCAN28TheTimeOfAQuestionThatIsLeftOpenDoesNotCount: on a terminal, the wait for a task goes on while its host answers.
func TestCAN28TheTimeOfAQuestionThatIsLeftOpenDoesNotCount(t *testing.T) {
	t.Setenv("TERM", "dumb")
	synctest.Test(t, func(t *testing.T) {
		v := &visit{cmd: &cobra.Command{}, terminal: &console.Terminal{}}
		v.cmd.SetErr(io.Discard)
		began, rung := time.Now(), make(chan time.Duration, 1)
		v.clock.start(10*time.Second, func() { rung <- time.Since(began) })
		time.Sleep(4 * time.Second)
		for range 2 { // two questions
			v.leftOpen(&client.Question{Method: "sampling/createMessage"}, errors.New("no handler"))
		}
		v.showState(client.TaskState{Status: task.InputRequired})
		time.Sleep(time.Hour)
		v.showState(client.TaskState{Status: task.Working})
		v.showState(client.TaskState{Status: task.Working, Message: "half"})
		if took, want := <-rung, time.Hour+10*time.Second; took != want {
			t.Errorf("the time was up after %v, want %v", took, want)
		}
	})
}
