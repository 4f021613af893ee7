package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

type receipt struct {
	ID     string                 `json:"id"`
	Amount int64                  `json:"amount"`
	Note   check.Optional[string] `json:"note,omitzero"`
}

func give[T any](v T) func(context.Context) (T, error) {
	return func(context.Context) (T, error) { return v, nil }
}

// stepped is a tool that does one step and then asks. says gets what the step gave.
func stepped[T any](name string, step func(context.Context) (T, error), says func(T) string) Tool {
	return tool("pay", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		v, err := Do(ctx, call, name, step)
		if err != nil {
			return nil, err
		}
		_, err = Ask(ctx, call, confirmQuestion(), "")
		return &echoOutput{says(v) + " " + call.Key("charge")}, err
	}), withTask(TaskOptional))
}

func TestDoReturnsWhatLaterRunsGet(t *testing.T) {
	type lossy struct {
		Kept    int `json:"kept"`
		dropped int
	}
	c := newFixture(t, []Tool{tool("steps", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		all, err := Do(ctx, call, "receipt", give(receipt{ID: "<1>", Amount: 1 << 60, Note: check.Some("")}))
		if err != nil {
			return nil, err
		}
		some, err := Do(ctx, call, "lossy", give(&lossy{1, 2}))
		if err != nil {
			return nil, err
		}
		none, err := Do(ctx, call, "none", give[*receipt](nil))
		return &echoOutput{fmt.Sprint(all, some.Kept, some.dropped, none == nil)}, err
	}))}).dial(t.Context())
	c.initialize(`{}`)
	c.call("1", "steps", `{}`)
	if m, _ := c.answer("1"); m.str("result", "structuredContent", "text") != "{<1> 1152921504606846976 { true}} 1 0 true" {
		t.Error(m.raw)
	}
}

func TestDoRefusesWhatItCouldNotRecordOrReadBack(t *testing.T) {
	for want, step := range map[string]func(ctx context.Context, c *Call) error{
		`step "s": its value can not be recorded: json: unsupported type: chan int`: func(ctx context.Context, c *Call) error {
			_, err := Do(ctx, c, "s", give(make(chan int)))
			return err
		},
		`step "s": its value can not be recorded: as a []interface {}: what it reads is recorded as something else`: func(ctx context.Context, c *Call) error {
			_, err := Do(ctx, c, "s", give([]any{int64(1<<53 + 1)}))
			return err
		},
		"not yet": func(ctx context.Context, c *Call) error {
			_, err := Do(ctx, c, "s", func(context.Context) (int, error) { return 1, errors.New("not yet") })
			return err
		},
	} {
		var got error
		c := newFixture(t, []Tool{tool("steps", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			got = step(ctx, call)
			return nil, got
		}))}).dial(t.Context())
		c.initialize(`{}`)
		c.call("1", "steps", `{}`)
		m, _ := c.answer("1")
		if got == nil || !strings.HasPrefix(got.Error(), want) || strings.Contains(got.Error(), "another name") { // which would not help
			t.Errorf("got %v, want %s", got, want)
		}
		if errors.As(got, new(*StepError)) {
			m.wantError(t, -32603, `step "s": its value can not be recorded`)
		}
	}
}

// defaulted is a type whose schema forbids what its default fills in, as not: {required: [a, b]} beside a default of b does.
type defaulted struct{ A string }

func (v *defaulted) UnmarshalJSON([]byte) error {
	return check.Violations{{Schema: "#/not", Keyword: "not", Found: `{"a":"","b":"dd"}`, Allowed: "no such object"}}
}

// A value that no later run could read is not recorded: the error says so at once, names the default, and the name of the step is free.
func TestDUR07WhatItsOwnSchemaRefusesIsNotRecorded(t *testing.T) {
	var refused error
	c := newFixture(t, []Tool{tool("steps", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		_, refused = Do(ctx, call, "s", give(defaulted{}))
		n, err := Do(ctx, call, "s", give(7))
		return &echoOutput{fmt.Sprint(n)}, err
	}))}).dial(t.Context())
	c.initialize(`{}`)
	c.call("1", "steps", `{}`)
	if m, _ := c.answer("1"); m.str("result", "structuredContent", "text") != "7" {
		t.Error(m.raw)
	}
	if wrong := new(StepError); !errors.As(refused, &wrong) || wrong.Recorded || !strings.Contains(refused.Error(), "a default that was filled in") ||
		!strings.Contains(refused.Error(), "(root): not") || strings.Contains(refused.Error(), "another name") {
		t.Error(refused)
	}
}

// deploy runs a task with before until it asks, then shuts the server down, and goes on with after on the same store.
func deploy(t *testing.T, before, after Tool) message {
	store := WithTaskStore(durable{task.NewMemory()})
	f := dual(t, Definition{Tools: []Tool{before}}, store)
	id := f.create(t.Context(), "pay", `{}`, tasksAsks)
	synctest.Wait()
	_ = f.srv.Shutdown(t.Context())
	f = dual(t, Definition{Tools: []Tool{after}}, store)
	f.ask(t.Context(), frame(1, "tasks/update", tasksAsks, byID(id)+`,"inputResponses":{"confirm":`+accepted+`}`)).wantNoError(t)
	synctest.Wait()
	m := f.ask(t.Context(), frame(2, "tasks/get", tasksAsks, byID(id)))
	_ = f.srv.Shutdown(t.Context())
	return m
}

// A recorded value of another form is read completely, or refused; nothing is guessed.
func TestDUR07AStepOfAnEarlierVersionIsReadExactlyOrRefused(t *testing.T) {
	first := stepped("charge", give(receipt{ID: "r1", Amount: 5}), func(r receipt) string { return r.ID })
	never := errors.New("the step ran again")
	for name, after := range map[string]struct {
		tool Tool
		want string // in the answer; with "step" the task has failed
	}{
		"the same type":               {stepped("charge", give(receipt{ID: "r2"}), func(r receipt) string { return fmt.Sprint(r.ID, r.Amount) }), "r15"},
		"a type that keeps all of it": {stepped("charge", give(json.RawMessage(`{}`)), func(r json.RawMessage) string { return string(r[:5]) }), `{\"id\"`},
		"a field that may be left out": {stepped("charge", give(struct {
			ID       string `json:"id"`
			Amount   int64  `json:"amount"`
			Currency string `json:"currency,omitempty"`
		}{}), func(struct {
			ID       string `json:"id"`
			Amount   int64  `json:"amount"`
			Currency string `json:"currency,omitempty"`
		}) string {
			return "left out"
		}), "left out"},
		"a field with another name": {stepped("charge", give(struct {
			ID    string `json:"id"`
			Cents int64  `json:"cents"`
		}{}), func(struct {
			ID    string `json:"id"`
			Cents int64  `json:"cents"`
		}) string {
			return never.Error()
		}), "step"},
		"a field more": {stepped("charge", give(struct {
			receipt
			Currency string `json:"currency"`
		}{}), func(struct {
			receipt
			Currency string `json:"currency"`
		}) string {
			return never.Error()
		}), "step"},
		"a name that differs by case": {stepped("charge", give(struct{ Id, Amount any }{}), func(struct{ Id, Amount any }) string { return never.Error() }), "step"},
		"another kind":                {stepped("charge", give(1), func(int) string { return never.Error() }), "step"},
		"another step":                {stepped("charge in cents", give(500), func(n int) string { return fmt.Sprint(n) }), "500"},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := deploy(t, first, after.tool)
			switch {
			case after.want != "step":
				if m.str("result", "status") != "completed" || !strings.Contains(m.raw, after.want) {
					t.Errorf("%s: %s", name, m.raw)
				}
			case m.str("result", "status") != "failed" ||
				!strings.Contains(m.raw, `step \"charge\": what an earlier run recorded is in a form that this version of the server does not read`) ||
				strings.Contains(m.raw, "struct"):
				t.Errorf("%s: %s", name, m.raw)
			}
		})
	}
}

// What call.Do recorded need not be JSON.
func TestDUR07AStepThatIsNoJSONIsRefused(t *testing.T) {
	first := tool("pay", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		if _, err := call.Do(ctx, "charge", func(context.Context) ([]byte, error) { return nil, nil }); err != nil {
			return nil, err
		}
		_, err := Ask(ctx, call, confirmQuestion(), "")
		return &echoOutput{}, err
	}), withTask(TaskOptional))
	synctest.Test(t, func(t *testing.T) {
		m := deploy(t, first, stepped("charge", give(1), func(int) string { return "" }))
		if m.str("result", "status") != "failed" || !strings.Contains(m.raw, "what an earlier run recorded") {
			t.Error(m.raw)
		}
	})
}

// keyed is a tool that tells its keys.
func keyed() Tool {
	return tool("pay", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		before := call.Key("a") + " " + call.Key("b")
		if _, err := Ask(ctx, call, confirmQuestion(), ""); err != nil {
			return nil, err
		}
		if after := call.Key("a") + " " + call.Key("b"); after != before {
			return nil, errors.New("keys change within a run")
		}
		return &echoOutput{before}, nil
	}), withTask(TaskOptional))
}

func TestDUR01KeysAreTheSameInEveryRunOfATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		watched := keyed()
		inner := watched.Handler.call
		watched.Handler.call = func(ctx context.Context, call *Call, in any) (any, error) {
			seen = append(seen, call.Key("a")+" "+call.Key("b"))
			return inner(ctx, call, in)
		}
		for range 2 {
			m := deploy(t, watched, watched)
			seen = append(seen, m.str("result", "result", "structuredContent", "text"))
			if id := m.str("result", "taskId"); id == "" || strings.Contains(seen[0], id) {
				t.Errorf("the key tells the task's id: %s", m.raw)
			}
		}
		if len(seen) != 6 || seen[0] != seen[1] || seen[1] != seen[2] || seen[3] != seen[4] || seen[4] != seen[5] {
			t.Fatalf("keys differ between runs: %q", seen)
		}
		distinct := map[string]bool{}
		for _, key := range strings.Fields(seen[0] + " " + seen[3]) {
			distinct[key] = true
		}
		if len(distinct) != 4 {
			t.Errorf("two names or tasks share a key: %q", seen)
		}
	})
}

func TestEXT17KeysAreTheSameInEveryRetryAndInTheTaskMadeOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		watched := keyed()
		inner := watched.Handler.call
		watched.Handler.call = func(ctx context.Context, call *Call, in any) (any, error) {
			seen = append(seen, call.Key("a"))
			return inner(ctx, call, in)
		}
		f := dual(t, Definition{Tools: []Tool{watched}}, WithGather(0))
		_, _, state := f.try(t.Context(), forms, "pay", `{}`, "")
		_, _, _ = f.try(t.Context(), forms, "pay", `{}`, answering(state, `{"confirm":`+accepted+`}`))
		m, _, _ := f.try(t.Context(), tasksAsks, "pay", `{}`, answering(state, `{"confirm":`+accepted+`}`))
		f.await(t.Context(), m.str("result", "taskId"), task.Completed)
		_, _, _ = f.try(t.Context(), forms, "pay", `{}`, "")
		if len(seen) != 4 || seen[0] != seen[1] || seen[1] != seen[2] || seen[2] == seen[3] {
			t.Errorf("%q", seen)
		}
		_ = f.srv.Shutdown(t.Context())
	})
}

// A client may send its retry again, and no run before has needed a key.
func TestEXT17KeysThatAreFirstNeededAfterAQuestionAreTheSameInEveryRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		f := dual(t, Definition{Tools: []Tool{tool("pay", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			if _, err := Ask(ctx, call, confirmQuestion(), ""); err != nil {
				return nil, err
			}
			seen = append(seen, call.Key("a"))
			return &echoOutput{}, nil
		}), withTask(TaskOptional))}}, WithGather(0))
		for range 2 {
			_, _, state := f.try(t.Context(), forms, "pay", `{}`, "")
			for range 2 {
				_, _, _ = f.try(t.Context(), forms, "pay", `{}`, answering(state, `{"confirm":`+accepted+`}`))
			}
			m, _, _ := f.try(t.Context(), tasksAsks, "pay", `{}`, answering(state, `{"confirm":`+accepted+`}`))
			f.await(t.Context(), m.str("result", "taskId"), task.Completed)
		}
		if len(seen) != 6 || seen[0] != seen[1] || seen[1] != seen[2] || seen[3] != seen[4] || seen[4] != seen[5] || seen[0] == seen[3] {
			t.Errorf("%q", seen)
		}
		_ = f.srv.Shutdown(t.Context())
	})
}

// What encoding/json makes of a text that is not UTF-8 is read back as it was recorded.
func TestDoRecordsTextsThatAreNotUTF8(t *testing.T) {
	for text, want := range map[string]string{"caf\xe9": `"caf` + "\uFFFD" + `"`, `a\ufffd`: `"a\\ufffd"`, "a\uFFFD": `"a` + "\uFFFD" + `"`} {
		data, err := encodeStep(text)
		if err != nil || string(data) != want {
			t.Errorf("%q: %q, %v, want %q", text, data, err, want)
		}
		if got, err := decodeStep[string]("read", data, true); err != nil || got != strings.ToValidUTF8(text, "\uFFFD") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}
