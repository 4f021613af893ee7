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

// sayingAsker says much and makes the request, which is all that its manifest lists.
func sayingAsker(name string, request *ClientRequest[noInput, noInput], listed ...string) Tool {
	t := tool(name, plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		for i := range 3 {
			call.Progress(ctx, float64(i+1), 3, "")
			call.LogMessage(ctx, LevelError, "", fmt.Sprint("log ", i))
		}
		_, err := Send(ctx, call, request, "q", &noInput{})
		return &echoOutput{"done"}, err
	}))
	t.ClientCapabilities = listed
	return t
}

// Where the manifest lists what requests of a handler take of the client, what it says to a client that lacks that waits for the refusal. To one that
// has it, and where nothing is listed, the handler speaks at once.
func TestLET20RequestsThatTheManifestListsAreWaitedFor(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{sayingAsker("listed", &sampling, "sampling"), sayingAsker("tools", asks["tools"], "roots", "sampling/tools"),
		sayingAsker("page", asks["url"], "elicitation/url"), sayingAsker("unlisted", &sampling)}}, WithGather(0))
	const refused, asked = `"code":-32021`, `"resultType":"input_required"`
	for _, row := range []struct {
		tool, caps string
		said       int
		last       string
	}{
		{"listed", nothing, 0, refused},
		{"listed", `{"roots":{},"elicitation":{}}`, 0, refused},
		{"listed", `{"sampling":{}}`, 3, asked},
		{"tools", `{"sampling":{"tools":{}}}`, 1, asked}, // it could have asked for roots
		{"tools", `{"roots":{},"sampling":{}}`, 0, refused},
		{"tools", `{"roots":{},"sampling":{"tools":{}}}`, 3, asked},
		{"page", `{"elicitation":{}}`, 0, refused},
		{"page", `{"elicitation":{"url":{}}}`, 3, asked},
		{"unlisted", nothing, 3, refused}, // nothing has begun in this transport
	} {
		frames, _ := f.exchange(t.Context(), talking(row.tool, row.caps))
		last := frames[len(frames)-1]
		if !strings.Contains(last.raw, row.last) || count(frames, "notifications/progress") != row.said {
			t.Errorf("%s of a client with %s: %d times progress, then %s", row.tool, row.caps, count(frames, "notifications/progress"), last.raw)
		}
		if logs := count(frames, "notifications/message"); logs != min(row.said, 1)*3 {
			t.Errorf("%s of a client with %s: %d log messages", row.tool, row.caps, logs)
		}
	}
	c := f.dial(t.Context())
	c.initialize(nothing)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"listed","arguments":{},"_meta":{"progressToken":1}}}`)
	m, before := c.answer("1")
	if m.field("result", "isError") != "true" || count(before, "notifications/progress") != 3 {
		t.Errorf("in a session: %s after %d", m.raw, len(before))
	}
}

// A list is read as a client's declaration is: who takes more than a client could be asked that declares the list, is refused, whatever the client
// declares. The error says what to write.
func TestLET20ARequestThatTheManifestDoesNotListIsRefused(t *testing.T) {
	const everything = `{"elicitation":{"form":{},"url":{}},"sampling":{"context":{},"tools":{}},"roots":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	lists := [][]string{{"elicitation", "sampling", "roots"}, {"elicitation/form", "sampling/tools", "roots"}, {"elicitation/url", "sampling/context", "roots"},
		{"elicitation/form", "elicitation/url", "sampling/tools", "sampling/context", "roots"}}
	for i, list := range lists {
		told := make(chan error, 1)
		var tools []Tool
		for name, request := range asks {
			made := tool(strings.ReplaceAll(name, " ", "_"), plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
				_, err := Send(ctx, call, request, "q", &noInput{})
				told <- err
				return nil, err
			}), withTask(TaskOptional))
			made.ClientCapabilities = list
			tools = append(tools, made)
		}
		f := dual(t, Definition{Tools: tools})
		c := f.dial(t.Context())
		c.initialize(everything)
		for name := range asks {
			lacks := abilities[i+1].lacks[name]
			called := strings.ReplaceAll(name, " ", "_")
			answers := map[string]message{}
			answers["stateless"], _, _ = f.try(t.Context(), strings.Replace(everything, `,"extensions":{"io.modelcontextprotocol/tasks":{}}`, "", 1), called, `{}`, "")
			wantPermit(t, name, lacks, <-told)
			if lacks == "" {
				continue
			}
			f.create(t.Context(), called, `{}`, everything)
			wantPermit(t, name+" as a task", lacks, <-told)
			answers["session"] = c.request("1", "tools/call", `{`+callParams(called, `{}`)+`}`)
			wantPermit(t, name+" in a session", lacks, <-told)
			for of, m := range answers {
				if m.Error == nil || m.Error.Code != -32603 || strings.Contains(m.raw, "clientCapabilities") {
					t.Errorf("%v, %s, %s: %s", list, name, of, m.raw)
				}
			}
		}
		c.close()
	}
}

// wantPermit fails unless err refuses what takes lacks, or lacks is "".
func wantPermit(t *testing.T, name, lacks string, err error) {
	t.Helper()
	refused := err != nil && strings.Contains(err.Error(), "clientCapabilities") && !errors.Is(err, ErrUnsupported)
	if refused != (lacks != "") || refused && !strings.Contains(err.Error(), " "+lacks+" ") {
		t.Fatalf("%s takes %q beyond the list: %v", name, lacks, err) // a client that is asked would have to answer
	}
}

// An extension has its own name in the list, whatever place a revision has for it.
func TestLET20ARequestOfTheServersOwnIsListedByItsExtension(t *testing.T) {
	for listed, ok := range map[string]bool{"com.example/rows": true, "com.example/row": false, "extensions/com.example~1rows": false} {
		var refused error
		own := tool("choose", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			_, refused = Send(ctx, call, &chooseRows, "which", &echoOutput{"a or b"})
			return nil, refused
		}))
		own.ClientCapabilities = []string{listed}
		f := customized1(t, own)
		m, keys, _ := f.try(t.Context(), `{"extensions":{"com.example/rows":{}}}`, "choose", `{}`, "")
		if ok != (len(keys) == 1) {
			t.Errorf("%s: %s", listed, m.raw)
		}
		c := f.dial(t.Context())
		c.initialize(choosesRows)
		c.call("1", "choose", `{}`)
		if m := c.next(); ok != (m.Method == "rows/choose") {
			t.Errorf("%s in a session: %s", listed, m.raw)
		}
		if !ok && !strings.Contains(refused.Error(), "takes com.example/rows of the client: add it") {
			t.Errorf("%s: not named as the list has it (LET05): %v", listed, refused)
		}
	}
}
