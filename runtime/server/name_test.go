package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// deleter asks before it deletes each of two files, with the options that it is given for each.
func deleter(message string, deleted *atomic.Int32, opts func(file string) []AskOption) Tool {
	return tool("delete", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		var said []string
		for _, file := range []string{"a.txt", "dir/b ü.txt"} {
			a, err := Ask(ctx, call, confirmQuestion(), strings.ReplaceAll(message, "%", file), opts(file)...)
			if err != nil {
				return nil, err
			}
			deleted.Add(1)
			said = append(said, fmt.Sprint(file, " ", a.Accepted()))
		}
		return &echoOutput{strings.Join(said, ", ")}, nil
	}), withTask(TaskOptional))
}

func unnamed(string) []AskOption      { return nil }
func perFile(file string) []AskOption { return []AskOption{Named(file)} }

// Agreement to one thing is never taken for agreement to another, whatever the words of the questions are.
func TestTSK29AskingTwiceUnderOneNameIsAnError(t *testing.T) {
	for _, message := range []string{"Delete?", "Delete %?"} {
		var deleted atomic.Int32
		f := dual(t, Definition{Tools: []Tool{deleter(message, &deleted, unnamed)}})
		c := f.dial(t.Context())
		c.initialize(forms)
		c.call("1", "delete", `{}`)
		c.reply(c.nextRequest(), accepted)
		m, before := c.answer("1")
		m.wantError(t, -32603)
		id := c.start("2", "delete", "")
		c.reply(c.nextRequest(), accepted)
		c.request("3", "tasks/result", taskID(id)).wantError(t, -32603)
		_, _, state := f.try(t.Context(), forms, "delete", `{}`, "")
		m, _, _ = f.try(t.Context(), forms, "delete", `{}`, answering(state, `{"confirm":`+accepted+`}`))
		m.wantError(t, -32603)
		if deleted.Load() != 3 || len(before) != 0 {
			t.Errorf("%q: %d files deleted, each way agreed to one; %v", message, deleted.Load(), before)
		}
	}
}

// Each instance is a question of its own; when the handler runs again, each answer is found by its instance.
func TestTSK29NamedInstancesAreQuestionsOfTheirOwn(t *testing.T) {
	var deleted atomic.Int32
	f := dual(t, Definition{Tools: []Tool{deleter("Delete?", &deleted, perFile)}}, WithGather(0))
	const declined = `{"action":"decline"}`
	const want = "a.txt true, dir/b ü.txt false"
	c := f.dial(t.Context())
	c.initialize(forms)
	c.call("1", "delete", `{}`)
	c.reply(c.nextRequest(), accepted)
	c.reply(c.nextRequest(), declined)
	if m, _ := c.answer("1"); m.str("result", "structuredContent", "text") != want {
		t.Error(m.raw)
	}
	id := c.start("2", "delete", "")
	c.reply(c.nextRequest(), accepted)
	c.reply(c.nextRequest(), declined)
	if m := c.request("3", "tasks/result", taskID(id)); m.str("result", "structuredContent", "text") != want {
		t.Error(m.raw)
	}
	_, first, state := f.try(t.Context(), forms, "delete", `{}`, "")
	if strings.Join(first, " ") != "confirm#a.txt" {
		t.Error(first)
	}
	_, second, state := f.try(t.Context(), forms, "delete", `{}`, answering(state, `{"confirm#a.txt":`+accepted+`}`))
	if len(second) != 1 || second[0] == first[0] {
		t.Fatal(second)
	}
	m, _, _ := f.try(t.Context(), forms, "delete", `{}`, answering(state, fmt.Sprintf(`{%q:%s}`, second[0], declined)))
	if m.str("result", "structuredContent", "text") != want {
		t.Error(m.raw)
	}
}

// What has failed may be tried again: nothing was recorded that could answer it.
func TestTSK29ANameIsFreeAgainWhenNothingWasRecorded(t *testing.T) {
	c := newFixture(t, []Tool{tool("retry", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		gone, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := Ask(gone, call, confirmQuestion(), ""); err == nil {
			return nil, errors.New("asked for nobody")
		}
		a, err := Ask(ctx, call, confirmQuestion(), "")
		return &echoOutput{string(a.Action)}, err
	}))}).dialTasks("")
	c.call("1", "retry", `{}`)
	var q message
	for q.Method != elicit {
		q = c.next()
	}
	c.reply(q, accepted)
	if m, _ := c.answer("1"); m.str("result", "structuredContent", "text") != "accept" {
		t.Error(m.raw)
	}
}

// Requests of a handler's own follow the same rule, and a step is not taken for another one.
func TestTSK29RequestsAndSteps(t *testing.T) {
	errs := make(chan error, 5)
	f := dual(t, Definition{Tools: []Tool{tool("send", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		send := func(name string, opts ...AskOption) error {
			_, err := Send(ctx, call, &roots, name, &noInput{}, opts...)
			return err
		}
		step := func(context.Context) ([]byte, error) { return nil, nil }
		if err := errors.Join(send("roots"), send("roots", Named("2"))); err != nil {
			return nil, err
		}
		errs <- send("roots")
		errs <- send("roots#2") // would be the other one's key
		errs <- send(strings.Repeat("x", 129))
		_, err := call.Do(ctx, "roots", step)
		errs <- err
		if _, err := call.Do(ctx, "step", step); err != nil {
			return nil, err
		}
		_, err = call.Do(ctx, "step", step)
		errs <- err
		return &echoOutput{"done"}, nil
	}), withTask(TaskOptional))}})
	c := f.dial(t.Context())
	c.initialize(everyAsk)
	for _, asTask := range []bool{false, true} {
		if asTask {
			c.start("1", "send", "")
		} else {
			c.call("1", "send", `{}`)
		}
		c.reply(c.nextRequest(), `{"roots":[]}`)
		c.reply(c.nextRequest(), `{"roots":[]}`)
		for i := range cap(errs) {
			var name *task.NameError
			if err := <-errs; !errors.As(err, &name) {
				t.Errorf("task %v: %d: %v", asTask, i, err)
			}
		}
		if !asTask {
			c.answer("1")
		}
	}
}

func TestTSK29KeysAreSafeShortAndDifferent(t *testing.T) {
	seen := map[string]string{}
	long := strings.Repeat("long/", 40)
	for _, instance := range []string{
		"", "a", "a.txt", "a b", "a#b", "#", "~", "~a", "ü", "a\x00", "\xff", `"`, "../x", long, long + "x", strings.Repeat("x", 64), strings.Repeat("x", 65),
		strings.TrimPrefix(named("", []AskOption{Named("a b")}), instanceMark), // the form of another one
	} {
		key := named("q", []AskOption{Named(instance)})
		if other, taken := seen[key]; taken || len(key) > 80 || strings.Trim(key, keyLetters+"~"+instanceMark) != "" {
			t.Errorf("%q has the key %q, as has %q", instance, key, other)
		}
		seen[key] = instance
	}
	if a, b := named("q", []AskOption{Named("a"), Named("b")}), named("q", []AskOption{Named("a#b")}); a == b {
		t.Errorf("both are %q", a)
	}
}
