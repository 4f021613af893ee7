package sqlite

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/internal/chaos"
	"github.com/mcpkiln/mcpkiln/runtime/task/tasktest"
)

// childFile tells this program that it is the child of a test, and which file it works with.
const childFile, childDriver = "SQLITE_TEST_FILE", "SQLITE_TEST_DRIVER"

func TestMain(m *testing.M) {
	if chaos.Main(openTarget) {
		return
	}
	if file := os.Getenv(childFile); file != "" {
		work(os.Getenv(childDriver), file)
		return
	}
	goleak.VerifyTestMain(m)
}

// work creates tasks and runs them until somebody kills it, and says what it was told is done.
func work(driver, file string) {
	db, err := sql.Open(driver, file)
	if err := errors.Join(err, loadDisk(os.Getenv(childDisk))); err != nil {
		panic(err)
	}
	s, err := Open(context.Background(), db)
	if err != nil {
		fmt.Println("refused", err)
		return
	}
	if err := setSync(s); err != nil {
		panic(err)
	}
	var e *task.Engine
	ready := make(chan struct{})
	e = task.New(task.Config{Store: s, Machine: tasktest.Machine(), Runner: runner(func(words ...any) { fmt.Println(words...) }), OnChange: func(t task.Task) {
		switch {
		case t.Status == task.InputRequired && t.ID < "M": // some of them
			go func() {
				<-ready
				if _, err := e.Answer(context.Background(), "ada", t.ID, task.Answer{Name: "q", Data: []byte("yes")}); err == nil {
					fmt.Println("answered", t.ID)
				}
			}()
		case t.Status == task.Completed:
			fmt.Println("completed", t.ID)
		}
	}})
	close(ready)
	for n := 0; ; n++ {
		c, err := e.Create(context.Background(), task.Spec{Owner: "ada", Tool: "tool", Args: fmt.Append(nil, n)})
		if err != nil {
			panic(err)
		}
		fmt.Println("created", c.Task.ID)
		c.Start()
	}
}

// runner does a step, asks, and says what it got.
func runner(tell func(words ...any)) task.Runner {
	return func(ctx context.Context, r *task.Run) task.Outcome {
		id := r.Task().ID
		step, err := r.Do(ctx, "step", func(context.Context) ([]byte, error) { return fmt.Append(nil, "step of run ", r.Epoch()), nil })
		if err != nil {
			return task.Outcome{Status: task.Failed, Message: err.Error()}
		}
		tell("stepped", id, string(step))
		answer, err := r.Ask(ctx, task.Question{Name: "q", Method: "ask/it", Payload: []byte("?")})
		if err != nil {
			return task.Outcome{Status: task.Failed, Message: err.Error()}
		}
		return task.Outcome{Status: task.Completed, Result: fmt.Append(nil, string(step), ", answer ", string(answer))}
	}
}

// child starts work on a file.
func child(t *testing.T, driver, file string, env ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(append(os.Environ(), childFile+"="+file, childDriver+"="+driver), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// kill ends a child as kill -9 does, and reads what it still said.
func kill(t *testing.T, cmd *exec.Cmd, said *bufio.Scanner, line func(string)) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for said.Scan() {
		line(said.Text())
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the child ended by itself")
	}
}

// killed has children work on a file, one after the other, until they have said so many lines, and is what they said: by word, then by task.
func killed(t *testing.T, children int, lines func(round int) int, driver, file string, env ...string) map[string]map[string]string {
	t.Helper()
	said := map[string]map[string]string{}
	note := func(line string) {
		word, rest, _ := strings.Cut(line, " ")
		id, detail, _ := strings.Cut(rest, " ")
		if said[word] == nil {
			said[word] = map[string]string{}
		}
		said[word][id] = detail
	}
	for round := range children { // each opens what the one before has left
		cmd, out := child(t, driver, file, env...)
		for n := lines(round); n > 0 && out.Scan(); n-- {
			note(out.Text())
		}
		kill(t, cmd, out, note)
	}
	if len(said["refused"]) > 0 || len(said["created"]) < 50 || len(said["stepped"]) == 0 || len(said["answered"]) == 0 || len(said["completed"]) == 0 {
		t.Fatalf("the children said %d times created, %d stepped, %d answered, %d completed, refused %v",
			len(said["created"]), len(said["stepped"]), len(said["answered"]), len(said["completed"]), said["refused"])
	}
	return said
}

func TestDUR01KilledProcessLosesNothing(t *testing.T) {
	each(t, func(t *testing.T, driver, file string) {
		said := killed(t, 4, func(round int) int { return 100 + 37*round }, driver, file)
		takeUp(t, newStore(t, driver, file), said)
	})
}

// takeUp checks that all that was said is there, and finishes it.
func takeUp(t *testing.T, s *Store, said map[string]map[string]string) {
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	for id := range said["completed"] {
		if got, err := s.Get(ctx, "ada", id); err != nil || got.Status != task.Completed {
			t.Fatalf("%s was completed: %+v, %v", id, got, err)
		}
	}
	e := task.New(task.Config{Store: s, Machine: tasktest.Machine(), Resume: true, Runner: runner(func(...any) {}), Limits: task.Limits{PollsPerSecond: -1}})
	defer e.Close(ctx)
	for id := range said["created"] {
		got, changed, err := e.Watch(ctx, "ada", id)
		for ; err == nil && got.Status == task.Working; got, changed, err = e.Watch(ctx, "ada", id) {
			select {
			case <-changed:
			case <-ctx.Done():
				t.Fatalf("%s is not taken up: %+v", id, got)
			}
		}
		if err != nil {
			t.Fatalf("%s is lost: %v", id, err)
		}
		answer := "no"
		if _, answered := said["answered"][id]; answered || got.Status == task.Completed {
			answer = "yes" // what was answered was answered once
		} else if _, err := e.Answer(ctx, "ada", id, task.Answer{Name: "q", Data: []byte("no")}); err != nil {
			t.Fatal(err)
		}
		if got, err = e.Wait(ctx, "ada", id); err != nil {
			t.Fatal(err)
		}
		if step := said["stepped"][id]; !strings.HasPrefix(string(got.Result), step) || !strings.HasSuffix(string(got.Result), "answer "+answer) {
			t.Errorf("%s: result %q, want %q and %s", id, got.Result, step, answer)
		}
	}
}

func TestAnotherProcessIsRefusedUntilTheOwnerDies(t *testing.T) {
	each(t, func(t *testing.T, driver, file string) {
		cmd, out := child(t, driver, file)
		out.Scan() // it has the file
		if _, err := Open(t.Context(), openDB(t, driver, file)); !errors.Is(err, ErrOwned) {
			t.Errorf("the file of another process: %v", err)
		}
		second, answer := child(t, driver, file)
		answer.Scan()
		if want := "refused sqlite: " + file + ": " + ErrOwned.Error(); !strings.HasPrefix(answer.Text(), want) {
			t.Errorf("a second process says %q, want %q", answer.Text(), want)
		}
		if err := second.Wait(); err != nil {
			t.Error(err)
		}
		kill(t, cmd, out, func(string) {})
		newStore(t, driver, file)
	})
}
