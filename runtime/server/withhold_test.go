package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// talker says much, asks, and goes on without an answer if it may.
func talker(name string, on OnUnsupported, goesOn bool) Tool {
	q := confirmQuestion()
	q.OnUnsupported = on
	t := tool(name, plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		for i := range 3 {
			call.Progress(ctx, float64(i+1), 3, "")
		}
		for i := range 50 {
			call.LogMessage(ctx, LevelError, "", fmt.Sprint("log ", i))
		}
		if _, err := Ask(ctx, call, q, ""); err != nil && !(goesOn && errors.Is(err, ErrUnsupported)) {
			return nil, err
		}
		call.Progress(ctx, 4, 4, "last")
		return &echoOutput{"done"}, nil
	}))
	t.MustAsk = on == Fail
	return t
}

func talking(tool, caps string) string {
	return frameWith(1, "tools/call", caps, callParams(tool, `{}`), `"progressToken":1,"io.modelcontextprotocol/logLevel":"debug"`)
}

// A call that may be refused for what its client did not declare says nothing before that is known. Where only requests of its own could
// be, it waits for a while, and loses nothing. All others speak at once.
func TestLET20WhatIsSaidWaitsWhereTheCallMayBeRefused(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{talker("strict", Fail, false), talker("bold", Fail, true), talker("lenient", Decline, false)}}, WithGather(0))
	for name, row := range map[string]struct {
		tool, caps     string
		progress, logs int
		last           string
	}{
		"refused":  {"strict", nothing, 0, 0, `"code":-32021`},
		"answered": {"bold", nothing, 1, maxWithheld, `"text":"done"`},
		"declined": {"lenient", nothing, 2, 50, `"text":"done"`},
		"able":     {"strict", able, 3, 50, `"resultType":"input_required"`},
		"asked":    {"strict", forms, 1, 50, `"resultType":"input_required"`},
	} {
		frames, _ := f.exchange(t.Context(), talking(row.tool, row.caps))
		last := frames[len(frames)-1]
		if got := count(frames, "notifications/progress"); got != row.progress {
			t.Errorf("%s: %d times progress", name, got)
		}
		if got := count(frames, "notifications/message"); got != row.logs || row.logs > 0 && !strings.Contains(fmt.Sprint(frames), `"log 0"`) {
			t.Errorf("%s: %d log messages", name, got)
		}
		if !strings.Contains(last.raw, row.last) || len(frames) != 1+row.progress+row.logs {
			t.Errorf("%s: %s after %d", name, last.raw, len(frames)-1)
		}
		if name == "answered" && !strings.Contains(frames[len(frames)-2].raw, `"progress":4`) {
			t.Errorf("not the newest progress: %s", frames[len(frames)-2].raw)
		}
	}
}

// Any handler may make a request of its own that its client can not be asked. Early, that is the refusal and nothing else; what is said for
// longer is sent.
func TestLET20WhatIsSaidWaitsAWhileForRequestsOfTheHandlersOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := make(chan struct{})
		run := func(ctx context.Context, call *Call, _ *noInput) (*rawResult, error) {
			call.Progress(ctx, 1, 3, "")
			call.LogMessage(ctx, LevelError, "", "soon")
			if call.Meta().Text("example.com/late") != "" {
				time.Sleep(maxUndecided)
				synctest.Wait()
				close(said)
				call.LogMessage(ctx, LevelError, "", "at once")
				call.Progress(ctx, 3, 3, "")
				time.Sleep(time.Minute)
			}
			return nil, &UnsupportedError{Capability: "sampling"}
		}
		f := dual(t, Definition{Tools: []Tool{tool("x", Bind(decodeNoInput, run, Unstructured(appendRawResult)))}, Methods: []MethodHandler{
			BindMethod("prompts/get", run, MethodCodec[noInput, rawResult]{Decode: decodeNoInput, Append: appendRawResult})}})
		for method, params := range map[string]string{"tools/call": callParams("x", `{}`), "prompts/get": `"name":"x"`} {
			const talk = `"progressToken":1,"io.modelcontextprotocol/logLevel":"debug"`
			f.ask(t.Context(), frameWith(1, method, nothing, params, talk)).wantError(t, -32021)

			said = make(chan struct{})
			to, refused := f.srv.Route([]byte(frameWith(1, method, nothing, params, talk+`,"example.com/late":"yes"`)), "")
			if refused != nil {
				t.Fatal(refused)
			}
			in, done := newInbox(t), make(chan struct{})
			go func() {
				defer close(done)
				f.srv.Exchange(t.Context(), &to, in)
			}()
			<-said
			for _, want := range []string{`"soon"`, `"progress":1`, `"at once"`, `"progress":3`} {
				if m := in.take(); !strings.Contains(m.raw, want) {
					t.Errorf("%s: want %s, got %s", method, want, m.raw)
				}
			}
			<-done
		}
	})
}

func count(frames []message, method string) (n int) {
	for _, m := range frames {
		if m.Method == method {
			n++
		}
	}
	return n
}

// What a goroutine says that the handler left behind does not open the response of a call that is refused.
func TestLET20NothingIsSaidAfterTheRefusal(t *testing.T) {
	q := confirmQuestion()
	var kept *Call
	loud := tool("loud", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		kept = call
		call.LogMessage(ctx, LevelError, "", strings.Repeat("x", maxWithheldBytes)) // too large to wait
		_, err := Ask(ctx, call, q, "")
		return nil, err
	}))
	loud.MustAsk = true
	f := dual(t, Definition{Tools: []Tool{loud}})
	f.ask(t.Context(), talking("loud", nothing)).wantError(t, -32021)
	kept.LogMessage(t.Context(), LevelError, "", "late")
	kept.Progress(t.Context(), 1, 0, "late")
	kept.sendWithheld()
	if kept.withheld.notices != nil {
		t.Error("a call that is over keeps what it says")
	}
}
