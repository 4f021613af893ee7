package server

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/internal/wiretest"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// try is one try of a call that asks: the keys that it asks for and the state for the next one.
func (f *fixture) try(ctx context.Context, caps, tool, args, more string) (m message, keys []string, state string) {
	f.t.Helper()
	if more != "" {
		more = "," + more
	}
	m = f.ask(ctx, frame(1, "tools/call", caps, callParams(tool, args)+more))
	if m.str("result", "resultType") != "input_required" {
		return m, nil, ""
	}
	if m.field("result", "_meta") == "" || m.field("result", "content") != "" {
		f.t.Errorf("not a result that asks: %s", m.raw)
	}
	return m, keysOf(f.t, m.field("result", "inputRequests")), m.str("result", "requestState")
}

func answering(state string, responses string) string {
	more := `"inputResponses":` + responses
	if state != "" {
		more += fmt.Sprintf(`,"requestState":%q`, state)
	}
	return more
}

func TestEXT17AnInlineCallAsksAndRunsAgain(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{asker(confirmQuestion())}})
	m, keys, state := f.try(t.Context(), forms, "ask", `{}`, "")
	if len(keys) != 1 || keys[0] != "confirm" || state == "" {
		t.Fatal(m.raw)
	}
	request := `{"method":"elicitation/create","params":{"message":"Overwrite?","mode":"form","requestedSchema":{"type":"object","properties":{"overwrite":{"type":"boolean"}},"required":["overwrite"]}}}`
	if got := m.field("result", "inputRequests", "confirm"); got != request {
		t.Errorf("want %s, got %s", request, got)
	}
	for reply, want := range map[string]string{
		accepted: "accept true true", `{"action":"decline"}`: "decline false false", `{"action":"cancel"}`: "cancel false false",
	} {
		m, _, _ := f.try(t.Context(), forms, "ask", `{}`, answering(state, `{"confirm":`+reply+`,"extra":5}`))
		if got := m.str("result", "structuredContent", "text"); got != want {
			t.Errorf("want %q, got %s", want, m.raw)
		}
		// Answers count without the state too: it only saves what came before.
		if m, _, _ := f.try(t.Context(), forms, "ask", `{}`, answering("", `{"confirm":`+reply+`}`)); m.str("result", "structuredContent", "text") != want {
			t.Errorf("without state: %s", m.raw)
		}
	}
}

func TestEXT17WhatIsNoAnswerIsAskedAgain(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{asker(confirmQuestion())}})
	_, _, state := f.try(t.Context(), forms, "ask", `{}`, "")
	for _, responses := range []string{
		`{}`, `{"other":` + accepted + `}`, `{"confirm":12345}`, `{"confirm":null}`, `{"confirm":{}}`, `{"confirm":{"action":"perhaps"}}`,
		`{"confirm":{"action":"accept"}}`, `{"confirm":{"action":"accept","content":{"overwrite":"yes"}}}`, `{"Confirm":` + accepted + `}`,
	} {
		m, keys, next := f.try(t.Context(), forms, "ask", `{}`, answering(state, responses))
		if len(keys) != 1 || keys[0] != "confirm" || next == state {
			t.Errorf("%s: %s", responses, m.raw)
		}
	}
	m, _, _ := f.try(t.Context(), forms, "ask", `{}`, `"inputResponses":[1]`)
	m.wantError(t, -32602)
}

// wizard asks one question after the other, and does something between them.
func wizard(runs, steps *atomic.Int64) Tool {
	return tool("wizard", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		runs.Add(1)
		var said []string
		for _, name := range []string{"first", "second", "third"} {
			q := confirmQuestion()
			q.Name = name
			a, err := Ask(ctx, call, q, "")
			if err != nil {
				return nil, err
			}
			step, err := call.Do(ctx, "after "+name, func(context.Context) ([]byte, error) {
				return fmt.Appendf(nil, "%d", steps.Add(1)), nil
			})
			if err != nil {
				return nil, err
			}
			said = append(said, fmt.Sprintf("%s %v %s", name, a.Value.Overwrite, step))
		}
		return &echoOutput{strings.Join(said, ", ")}, nil
	}))
}

func TestEXT17RecordedAnswersAndStepsReturnAtOnce(t *testing.T) {
	var runs, steps atomic.Int64
	f := dual(t, Definition{Tools: []Tool{wizard(&runs, &steps)}}, WithGather(0))
	replica := dual(t, Definition{Tools: []Tool{wizard(&runs, &steps)}}, WithGather(0)) // any replica with the key takes the retry
	replica.srv.sealer = f.srv.sealer
	state, seen := "", map[string]bool{}
	for i, name := range []string{"first", "second", "third"} {
		more := ""
		if i > 0 {
			before := []string{"first", "second"}[i-1]
			more = answering(state, `{"`+before+`":{"action":"accept","content":{"overwrite":true}}}`)
		}
		m, keys, next := []*fixture{f, replica}[i%2].try(t.Context(), forms, "wizard", `{"b":1,"a":[1.0]}`, more)
		if len(keys) != 1 || keys[0] != name || seen[next] {
			t.Fatalf("try %d: %s", i, m.raw)
		}
		state, seen[next] = next, true
	}
	// The arguments are the same in another order and spacing.
	m, _, _ := f.try(t.Context(), forms, "wizard", `{ "a": [1.0], "b": 1 }`, answering(state, `{"third":{"action":"decline"}}`))
	if got := m.str("result", "structuredContent", "text"); got != "first true 1, second true 2, third false 3" {
		t.Error(m.raw)
	}
	if runs.Load() != 4 || steps.Load() != 3 {
		t.Errorf("%d runs, %d steps", runs.Load(), steps.Load())
	}
}

func TestEXT17QuestionsAskedAtOnceAreOpenAtOnce(t *testing.T) {
	synctest.Test(t, questionsAtOnce)
}

// questionsAtOnce runs on a clock that waits for goroutines.
func questionsAtOnce(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("many", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		var all sync.WaitGroup
		errs := make([]error, 3)
		all.Go(func() { _, errs[0] = Ask(ctx, call, confirmQuestion(), "") })
		all.Go(func() { _, errs[1] = Send(ctx, call, &sampling, "model", &noInput{}) })
		all.Go(func() { _, errs[2] = Send(ctx, call, &roots, "roots", &noInput{}) })
		all.Wait()
		return &echoOutput{"all"}, errors.Join(errs...)
	}))}}, WithGather(time.Nanosecond))
	m, keys, state := f.try(t.Context(), everyAsk, "many", `{}`, "")
	if strings.Join(keys, " ") != "confirm model roots" {
		t.Fatal(m.raw)
	}
	if got := m.field("result", "inputRequests", "model"); got != `{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":5}}` {
		t.Error(got)
	}
	m, keys, state = f.try(t.Context(), everyAsk, "many", `{}`, answering(state, `{"model":{"role":"assistant"},"confirm":`+accepted+`}`))
	if strings.Join(keys, " ") != "roots" {
		t.Fatal(m.raw)
	}
	if m, _, _ = f.try(t.Context(), everyAsk, "many", `{}`, answering(state, `{"roots":{"roots":[]}}`)); m.str("result", "structuredContent", "text") != "all" {
		t.Error(m.raw)
	}
}

// Of questions that are open at once each has its own time, though one state is for all: an answer that comes later is none.
func TestEXT17QuestionsAskedAtOnceHaveTheirOwnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quick, patient := confirmQuestion(), confirmQuestion()
		quick.Timeout, patient.Name, patient.Timeout = time.Minute, "patient", time.Hour
		f := dual(t, Definition{Tools: []Tool{tool("two", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			var all sync.WaitGroup
			errs := make([]error, 2)
			all.Go(func() { _, errs[0] = Ask(ctx, call, quick, "") })
			all.Go(func() { _, errs[1] = Ask(ctx, call, patient, "") })
			all.Wait()
			return &echoOutput{"both"}, errors.Join(errs...)
		}))}}, WithGather(time.Nanosecond))
		both := `{"confirm":` + accepted + `,"patient":` + accepted + `}`
		m, keys, state := f.try(t.Context(), forms, "two", `{}`, "")
		if len(keys) != 2 {
			t.Fatal(m.raw)
		}
		time.Sleep(59 * time.Second)
		if m, _, _ := f.try(t.Context(), forms, "two", `{}`, answering(state, both)); m.str("result", "structuredContent", "text") != "both" {
			t.Errorf("in time: %s", m.raw)
		}
		time.Sleep(time.Second)
		m, keys, state = f.try(t.Context(), forms, "two", `{}`, answering(state, both))
		if strings.Join(keys, " ") != "confirm" {
			t.Fatalf("the time of one has passed: %s", m.raw)
		}
		time.Sleep(time.Minute - time.Millisecond)
		if m, _, _ := f.try(t.Context(), forms, "two", `{}`, answering(state, `{"confirm":`+accepted+`}`)); m.str("result", "structuredContent", "text") != "both" {
			t.Errorf("asked again, with the answer that came in time: %s", m.raw)
		}
		time.Sleep(time.Millisecond)
		if m, keys, _ = f.try(t.Context(), forms, "two", `{}`, answering(state, both)); strings.Join(keys, " ") != "confirm" {
			t.Errorf("asked again, and answered too late again: %s", m.raw)
		}
	})
}

// A late answer is none, also to the only question: it is asked again, and no step is done twice.
func TestEXT17ALateAnswerKeepsWhatWasDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs, steps atomic.Int64
		f := dual(t, Definition{Tools: []Tool{wizard(&runs, &steps)}}, WithGather(0))
		answer := func(state, name string) (message, []string, string) {
			return f.try(t.Context(), forms, "wizard", `{}`, answering(state, `{"`+name+`":{"action":"accept","content":{"overwrite":true}}}`))
		}
		_, _, state := f.try(t.Context(), forms, "wizard", `{}`, "")
		_, _, state = answer(state, "first")
		for range 3 {
			time.Sleep(confirmQuestion().Timeout)
			m, keys, again := answer(state, "second")
			if strings.Join(keys, " ") != "second" {
				t.Fatal(m.raw)
			}
			state = again
		}
		_, _, state = answer(state, "second")
		if m, _, _ := answer(state, "third"); m.str("result", "structuredContent", "text") != "first true 1, second true 2, third true 3" {
			t.Error(m.raw)
		}
	})
}

// A handler that does not listen changes nothing: its call is answered with the question.
func TestEXT17AHandlerThatIgnoresThatItAsked(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("deaf", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		go func() { _, _ = Ask(ctx, call, confirmQuestion(), "") }()
		_, err := Send(ctx, call, &roots, "roots", &noInput{})
		if !errors.Is(err, ErrAsked) || ctx.Err() == nil {
			t.Errorf("%v, context %v", err, ctx.Err())
		}
		return &echoOutput{"never mind"}, nil
	}))}})
	m, keys, _ := f.try(t.Context(), everyAsk, "deaf", `{}`, "")
	if len(keys) == 0 {
		t.Error(m.raw)
	}
}

func TestEXT17StatesThatAreNotOursAreRefused(t *testing.T) {
	var runs atomic.Int64
	count := func(name string) Tool {
		return tool(name, plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			runs.Add(1)
			_, err := Ask(ctx, call, confirmQuestion(), "")
			return &echoOutput{}, err
		}))
	}
	f := dual(t, Definition{Tools: []Tool{count("ask"), count("other")}}, WithGather(0))
	me := as(t, "me")
	_, _, state := f.try(me, forms, "ask", `{"a":1}`, "")
	runs.Store(0)
	refused := 0
	refuse := func(what string, ctx context.Context, tool, args, state string) {
		t.Helper()
		m, _, _ := f.try(ctx, forms, tool, args, answering(state, `{"confirm":`+accepted+`}`))
		m.wantError(t, -32602, "requestState")
		if m.Error != nil {
			refused++
		} else {
			t.Errorf("%s was accepted", what)
		}
	}
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for i := range 900 {
		at, b := i*7919%len(state), []byte(state)
		b[at] = alphabet[(strings.IndexByte(alphabet, b[at])+1+i%63)%64]
		refuse("a changed letter", me, "ask", `{"a":1}`, string(b))
	}
	for i := range 40 {
		refuse("a piece", me, "ask", `{"a":1}`, state[:i*len(state)/41+1])
		refuse("an addition", me, "ask", `{"a":1}`, state+strings.Repeat("A", i+1))
	}
	for _, s := range []string{state + "-TAMPERED", state + "=", state + "\n", state[:9] + "\r" + state[9:], "x", "\u00e9"} {
		refuse("another form", me, "ask", `{"a":1}`, s)
	}
	other, err := newSealer(nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := other.seal(&sealedJournal{}, nil, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	refuse("another server's", me, "ask", `{"a":1}`, token)
	for range 10 {
		refuse("somebody else's", as(t, "you"), "ask", `{"a":1}`, state)
		refuse("nobody's", t.Context(), "ask", `{"a":1}`, state)
		refuse("another tool's", me, "other", `{"a":1}`, state)
		refuse("that of other arguments", me, "ask", `{"a":2}`, state)
	}
	if refused < 1000 || runs.Load() != 0 {
		t.Errorf("%d refused, %d runs", refused, runs.Load())
	}
	if m, _, _ := f.try(me, forms, "ask", `{"a":1}`, answering(state, `{"confirm":`+accepted+`}`)); m.Error != nil {
		t.Errorf("the state itself: %s", m.raw)
	}
}

func TestEXT17StatesExpireAndKeysRotate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := dual(t, Definition{Tools: []Tool{asker(confirmQuestion())}}, WithSealKeys([]byte("an old key of 16 bytes")))
		_, _, state := f.try(t.Context(), forms, "ask", `{}`, "")
		next := dual(t, Definition{Tools: []Tool{asker(confirmQuestion())}}, WithSealKeys([]byte("a new key of 16 bytes"), []byte("an old key of 16 bytes")))
		more := answering(state, `{"confirm":`+accepted+`}`)
		if m, _, _ := next.try(t.Context(), forms, "ask", `{}`, more); m.Error != nil {
			t.Error(m.raw)
		}
		time.Sleep(confirmQuestion().Timeout + 10*time.Minute)
		m, _, _ := next.try(t.Context(), forms, "ask", `{}`, more)
		m.wantError(t, -32602, "expired")
	})
	if _, err := New(Definition{Runtime: Generation1, Revisions: []*wire.Revision{wiretest.Revision20260728()}}, WithSealKeys([]byte("short"))); err == nil {
		t.Error("a short key is good")
	}
}

func TestEXT17StatesTellNothing(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{asker(confirmQuestion())}})
	_, _, state := f.try(t.Context(), forms, "ask", `{"secret":"s3cr3t"}`, "")
	plain, err := base64.RawURLEncoding.DecodeString(state)
	if err != nil || strings.Contains(string(plain), "confirm") || strings.Contains(string(plain), "s3cr3t") {
		t.Errorf("%q %v", plain, err)
	}
}

func TestEXT18AQuestionTheClientCanNotAnswerIsNotSent(t *testing.T) {
	fallback := func(name string, on OnUnsupported) Tool {
		q := confirmQuestion()
		q.OnUnsupported, q.Default = on, confirmation{Overwrite: true}
		a := asker(q)
		a.Name = name
		return a
	}
	f := dual(t, Definition{Tools: []Tool{
		fallback("fail", Fail), fallback("decline", Decline), fallback("default", UseDefault),
		tool("model", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			_, err := Send(ctx, call, &sampling, "model", &noInput{})
			return &echoOutput{}, err
		})),
	}})
	for _, row := range []struct{ name, caps, want string }{
		{"fail", nothing, `{"elicitation":{}}`}, {"fail", `{"elicitation":{"url":{}}}`, `{"elicitation":{"form":{}}}`},
		{"model", nothing, `{"sampling":{}}`}, {"model", `{"roots":{},"elicitation":{}}`, `{"sampling":{}}`},
	} {
		frames, result := f.exchange(t.Context(), frame(1, "tools/call", row.caps, callParams(row.name, `{}`)))
		frames[0].wantError(t, -32021)
		if got := frames[0].field("error", "data", "requiredCapabilities"); got != row.want || result.Status != 400 {
			t.Errorf("%s: %s, status %d", row.name, frames[0].raw, result.Status)
		}
	}
	for name, want := range map[string]string{"decline": "decline false false", "default": "accept true true"} {
		if m := f.ask(t.Context(), frame(1, "tools/call", nothing, callParams(name, `{}`))); m.str("result", "structuredContent", "text") != want {
			t.Error(m.raw)
		}
	}
}

// REV01: the same handlers ask a client of 2025-11-25 with requests of its own.
func TestREV01OneHandlerAsksOnEveryWire(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{asker(confirmQuestion()), tool("model", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		_, err := Send(ctx, call, &sampling, "model", &noInput{})
		return &echoOutput{"heard"}, err
	}), withTask(TaskOptional))}})
	c := f.dial(as(t, "me"))
	c.initialize(everyAsk)
	c.call("1", "ask", `{}`)
	c.reply(c.next(), accepted)
	if m, _ := c.answer("1"); m.str("result", "structuredContent", "text") != "accept true true" {
		t.Error(m.raw)
	}
	c.call("2", "model", `{}`)
	q := c.next()
	if q.Method != "sampling/createMessage" || string(q.Params) != `{"messages":[],"maxTokens":5}` {
		t.Error(q.raw)
	}
	c.reply(q, `{"role":"assistant"}`)
	if m, _ := c.answer("2"); m.str("result", "structuredContent", "text") != "heard" {
		t.Error(m.raw)
	}
	id := c.start("3", "model", "")
	q = c.nextRequest()
	if got := q.str("params", "_meta", "io.modelcontextprotocol/related-task", "taskId"); got != id || q.field("params", "maxTokens") != "5" {
		t.Errorf("TSK13: %s", q.raw)
	}
	c.reply(q, `{"role":"assistant"}`)
	if m := c.request("4", "tasks/result", taskID(id)); m.str("result", "structuredContent", "text") != "heard" {
		t.Error(m.raw)
	}
}

func TestPromptsMayAskToo(t *testing.T) {
	codec := MethodCodec[noInput, rawResult]{Decode: decodeNoInput, Append: appendRawResult}
	f := dual(t, Definition{Methods: []MethodHandler{BindMethod("prompts/get", func(ctx context.Context, call *Call, _ *noInput) (*rawResult, error) {
		a, err := Ask(ctx, call, confirmQuestion(), "")
		return &rawResult{fmt.Sprintf(`{"messages":[],"description":"%v"}`, a.Value.Overwrite)}, err
	}, codec)}})
	m := f.ask(t.Context(), frame(1, "prompts/get", forms, `"name":"p"`))
	if m.str("result", "resultType") != "input_required" {
		t.Fatal(m.raw)
	}
	more := `"name":"p",` + answering(m.str("result", "requestState"), `{"confirm":`+accepted+`}`)
	if m = f.ask(t.Context(), frame(1, "prompts/get", forms, more)); m.str("result", "description") != "true" {
		t.Error(m.raw)
	}
	m = f.ask(t.Context(), frame(1, "prompts/get", forms, strings.Replace(more, `"p"`, `"q"`, 1)))
	m.wantError(t, -32602, "requestState")
}
