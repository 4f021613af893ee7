package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
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

// A call that may be refused for what its client did not declare says nothing before that is known. All others speak at once.
func TestLET20WhatIsSaidWaitsWhereTheCallMayBeRefused(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{talker("strict", Fail, false), talker("bold", Fail, true), talker("lenient", Decline, false)}}, WithGather(0))
	for name, row := range map[string]struct {
		tool, caps     string
		progress, logs int
		last           string
	}{
		"refused":  {"strict", nothing, 0, 0, `"code":-32021`},
		"answered": {"bold", nothing, 1, maxWithheld, `"text":"done"`},
		"declined": {"lenient", nothing, 4, 50, `"text":"done"`},
		"asked":    {"strict", forms, 3, 50, `"resultType":"input_required"`},
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
